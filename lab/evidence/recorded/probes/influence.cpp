#include "lab/evidence/recorded/probes/probes.hpp"

#include "core/codec.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace isomer::lab {
namespace {

using What = Passing::What;

/// Zeros and ones, some of each: what is left out, and what is not.
bool is_mask(const Value& value) {
  if (!value.is_tensor() || value.tensor.empty() || is_float(value.tensor.dtype)) return false;
  const std::vector<double> elements = oracle::elements(value.tensor);
  const auto ones = std::count(elements.begin(), elements.end(), 1.0);
  return ones > 0 && ones < value.tensor.numel() &&
         ones + std::count(elements.begin(), elements.end(), 0.0) == value.tensor.numel();
}

/// Numbers to compute with: real ones, bytes that no index is made of, and masks.
bool has_numbers(const Value& value) {
  return value.is_tensor() && !value.tensor.empty() &&
         (is_float(value.tensor.dtype) || is_mask(value) ||
          (!value.boolean && (value.tensor.dtype == DType::i8 || value.tensor.dtype == DType::u8)));
}

/// What elements are made: larger than all, smaller than all, or nothing.
enum class Made : std::uint8_t { larger, smaller, zero };

/// The elements whose index in dimension `dim` is `begin` to `end` − 1, each made another.
Value with_others(const Value& value, int dim, std::int64_t begin, std::int64_t end,
                  Made how = Made::larger) {
  Value other = compact_copy(value);
  const std::vector<double> elements = oracle::elements(value.tensor);
  const bool mask = is_mask(value);
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
  std::int64_t behind = 1;
  for (int d = dim + 1; d < value.tensor.rank; ++d) behind *= value.tensor.size(d);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i) / behind % value.tensor.size(dim);
    // Larger than all that it was: a maximum would see it too.
    if (at < begin || at >= end) continue;
    // Of bytes each bit is another.
    const double larger = 3 + 2 * std::fabs(elements[i]);
    const double made = is_float(value.tensor.dtype)      ? how == Made::larger    ? larger
                                                            : how == Made::smaller ? -larger
                                                                                   : 0
                        : mask                            ? 1 - elements[i]
                        : value.tensor.dtype == DType::u8 ? 255 - elements[i]
                                                          : -1 - elements[i];
    core::encode(value.tensor.dtype, made, static_cast<std::byte*>(other.storage.get()) + i * size);
  }
  return other;
}

/// The answer's elements that are others then, per output.
std::vector<std::vector<std::size_t>> changed(const Approach& approach, const Replayed& replayed,
                                              const CallOutcome& outcome, std::size_t role,
                                              const Value& value, bool& asked) {
  Replayed other = replayed;
  other.values[role] = value;
  const CallOutcome after = replay_once(approach, other);
  asked = after.answer.ok();
  std::vector<std::vector<std::size_t>> list(outcome.got.size());
  for (std::size_t t = 0; asked && t < list.size(); ++t)
    for (std::size_t i = 0; i < std::min(outcome.got[t].size(), after.got[t].size()); ++i)
      if (outcome.got[t][i] != after.got[t][i] &&
          !(std::isnan(outcome.got[t][i]) && std::isnan(after.got[t][i])))
        list[t].push_back(i);
  return list;
}

/// How many of those have an index of their own in that dimension.
std::int64_t spread(const Tensor& tensor, int dim, const std::vector<std::size_t>& places) {
  std::int64_t behind = 1;
  for (int d = dim + 1; d < tensor.rank; ++d) behind *= tensor.size(d);
  std::set<std::int64_t> indices;
  for (const std::size_t each : places)
    indices.insert(static_cast<std::int64_t>(each) / behind % tensor.size(dim));
  return static_cast<std::int64_t>(indices.size());
}

class Influence {
 public:
  Influence(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
            std::vector<Finding>& findings)
      : approach_(approach), replayed_(replayed), outcome_(outcome), findings_(findings) {}

