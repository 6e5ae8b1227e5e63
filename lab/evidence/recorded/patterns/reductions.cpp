#include "lab/evidence/recorded/patterns/reductions.hpp"

#include "lab/evidence/recorded/patterns/row_numbers.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;

constexpr double kReductionClose = 2e-3;
constexpr std::size_t kTellingRows = 3;        ///< rows that must tell the two apart
constexpr std::int64_t kMostElements = 65536;  ///< of an input of one call

/// What the answers of one call say: how each row's is got from the reference's.
struct Observed {
  const RowsOf* rows = nullptr;
  Elements want, got;  ///< one number per row where the output is that; empty otherwise
  Elements factors, offsets;
  double slack = 0;  ///< of factors, relative; of offsets, absolute
};

/// got = factor · want, or got = want + offset, in every row; empty where not.
void relate(const Elements& want, const Elements& got, const Elements& bounds, std::size_t width,
            Observed& observed) {
  bool factor = true, offset = true;
  for (std::size_t row = 0; row < want.size() && (factor || offset); row += width) {
    double product = 0, squares = 0, errors = 0, allowed = 0;
    for (std::size_t i = row; i < row + width; ++i) {
      if (!std::isfinite(want[i]) || !std::isfinite(got[i])) return;
      product += want[i] * got[i];
      squares += want[i] * want[i];
      errors += got[i] - want[i];
      allowed = std::max(allowed, bounds[i]);
    }
    const double f = squares > 0 ? product / squares : 0, o = errors / static_cast<double>(width);
    factor = factor && f > 0;
    for (std::size_t i = row; i < row + width; ++i) {
      factor = factor && is_close(f * want[i], got[i], bounds[i] * (1 + f));
      offset = offset && is_close(want[i] + o, got[i], bounds[i] + kReductionClose * std::fabs(o));
    }
    observed.factors.push_back(f);
    observed.offsets.push_back(o);
    observed.slack = std::max(observed.slack, allowed);
  }
  if (!factor) observed.factors.clear();
  if (!offset) observed.offsets.clear();
}

constexpr std::size_t kNoRole = static_cast<std::size_t>(-1);

/// Two tensors added element by element, in the first one's type; nothing where their shapes differ.
Value sum_of(const Value& a, const Value& b) {
  if (!b.is_tensor() || a.tensor.rank != b.tensor.rank || a.tensor.numel() != b.tensor.numel() ||
      !std::equal(a.tensor.shape.begin(), a.tensor.shape.begin() + a.tensor.rank, b.tensor.shape.begin()))
    return {};
  Value sum =
      tensor_value(a.name, DType::f64, {a.tensor.shape.begin(), a.tensor.shape.begin() + a.tensor.rank});
  const Elements of_a = oracle::elements(a.tensor), of_b = oracle::elements(b.tensor);
  for (std::size_t i = 0; i < of_a.size(); ++i) static_cast<double*>(sum.tensor.data)[i] = of_a[i] + of_b[i];
  return sum;
}