  void look(const Facts* facts) {
    facts_ = facts;
    if (chooses() && one_is_right()) return;
    const bool softmax = facts != nullptr && facts->subtracts_maximum;
    const LabelFunction* label = facts == nullptr ? nullptr : facts->function(replayed_.call->function);
    const auto uses_index = [&](const std::string& name, int dim) {
      return label != nullptr &&
             std::any_of(label->indexes.begin(), label->indexes.end(), [&](const IndexUse& use) {
               // Pages and rows that no index names influence nothing.
               return use.index == name || (use.tensor == name && (use.dim < 0 || use.dim == dim));
             });
    };
    for (const Passing& passing : approach_.form.passings)
      if (softmax && passing.what == What::role &&
          causal_from_the_first(static_cast<std::size_t>(passing.role)))
        return;
    for (const Passing& passing : approach_.form.passings) {
      if (passing.what != What::role) continue;
      const auto role = static_cast<std::size_t>(passing.role);
      const Value& value = replayed_.values[role];
      if (replayed_.roles[role].output || !has_numbers(value)) continue;
      bool elsewhere = false;
      for (int dim = 0; dim < value.tensor.rank && value.tensor.rank <= 3 && !elsewhere; ++dim)
        elsewhere = !uses_index(replayed_.roles[role].name, dim) && along_other_axis(role, dim);
      if (elsewhere) continue;
      for (int dim = 0; dim < value.tensor.rank; ++dim)
        if (!uses_index(replayed_.roles[role].name, dim)) ends(role, dim);
    }
  }

 private:
  /// Row i of an answer sees i + 1 rows of an input, as under a causal mask that begins with the first one,
  /// and rows that see a single one are wrong already: the original's see what came before.
  bool causal_from_the_first(std::size_t role) {
    constexpr std::int64_t kMostRows = 64;
    const Value& value = replayed_.values[role];
    if (replayed_.roles[role].output || !value.is_tensor() || value.tensor.empty() || value.tensor.rank < 2 ||
        !is_float(value.tensor.dtype))
      return false;
    for (int dim = 0; dim + 1 < value.tensor.rank; ++dim) {
      if (value.tensor.size(dim) < 4 || value.tensor.size(dim) > kMostRows) continue;
      for (std::size_t t = 0; t < replayed_.outputs.size(); ++t) {
        const Tensor& want = replayed_.outputs[t].want;
        for (int rows = 0; rows + 1 < want.rank; ++rows) {
          if (want.size(rows) < 3 || want.size(rows) > kMostRows || outcome_.wrong[t] == 0) continue;
          // Of as many the mask begins with the first one anyway, and a recurrence has none.
          if (value.tensor.size(dim) <= want.size(rows)) continue;
          if (!sees_one_more_each(role, dim, t, rows)) continue;
          const std::string &name = replayed_.roles[role].name, &out = replayed_.outputs[t].name;
          tell(Code::mask_alignment, role,
               fmt::format("index i of dimension {} of {} depends on i + 1 indices of dimension {} of {}, as "
                           "under a causal mask that begins at the first key, and elements that depend on a "
                           "single index are already wrong",
                           rows, out, dim, name),
               "shift the causal bound by the number of keys before the queries");
          return true;
        }
      }
    }
    return false;
  }

  bool sees_one_more_each(std::size_t role, int dim, std::size_t t, int rows) {
    const Tensor &tensor = replayed_.values[role].tensor, &want = replayed_.outputs[t].want;
    std::int64_t behind = 1;
    for (int d = rows + 1; d < want.rank; ++d) behind *= want.size(d);
    const auto row_of = [&](std::size_t i) {
      return static_cast<std::size_t>(static_cast<std::int64_t>(i) / behind % want.size(rows));
    };
    std::vector<std::int64_t> seen(static_cast<std::size_t>(want.size(rows)));
    for (std::int64_t j = 0; j < tensor.size(dim); ++j) {
      bool asked = false;
      const auto places = changed(approach_, replayed_, outcome_, role,
                                  with_others(replayed_.values[role], dim, j, j + 1), asked);
      if (!asked) return false;
      std::set<std::size_t> reached;
      for (const std::size_t i : places[t]) reached.insert(row_of(i));
      // Sums over all rows, or a row for each of its own: no mask.
      if (j == 0 && reached.empty() && tensor.size(dim) == want.size(rows)) return false;
      for (const std::size_t row : reached) ++seen[row];
    }
    std::int64_t most = 0;
    std::size_t sequences = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      most = std::max(most, seen[i]);
      sequences += seen[i] == 1;
      if (seen[i] != 1 && (i == 0 || seen[i] != seen[i - 1] + 1)) return false;
    }
    if (most < 3 || 3 * sequences > seen.size()) return false;
    const std::vector<double> reference = oracle::elements(want);
    for (std::size_t i = 0; i < reference.size(); ++i)
      if (seen[row_of(i)] == 1 &&
          std::fabs(reference[i] - outcome_.got[t][i]) > 0.05 * (1 + std::fabs(reference[i])))
        return true;
    return false;
  }

  /// What the label depends on there; null: not asked.
  const LabelInfluence* of_label(std::size_t role, int dim) const {
    if (facts_ == nullptr) return nullptr;
    const int rank = replayed_.values[role].tensor.rank;
    for (const LabelInfluence& each : facts_->influence)
      if (each.function == replayed_.call->function && each.argument == replayed_.roles[role].name &&
          each.dim == dim && each.rank == rank)
        return &each;
    return nullptr;
  }

  /// Whether the label was asked what it depends on. One that takes long is not, and what it leaves out
  /// itself is not known: the last key of an attention that sees none but those before.
  bool was_asked() const {
    return facts_ == nullptr || !facts_->asks_influence ||
           std::any_of(facts_->influence.begin(), facts_->influence.end(),
                       [&](const LabelInfluence& each) { return each.function == replayed_.call->function; });
  }

  /// How many indices of that dimension of an output index 1 reaches in the label; 0: not known.
  std::int64_t reached_by_label(std::size_t role, int dim, std::size_t t, int own) const {
    const LabelInfluence* label = of_label(role, dim);
    const Replayed::Output& output = replayed_.outputs[t];
    if (label == nullptr) return 0;
    for (const LabelInfluence::Reach& each : label->reach)
      if ((output.returned >= 0 ? each.returned == output.returned : each.argument == output.name) &&
          own < static_cast<int>(each.counts.size()))
        return each.counts[static_cast<std::size_t>(own)];
    return 0;
  }

  /// A dimension as long as just one of the answer, each index of which should reach one index of that.
  bool along_other_axis(std::size_t role, int dim) {
    const Value& value = replayed_.values[role];
    const std::int64_t length = value.tensor.size(dim);
    if (length < 3 || chooses()) return false;
    for (std::size_t t = 0; t < replayed_.outputs.size(); ++t) {
      const Tensor& want = replayed_.outputs[t].want;
      int own = -1, count = 0;
      for (int d = 0; d < want.rank; ++d)
        if (want.size(d) == length) {
          own = d;
          ++count;
        }
      if (count != 1 || want.rank < 2 || outcome_.wrong[t] == 0) continue;
      // Where the label's own answer is made so, it is as it should be.
      if (reached_by_label(role, dim, t, own) > 1) continue;
      bool asked = false;
      const auto places = changed(approach_, replayed_, outcome_, role, with_others(value, dim, 1, 2), asked);
      if (asked && value.tensor.rank == 1 && of_other_indices(role, t, own, places[t])) return true;
      if (!asked || places[t].size() < 2 || 2 * spread(want, own, places[t]) <= length) continue;
      for (int d = 0; d < want.rank; ++d) {
        if (d == own || want.size(d) < 2 || 2 * spread(want, d, places[t]) > written_along(t, d)) continue;
        const std::string& name = replayed_.roles[role].name;
        const std::string of = value.tensor.rank == 1 ? name : fmt::format("dimension {} of {}", dim, name);
        tell(Code::layout_convention, role,
             fmt::format(
                 "one element of {} influences {} of {} indices of dimension {} of {}, which is as long as "
                 "{}, and {} of dimension {}: it is addressed by the index of the wrong dimension",
                 of, spread(want, own, places[t]), length, own, replayed_.outputs[t].name, of,
                 spread(want, d, places[t]), d),
             fmt::format("address {} by the index of dimension {}", of, own));
        return true;
      }
    }
    return false;
  }

  /// Element 1 of a vector reaches as much of the answer as it should, and not what has that index.
  bool of_other_indices(std::size_t role, std::size_t t, int own, const std::vector<std::size_t>& places) {
    const Tensor& want = replayed_.outputs[t].want;
    if (places.size() < 2 || static_cast<std::int64_t>(places.size()) * want.size(own) != want.numel())
      return false;
    std::int64_t behind = 1;
    for (int d = own + 1; d < want.rank; ++d) behind *= want.size(d);
    std::set<std::int64_t> reached;
    for (const std::size_t each : places)
      reached.insert(static_cast<std::int64_t>(each) / behind % want.size(own));
    if (reached == std::set<std::int64_t>{1}) return false;
    const std::string& name = replayed_.roles[role].name;
    tell(Code::layout_convention, role,
         fmt::format(
             "element 1 of {} influences elements at index {}{} of dimension {} of {}, as many as have index "
             "1: it is addressed by another index",
             name, *reached.begin(), reached.size() > 1 ? " and others" : "", own, replayed_.outputs[t].name),
         fmt::format("address {} by the index of dimension {}", name, own));
    return true;
  }

  /// How many indices of a dimension the original writes at: of a cache, some.
  std::int64_t written_along(std::size_t t, int dim) const {
    const Replayed::Output& output = replayed_.outputs[t];
    if (!output.before.defined()) return output.want.size(dim);
    const std::vector<double> before = oracle::elements(output.before), want = oracle::elements(output.want);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < want.size() && i < before.size(); ++i)
      if (before[i] != want[i]) places.push_back(i);
    return spread(output.want, dim, places);
  }

  /// What else of the call has that many indices; empty: nothing.
  std::string as_many_as(std::size_t role, int dim, std::int64_t count) const {
    for (std::size_t r = 0; r < replayed_.roles.size(); ++r) {
      const Value& value = replayed_.values[r];
      if (value.kind == Value::Kind::integer && value.integer == count) return replayed_.roles[r].name;
      for (int d = 0; value.is_tensor() && d < value.tensor.rank; ++d)
        if (value.tensor.size(d) == count && (r != role || d != dim))
          return fmt::format("dimension {} of {}", d, replayed_.roles[r].name);
    }
    return {};
  }

  /// Whether it answers with places: what is chosen among others depends on these alone where they win.
  bool chooses() const {
    return std::any_of(replayed_.outputs.begin(), replayed_.outputs.end(), [](const Replayed::Output& each) {
      return each.want.dtype == DType::i32 || each.want.dtype == DType::i64;
    });
  }

  /// One result is right where another is not: no end of an input is lost for both.
  bool one_is_right() const {
    for (std::size_t t = 0; t < replayed_.outputs.size(); ++t)
      if (outcome_.wrong[t] == 0 && replayed_.outputs[t].want.numel() > 1) return true;
    return false;
  }

  bool matters(std::size_t role, int dim, std::int64_t begin, std::int64_t end) {
    for (const Made how : {Made::larger, Made::smaller, Made::zero}) {
      bool asked = false;
      const auto places = changed(approach_, replayed_, outcome_, role,
                                  with_others(replayed_.values[role], dim, begin, end, how), asked);
      if (!asked || std::any_of(places.begin(), places.end(), [](const auto& each) { return !each.empty(); }))
        return true;
      if (!chooses()) return false;
    }
    return false;
  }

  /// Whether the answer is right wherever it has those indices too. A row of the answer that is right lacks
  /// nothing: what has no influence on it needs none, as a query that sees a single key.
  bool right_there(std::size_t role, int dim, std::int64_t begin, std::int64_t end) const {
    const Tensor& given = replayed_.values[role].tensor;
    bool shared = false;
    for (std::size_t t = 0; t < replayed_.outputs.size(); ++t) {
      const Tensor& want = replayed_.outputs[t].want;
      if (dim >= want.rank || want.size(dim) != given.size(dim) || outcome_.got[t].empty()) continue;
      shared = true;
      const std::vector<double> elements = oracle::elements(want);
      const std::vector<double> bounds =
          bounds_of(want, elements, rtol_for(approach_, replayed_.outputs[t]), approach_.atol);
      std::int64_t behind = 1;
      for (int d = dim + 1; d < want.rank; ++d) behind *= want.size(d);
      for (std::size_t i = 0; i < elements.size(); ++i) {
        const std::int64_t at = static_cast<std::int64_t>(i) / behind % want.size(dim);
        if (at >= begin && at < end && !(std::fabs(outcome_.got[t][i] - elements[i]) <= bounds[i]))
          return false;
      }
    }
    return shared;
  }

  /// Whether many of the indices before `end` have no influence either: what is lost is no end.
  bool skips_others(std::size_t role, int dim, std::int64_t end) {
    constexpr std::int64_t kAsked = 7;
    std::int64_t asked = 0, skipped = 0;
    for (std::int64_t i = 0; i < std::min(kAsked, end); ++i) {
      const std::int64_t at = end <= kAsked ? i : i * (end - 1) / (kAsked - 1);
      ++asked;
      skipped += !matters(role, dim, at, at + 1);
    }
    return 3 * skipped > asked;
  }

  /// The same ones of every few indices have no influence, and the answer has fewer elements than the input:
  /// a reduction that leaves lanes, or threads, out.
  bool leaves_out_regularly(std::size_t role, int dim) {
    constexpr std::int64_t kAsked = 128;
    const Tensor& given = replayed_.values[role].tensor;
    const bool reduced = std::all_of(replayed_.outputs.begin(), replayed_.outputs.end(),
                                     [&](const auto& each) { return each.want.numel() < given.numel(); });
    // Of a vector that elements take their own from, another is taken.
    if (!reduced && given.rank > 1) return false;
    const std::int64_t size = std::min(given.size(dim), kAsked);
    std::vector<std::int64_t> silent;
    std::vector<bool> matter;
    for (std::int64_t i = 0; i < size; ++i) {
      matter.push_back(matters(role, dim, i, i + 1));
      if (!matter.back()) silent.push_back(i);
    }
    if (silent.empty() || static_cast<std::int64_t>(silent.size()) == size) return false;
    for (std::int64_t period = 2; 2 * period <= size; ++period) {
      bool holds = true;
      for (std::int64_t i = period; i < size && holds; ++i)
        holds = matter[static_cast<std::size_t>(i)] == matter[static_cast<std::size_t>(i % period)];
      if (!holds) continue;
      std::string which;
      for (const std::int64_t i : silent)
        if (i < period) which += (which.empty() ? "" : ", ") + std::to_string(i);
      if (!reduced) {
        tell(Code::layout_convention, role,
             fmt::format(
                 "of each {} elements of {} those at {} influence nothing: another one stands in their place",
                 period, replayed_.roles[role].name, which),
             fmt::format("address {} by the index of the element", replayed_.roles[role].name));
        return true;
      }
      tell(Code::other_reduction, role,
           fmt::format(
               "of each {} indices of dimension {} of {} those at {} influence no element: the reduction "
               "leaves them out",
               period, dim, replayed_.roles[role].name, which),
           "let what each thread and each lane has reach the result: check the steps of the shuffles, and "
           "where "
           "loops begin and end");
      return true;
    }
    return false;
  }

  /// The first or last elements along a dimension that nothing depends on.
  void ends(std::size_t role, int dim) {
    const std::int64_t size = replayed_.values[role].tensor.size(dim);
    if (size < 2 || !was_asked()) return;
    for (const bool last : {true, false}) {
      const LabelInfluence* label = of_label(role, dim);
      if (label != nullptr && !(last ? label->last : label->first)) continue;
      const auto ignored = [&](std::int64_t count) {
        return last ? !matters(role, dim, size - count, size) : !matters(role, dim, 0, count);
      };
      if (!ignored(1)) continue;
      std::int64_t least = 1, most = size;  // ignored, not ignored
      if (ignored(size)) continue;          // all of it: another fault
      while (most - least > 1) {
        const std::int64_t middle = (least + most) / 2;
        (ignored(middle) ? least : most) = middle;
      }
      if (last ? right_there(role, dim, size - least, size) : right_there(role, dim, 0, least)) continue;
      if (last ? skips_others(role, dim, size - least)
               : 2 * least < size && leaves_out_regularly(role, dim)) {
        if (!last || leaves_out_regularly(role, dim)) return;
        continue;
      }
      const std::string& name = replayed_.roles[role].name;
      if (last && least == size - 1) {
        tell(Code::layout_convention, role,
             fmt::format("only index 0 of dimension {1} of {0} (size {2}) influences any element", name, dim,
                         size),
             fmt::format("step along dimension {} of {} as the original does", dim, name));
        return;
      }
      // Most of it is no end; as many as something else has are addressed by that.
      const std::string as_many = last && 2 * least >= size ? as_many_as(role, dim, size - least) : "";
      if (!as_many.empty()) {
        tell(Code::layout_convention, role,
             fmt::format(
                 "only the first {} of {} indices of dimension {} of {} influence any element, as many as {} "
                 "has: it is addressed by the wrong index",
                 size - least, size, dim, name, as_many),
             fmt::format("address {} by the original's index", name));
        return;
      }
      if (last && leaves_out_regularly(role, dim)) return;
      // What an index names, or so many that no loop begins there, is left out for another reason.
      if (!last && (!is_float(replayed_.values[role].tensor.dtype) || (least & (least - 1)) != 0)) return;
      if (last)
        tell(Code::tail_mask, role,
             fmt::format("the last {} of {} indices of dimension {} of {} influence no element", least, size,
                         dim, name),
             fmt::format("check where the loop over dimension {} of {} ends", dim, name));
      else
        tell(Code::off_by_one, role,
             least == 1 ? fmt::format("the first of {} indices of dimension {} of {} influences no element: "
                                      "the loop begins at 1 instead of 0",
                                      size, dim, name)
                        : fmt::format("the first {} of {} indices of dimension {} of {} influence no "
                                      "element: the loop begins at {} instead of 0",
                                      least, size, dim, name, least),
             fmt::format("begin the loop over dimension {} of {} at 0", dim, name));
      return;
    }
  }

  void tell(Code code, std::size_t role, const std::string& evidence, std::string fix) {
    Finding finding;
    finding.code = code;
    finding.argument = replayed_.roles[role].name;
    finding.strength = Strength::observed;
    finding.by_influence = true;
    finding.evidence = fmt::format("'{}': the answer is wrong, and {}", replayed_.line, evidence);
    finding.fix = std::move(fix);
    add_once(findings_, std::move(finding));
  }

  const Approach& approach_;
  const Replayed& replayed_;
  const CallOutcome& outcome_;
  std::vector<Finding>& findings_;
  const Facts* facts_ = nullptr;
};

}  // namespace

void probe_influence(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                     const Facts* facts, std::vector<Finding>& findings) {
  constexpr std::size_t kMostElements = 1 << 18;  // it takes some dozens of calls
  if (!outcome.answer.ok() || outcome.elements == 0 || outcome.elements > kMostElements) return;
  Influence(approach, replayed, outcome, findings).look(facts);
}

}  // namespace isomer::lab