class Reductions {
 public:
  Reductions(const Approach& approach, const std::vector<Replayed>& calls,
             const std::vector<CallOutcome>& outcomes, std::size_t output, std::size_t role,
             std::size_t and_role = kNoRole)
      : name_(calls.front().roles[role].name) {
    if (and_role != kNoRole) {
      names_ = {name_, calls.front().roles[and_role].name};
      name_ = fmt::format("{} + {}", names_[0], names_[1]);
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!calls[i].values[role].is_tensor()) continue;
      const Value value = and_role == kNoRole ? calls[i].values[role]
                                              : sum_of(calls[i].values[role], calls[i].values[and_role]);
      if (!value.is_tensor() || value.tensor.empty() || value.tensor.numel() > kMostElements) continue;
      const Replayed::Output& of = calls[i].outputs[output];
      const Elements want = oracle::elements(of.want);
      if (outcomes[i].got[output].size() != want.size()) continue;
      groups_.push_back(groups_of(value.tensor));
      if (and_role != kNoRole)
        for (const std::size_t each : {role, and_role})
          for (RowsOf& rows : groups_of(calls[i].values[each].tensor))
            groups_.back().push_back(std::move(rows));
      of_.push_back({of.want, want, outcomes[i].got[output], bounds_of(approach, of, want)});
      wrong_ = wrong_ || outcomes[i].wrong[output] > 0;
    }
  }

  Finding finding() {
    if (groups_.empty() || !wrong_) return {};
    for (std::size_t kind = 0; kind < kGroupKinds; ++kind) {
      observed_.clear();
      for (std::size_t call = 0; call < groups_.size(); ++call)
        if (!observe(call, kind)) break;
      if (observed_.size() != groups_.size()) continue;
      rows_ = 0;
      for (const Observed& each : observed_) rows_ += each.rows->rows.size();
      if (rows_ < kTellingRows) continue;
      if (Finding found = of_kind(kind); found.code != Code::none) return found;
    }
    return {};
  }

 private:
  struct Of {
    Tensor tensor;
    Elements want, got, bounds;
  };

  bool observe(std::size_t call, std::size_t kind) {
    const RowsOf& rows = groups_[call][kind];
    const Of& of = of_[call];
    if (rows.rows.empty() || of.want.size() % rows.rows.size() != 0) return false;
    Observed observed;
    observed.rows = &rows;
    const std::size_t width = of.want.size() / rows.rows.size();
    if (width == 1) {
      observed.want = of.want;
      observed.got = of.got;
    } else if (of.want.size() == rows.order.size()) {
      Elements want(of.want.size()), got(want.size()), bounds(want.size());
      for (std::size_t i = 0; i < want.size(); ++i) {
        want[i] = of.want[rows.order[i]];
        got[i] = of.got[rows.order[i]];
        bounds[i] = of.bounds[rows.order[i]];
      }
      relate(want, got, bounds, width, observed);
    } else {
      relate(of.want, of.got, of.bounds, width, observed);
    }
    observed_.push_back(std::move(observed));
    return true;
  }

  bool all(Elements Observed::*list) const {
    return std::none_of(observed_.begin(), observed_.end(),
                        [&](const Observed& each) { return (each.*list).empty(); });
  }

  /// Whether a law of the numbers a (the reference's) and b holds in every row; in enough of them the two
  /// have to differ.
  bool holds(const RowNumber& a, std::size_t kind_a, const RowNumber& b, std::size_t kind_b,
             const std::function<bool(const Observed&, std::size_t row, double a, double b)>& law) const {
    std::size_t telling = 0;
    for (std::size_t call = 0; call < observed_.size(); ++call) {
      const Observed& observed = observed_[call];
      const RowsOf &of_a = groups_[call][kind_a], &of_b = groups_[call][kind_b];
      const std::size_t count = observed.rows->rows.size();
      if (of_a.rows.size() < count || of_b.rows.size() < count) return false;
      for (std::size_t r = 0; r < count; ++r) {
        const double x = a.of(of_a.rows[r]), y = b.of(of_b.rows[r]);
        if (!std::isfinite(x) || !std::isfinite(y) || !law(observed, r, x, y)) return false;
        telling += std::fabs(x - y) > 8 * kReductionClose * std::max(std::fabs(x), std::fabs(y));
      }
    }
    return telling >= std::min(kTellingRows, rows_);
  }

  /// The factor that makes the reference that number of each row; none where no factor does.
  std::optional<double> scale(const RowNumber& a, std::size_t kind) const {
    double product = 0, squares = 0, wants = 0;
    for (std::size_t call = 0; call < observed_.size(); ++call)
      for (std::size_t r = 0; r < observed_[call].want.size(); ++r) {
        const double x = a.of(groups_[call][kind].rows[r]);
        product += x * observed_[call].want[r];
        squares += x * x;
        wants += observed_[call].want[r] * observed_[call].want[r];
      }
    if (!std::isfinite(product) || squares <= 0 || wants <= 0) return std::nullopt;
    const double by = product / squares, typical = std::sqrt(wants / static_cast<double>(rows_));
    for (std::size_t call = 0; call < observed_.size(); ++call)
      for (std::size_t r = 0; r < observed_[call].want.size(); ++r)
        if (!is_close(observed_[call].want[r], by * a.of(groups_[call][kind].rows[r]),
                      kReductionClose * typical))
          return std::nullopt;
    return by;
  }

  Finding of_kind(std::size_t kind) const {
    struct Way {
      Elements Observed::*list;
      const char* said;
      std::function<bool(const Observed&, std::size_t, double, double)> law;
    };
    const auto relative = [](double value, double expected) {
      return std::fabs(value - expected) <= kReductionClose * std::fabs(expected);
    };
    const auto near = [](const Observed& of, double value, double expected, double a, double b) {
      return std::fabs(value - expected) <= of.slack + kReductionClose * (std::fabs(a) + std::fabs(b));
    };
    const std::vector<Way> ways = {
        {&Observed::factors, "divided by",
         [&](const Observed& of, std::size_t r, double a, double b) {
           return b != 0 && relative(of.factors[r], a / b);
         }},
        {&Observed::factors, "multiplied by",
         [&](const Observed& of, std::size_t r, double a, double b) {
           return a != 0 && relative(of.factors[r], b / a);
         }},
        {&Observed::offsets, "less",
         [&](const Observed& of, std::size_t r, double a, double b) {
           return near(of, of.offsets[r], a - b, a, b);
         }},
        {&Observed::offsets, "plus",
         [&](const Observed& of, std::size_t r, double a, double b) {
           return near(of, of.offsets[r], b - a, a, b);
         }},
    };
    const std::vector<Candidate> others = candidates(kind);
    if (all(&Observed::want)) {
      for (const RowNumber& a : row_numbers()) {
        const std::optional<double> by = scale(a, kind);
        if (!by) continue;
        for (const Candidate& other : others)
          if (holds(a, kind, other.number, other.kind,
                    [&](const Observed& of, std::size_t r, double, double b) {
                      const double said = *by * b;
                      return std::fabs(of.got[r] - said) <= kReductionClose * std::fabs(said);
                    }))
            return told(a, kind, other,
                        std::fabs(*by - 1) < kReductionClose ? "is" : fmt::format("is, times {:.4g},", *by));
      }
      return {};
    }
    // The same numbers fit the other way round: what is divided by or subtracted is the more frequent.
    for (const Way& way : ways)
      for (const Candidate& other : all(way.list) ? others : std::vector<Candidate>())
        for (const RowNumber& a : row_numbers()) {
          // Two bases are one ratio, whatever it is that has it.
          if (way.list == &Observed::factors && is_other_base(a, other.number)) continue;
          if (holds(a, kind, other.number, other.kind, way.law))
            return told(a, kind, other, fmt::format("has rows {}", way.said));
        }
    return {};
  }

  struct Candidate {
    RowNumber number;
    std::size_t kind;
    std::string part;  ///< of the row; empty: all of it
  };

  /// Numbers of whole rows, then of a part of each, then of other rows.
  std::vector<Candidate> candidates(std::size_t kind) const {
    std::vector<Candidate> list;
    if (!names_.empty()) {
      for (const std::size_t of : {1, 2})
        for (const RowNumber& each : row_numbers()) list.push_back({each, kind + of * kGroupKinds, ""});
      return list;
    }
    for (const RowNumber& each : row_numbers()) list.push_back({each, kind, ""});
    for (const RowPart& part : row_parts())
      for (const RowNumber& each : row_numbers())
        list.push_back({{each.said,
                         [of = each.of, cut = part.cut](const Elements& row) {
                           const Elements rest = cut(row);
                           return rest.empty() ? NAN : of(rest);
                         }},
                        kind,
                        part.said});
    for (std::size_t other = 0; other < kGroupKinds; ++other)
      if (other != kind)
        for (const RowNumber& each : row_numbers()) list.push_back({each, other, ""});
    return list;
  }

  Finding told(const RowNumber& a, std::size_t kind, const Candidate& b, const std::string& how) const {
    const std::string of_a = groups_.front()[kind].said, of_b = groups_.front()[b.kind].said;
    Finding finding;
    if (!names_.empty()) {
      const std::string& alone = names_[b.kind / kGroupKinds - 1];
      finding.code = Code::missing_term;
      finding.evidence = fmt::format("{} {} of {} of {}; the original has {} of {} of {}", how, b.number.said,
                                     of_b, alone, a.said, of_a, name_);
      finding.fix = fmt::format("take {} of {}, not of {} alone", a.said, name_, alone);
      return finding;
    }
    finding.code = b.kind != kind               ? Code::layout_convention
                   : b.part == kWithoutFirst    ? Code::off_by_one
                   : !b.part.empty()            ? Code::tail_mask
                   : is_other_base(a, b.number) ? Code::log_base
                                                : Code::other_reduction;
    finding.evidence = fmt::format("{} {} of {}{} of {}; the original has {} of {}", how, b.number.said,
                                   b.part.empty() ? "" : b.part + " of ", of_b, name_, a.said, of_a);
    finding.fix = fmt::format("take {} of all of {}", a.said, of_a);
    return finding;
  }

  std::string name_;
  std::vector<std::string> names_ = {};      ///< of two inputs that are added: theirs
  std::vector<std::vector<RowsOf>> groups_;  ///< per call and kind
  std::vector<Of> of_;
  std::vector<Observed> observed_;
  std::size_t rows_ = 0;
  bool wrong_ = false;
};

}  // namespace

Finding reduction_of_rows(const Approach& approach, const std::vector<Replayed>& calls,
                          const std::vector<CallOutcome>& outcomes, std::size_t output) {
  for (const CallOutcome& each : outcomes)
    if (!each.answer.ok()) return {};
  for (const Replayed& each : calls)
    if (output >= each.outputs.size()) return {};
  for (std::size_t role = 0; role < calls.front().roles.size(); ++role) {
    const Value& value = calls.front().values[role];
    if (calls.front().roles[role].output || !value.is_tensor() || value.boolean ||
        !is_float(value.tensor.dtype) || value.tensor.numel() == 1)
      continue;
    Finding finding = Reductions(approach, calls, outcomes, output, role).finding();
    if (finding.code == Code::none) continue;
    finding.argument = calls.front().outputs[output].name;
    finding.evidence = fmt::format("{} {}", finding.argument, finding.evidence);
    return finding;
  }
  // Of two inputs that the original adds, one alone.
  const auto is_real = [&](std::size_t role) {
    const Value& value = calls.front().values[role];
    return value.is_tensor() && !value.boolean && is_float(value.tensor.dtype) && value.tensor.rank > 1;
  };
  const std::size_t given = calls.front().call->before.size();
  for (std::size_t a = 0; a < given; ++a)
    for (std::size_t b = a + 1; b < given; ++b) {
      if (!is_real(a) || !is_real(b)) continue;
      Finding finding = Reductions(approach, calls, outcomes, output, a, b).finding();
      if (finding.code == Code::none) continue;
      finding.argument = calls.front().outputs[output].name;
      finding.evidence = fmt::format("{} {}", finding.argument, finding.evidence);
      return finding;
    }
  return {};
}

}  // namespace isomer::lab
