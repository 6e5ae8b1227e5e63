#include "lab/evidence/recorded/patterns/row_factors.hpp"

#include "core/codec.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace isomer::lab {
namespace {

constexpr double kFactorClose = 0.02;  ///< of what a factor differs from 1 by
constexpr std::size_t kFactorRows = 3;

/// A row of an answer: its factor, and the row of the input that it is made of.
struct Row {
  double factor = 1;
  double slack = 0;   ///< by which the factor may be off, as the answer's elements may
  double length = 0;  ///< elements of the input's row
  double sum = 0, squares = 0;
  double mean_square() const { return squares / length; }
  double variance() const { return std::max(0.0, squares / length - sum / length * (sum / length)); }
};

std::size_t length_of_rows(const Tensor& tensor, int dims) {
  std::int64_t length = 1;
  for (int d = 1; d <= dims; ++d) length *= tensor.size(-d);
  return static_cast<std::size_t>(length);
}

bool is_real(const Value& value) {
  return value.is_tensor() && !value.tensor.empty() && is_float(value.tensor.dtype);
}

/// Vectors as long as the rows, which may be added to each: a bias. The first is none.
std::vector<std::vector<double>> biases(const Replayed& replayed, std::size_t width) {
  std::vector<std::vector<double>> list = {std::vector<double>(width, 0.0)};
  for (std::size_t r = 0; r < replayed.roles.size(); ++r)
    if (is_real(replayed.values[r]) && !replayed.roles[r].output &&
        replayed.values[r].tensor.numel() == static_cast<std::int64_t>(width) && width > 1)
      list.push_back(oracle::elements(replayed.values[r].tensor));
  return list;
}

/// Numbers of which one is added to all of a row, by the row's index in one of the dimensions in front: a
/// bias of channels. Per vector, the one of each row.
std::vector<std::vector<double>> biases_of_rows(const Replayed& replayed, const Tensor& input, int dims,
                                                std::size_t count) {
  std::vector<std::vector<double>> list;
  for (std::size_t r = 0; r < replayed.roles.size(); ++r) {
    const Value& value = replayed.values[r];
    if (!is_real(value) || replayed.roles[r].output || value.tensor.rank != 1 || value.tensor.numel() < 2)
      continue;
    const std::vector<double> elements = oracle::elements(value.tensor);
    std::size_t behind = 1;
    for (int d = input.rank - dims - 1; d >= 0; --d) {
      const auto size = static_cast<std::size_t>(input.size(d));
      if (size == elements.size()) {
        std::vector<double> of_row(count);
        for (std::size_t row = 0; row < count; ++row) of_row[row] = elements[row / behind % size];
        list.push_back(std::move(of_row));
      }
      behind *= size;
    }
  }
  return list;
}

/// got = factor · want in one row, each element as close as it must be.
bool one_factor(const double* want, const double* got, const double* bounds, const std::vector<double>& bias,
                Row& row) {
  double product = 0, squares = 0, allowed = 0;
  for (std::size_t i = 0; i < bias.size(); ++i) {
    if (!std::isfinite(want[i]) || !std::isfinite(got[i])) return false;
    product += (want[i] - bias[i]) * (got[i] - bias[i]);
    squares += (want[i] - bias[i]) * (want[i] - bias[i]);
    allowed += bounds[i] * bounds[i];
  }
  if (squares == 0) return false;
  row.factor = product / squares;
  if (row.factor <= 0) return false;
  row.slack = std::sqrt(allowed / squares);
  for (std::size_t i = 0; i < bias.size(); ++i)
    if (!is_close(want[i], bias[i] + (got[i] - bias[i]) / row.factor, bounds[i] * (1 + 1 / row.factor)))
      return false;
  return true;
}

/// The rows of one call, each the input's last `dims` dimensions; empty where an answer's row has no single
/// factor.
std::vector<Row> rows_of(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                         std::size_t output, std::size_t role, int dims) {
  const Tensor& want = replayed.outputs[output].want;
  const std::vector<double> wanted = oracle::elements(want), &got = outcome.got[output];
  const std::vector<double> bounds =
      bounds_of(want, wanted, rtol_for(approach, replayed.outputs[output]), approach.atol);
  const std::vector<double> input = oracle::elements(replayed.values[role].tensor);
  const std::size_t length = length_of_rows(replayed.values[role].tensor, dims),
                    count = input.size() / length;
  if (got.size() != wanted.size() || wanted.empty() || wanted.size() % count != 0) return {};
  const std::size_t width = wanted.size() / count;  // as many of the answer belong to a row of the input
  std::vector<std::function<std::vector<double>(std::size_t row)>> ways;
  for (const std::vector<double>& bias : biases(replayed, width))
    ways.emplace_back([bias](std::size_t) { return bias; });
  for (const std::vector<double>& bias : biases_of_rows(replayed, replayed.values[role].tensor, dims, count))
    ways.emplace_back([bias, width](std::size_t row) { return std::vector<double>(width, bias[row]); });
  for (const auto& bias_of : ways) {
    std::vector<Row> rows(count);
    bool all = true;
    for (std::size_t r = 0; r < count && all; ++r) {
      all = one_factor(&wanted[r * width], &got[r * width], &bounds[r * width], bias_of(r), rows[r]);
      rows[r].length = static_cast<double>(length);
      for (std::size_t i = r * length; i < (r + 1) * length; ++i) {
        rows[r].sum += input[i];
        rows[r].squares += input[i] * input[i];
      }
    }
    if (all) return rows;
  }
  return {};
}

/// Of all calls; empty where one of them has none.
std::vector<Row> rows_of(const Approach& approach, const std::vector<Replayed>& calls,
                         const std::vector<CallOutcome>& outcomes, std::size_t output, std::size_t role,
                         int dims) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Value& value = calls[i].values[role];
    if (calls[i].empty) continue;
    if (!is_real(value) || value.tensor.rank <= dims) return {};
    const std::vector<Row> more = rows_of(approach, calls[i], outcomes[i], output, role, dims);
    if (more.empty()) return {};
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

/// Whether a law gives every row's factor, and some of them are not 1.
bool holds_for(const std::vector<Row>& rows, const std::function<double(const Row&)>& law) {
  std::size_t telling = 0;
  for (const Row& row : rows) {
    const double said = law(row);
    if (!std::isfinite(said)) continue;  // 0/0 of a row without anything
    const double slack = kFactorClose * std::fabs(said - 1) + 0.5 * row.slack;
    if (std::fabs(row.factor - said) > slack) return false;
    telling += std::fabs(said - 1) > 4 * row.slack;
  }
  return telling >= kFactorRows;
}

struct Measure {
  const char* said;
  double (*of)(const Row&);
};
constexpr Measure kMeasures[] = {
    {"the variance", [](const Row& row) { return row.variance(); }},
    {"the mean of the squares", [](const Row& row) { return row.mean_square(); }},
    {"the sum of the squares", [](const Row& row) { return row.squares; }},
};

/// Numbers that an epsilon may be: the call's own first.
std::vector<double> epsilons(const Replayed& replayed, std::string& name) {
  std::vector<double> list;
  for (std::size_t r = 0; r < replayed.roles.size(); ++r) {
    const Value& value = replayed.values[r];
    if (value.kind != Value::Kind::real || value.real <= 0 || value.real >= 1e-2) continue;
    if (name.empty()) name = replayed.roles[r].name;
    list.push_back(value.real);
  }
  if (list.empty()) list = {1e-5, 1e-6, 1e-8, 1e-12, 1e-10, 1e-3, 1e-4, 1e-7};
  return list;
}

/// The epsilon that the factors stand for where the reference's is `epsilon`, by the row that says most.
double another_size(const std::vector<Row>& rows, const Measure& measure, double epsilon) {
  const auto most = std::max_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::fabs(std::log(a.factor)) < std::fabs(std::log(b.factor));
  });
  const double v = measure.of(*most);
  return (v + epsilon) / (most->factor * most->factor) - v;
}

Finding epsilon_of(const std::vector<Row>& rows, const std::vector<double>& list) {
  Finding finding;
  finding.code = Code::epsilon;
  const auto [least, greatest] = std::minmax_element(
      rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.factor < b.factor; });
  const std::string factors =
      fmt::format("each row is the reference's row times a factor, from {:.4g} to {:.4g}", least->factor,
                  greatest->factor);
  const auto say = [&](const std::string& what, const std::string& fix) {
    finding.evidence = fmt::format("{}: {}", factors, what);
    finding.fix = fix;
    return finding;
  };
  for (const Measure& measure : kMeasures)
    for (const double e : list) {
      if (holds_for(rows, [&](const Row& row) {
            const double v = measure.of(row);
            return std::sqrt(v + e) / (std::sqrt(v) + e);
          }))
        return say(
            fmt::format("as if {:g} is added to the root of {} and not inside the root", e, measure.said),
            fmt::format("add the epsilon to {} before taking the root", measure.said));
      if (holds_for(rows, [&](const Row& row) {
            const double v = measure.of(row);
            return (std::sqrt(v) + e) / std::sqrt(v + e);
          }))
        return say(
            fmt::format("as if {:g} is added to {} inside the root and not to the root", e, measure.said),
            "add the epsilon after taking the root");
      if (holds_for(rows, [&](const Row& row) { return std::sqrt(1 + e / measure.of(row)); }))
        return say(fmt::format("as if nothing is added to {}; the original adds {:g}", measure.said, e),
                   fmt::format("add the epsilon to {} before taking the root", measure.said));
      // Another number, added to the root: it shows where the factors are not all one.
      const auto most = std::max_element(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        return std::fabs(std::log(a.factor)) < std::fabs(std::log(b.factor));
      });
      const double v_most = measure.of(*most),
                   to_root = std::sqrt(v_most + e) / most->factor - std::sqrt(v_most);
      const double mean = std::sqrt(least->factor * greatest->factor);
      if (to_root > 0 && !holds_for(rows, [&](const Row&) { return mean; }) &&
          holds_for(rows, [&](const Row& row) {
            const double v = measure.of(row);
            return std::sqrt(v + e) / (std::sqrt(v) + to_root);
          }))
        return say(
            fmt::format("as if {:.3g} is added to the root of {}; the original adds {:g} inside the root",
                        to_root, measure.said, e),
            fmt::format("add the original's epsilon to {} before taking the root", measure.said));
      // Rows of one size have one factor, whatever it is from.
      const auto [small, large] =
          std::minmax_element(rows.begin(), rows.end(),
                              [&](const Row& a, const Row& b) { return measure.of(a) < measure.of(b); });
      const double other = another_size(rows, measure, e);
      if (4 * measure.of(*small) < measure.of(*large) && other > 0 && holds_for(rows, [&](const Row& row) {
            const double v = measure.of(row);
            return std::sqrt((v + e) / (v + other));
          }))
        return say(fmt::format("as if {:.3g} is added to {}; the original adds {:g}", other, measure.said, e),
                   "add the epsilon that the original adds");
    }
  // No law of those: still, what is large is right and what is small is not.
  std::vector<Row> sorted = rows;
  std::sort(sorted.begin(), sorted.end(),
            [](const Row& a, const Row& b) { return a.mean_square() < b.mean_square(); });
  const auto off = [](const Row& row) { return std::max(std::fabs(std::log(row.factor)) - row.slack, 0.0); };
  if (sorted.size() <= kFactorRows || 16 * sorted.front().mean_square() > sorted.back().mean_square())
    return {};
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i)
    if (off(sorted[i + 1]) > 1.05 * off(sorted[i]) + sorted[i + 1].slack) return {};
  if (off(sorted.front()) < 4 * off(sorted.back()) + 4 * sorted.front().slack) return {};
  return say(fmt::format("the smaller the elements of the row, the further the factor is from 1: {:.4g} for "
                         "a root mean square of {:.3g}, and {:.4g} for {:.3g}",
                         sorted.front().factor, std::sqrt(sorted.front().mean_square()), sorted.back().factor,
                         std::sqrt(sorted.back().mean_square())),
             "add the original's epsilon in the same place as the original");
}

Finding length_of(const std::vector<Row>& rows, const std::vector<double>& list) {
  std::vector<double> lengths;
  for (const Row& row : rows)
    if (std::find(lengths.begin(), lengths.end(), row.length) == lengths.end()) lengths.push_back(row.length);
  std::string said;
  for (const double each : lengths) said += fmt::format("{}{:g}", said.empty() ? "" : ", ", each);
  Finding finding;
  finding.code = Code::missing_scale;
  const auto say = [&](const char* factor, const std::string& what, const std::string& fix) {
    finding.evidence = fmt::format(
        "each row is {} times the reference, where n is the length of the input's rows (n = {}): {}", factor,
        said, what);
    finding.fix = fix;
    return finding;
  };
  struct Power {
    double of;
    const char* factor;
  };
  std::vector<double> added = {0};
  added.insert(added.end(), list.begin(), list.end());
  for (const double e : added)
    for (const Measure& measure : {kMeasures[0], kMeasures[1]})
      for (const Power& power :
           {Power{0.5, "√((n−1)/n)"}, {-0.5, "√(n/(n−1))"}, {1, "(n−1)/n"}, {-1, "n/(n−1)"}}) {
        // 127/128 is a factor of other origin too.
        if (std::fabs(power.of) == 1 && lengths.size() < 2) continue;
        if (holds_for(rows, [&](const Row& row) {
              const double v = measure.of(row), less = v * row.length / (row.length - 1);
              return std::pow(v > 0 ? (v + e) / (less + e) : NAN, power.of);
            }))
          return say(power.factor,
                     fmt::format("as if {} is computed with n − 1 instead of the original's n or, if the "
                                 "answer is that number or its root, with n instead of n − 1",
                                 measure.said),
                     fmt::format("divide by the n of the original in {}", measure.said));
      }
  if (lengths.size() < 2) return {};
  for (const Power& power : {Power{0.5, "√n"}, {-0.5, "1/√n"}, {1, "n"}, {-1, "1/n"}})
    if (holds_for(rows, [&](const Row& row) { return std::pow(row.length, power.of); }))
      return say(power.factor, "the original multiplies or divides by the length, and the candidate does not",
                 "multiply or divide by the length as the original does");
  return {};
}

}  // namespace

Finding factor_of_rows(const Approach& approach, const std::vector<Replayed>& calls,
                       const std::vector<CallOutcome>& outcomes, std::size_t output) {
  std::size_t wrong = calls.size();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!outcomes[i].answer.ok() || output >= calls[i].outputs.size()) return {};
    if (!is_float(calls[i].outputs[output].want.dtype)) return {};
    if (wrong == calls.size() && outcomes[i].wrong[output] > 0) wrong = i;
  }
  if (wrong == calls.size()) return {};
  std::string name;
  const std::vector<double> list = epsilons(calls[wrong], name);
  for (std::size_t role = 0; role < calls[wrong].roles.size(); ++role) {
    if (calls[wrong].roles[role].output || !is_real(calls[wrong].values[role])) continue;
    for (int dims = 1; dims < calls[wrong].values[role].tensor.rank; ++dims) {
      const std::vector<Row> rows = rows_of(approach, calls, outcomes, output, role, dims);
      if (rows.size() < kFactorRows) continue;
      Finding finding = length_of(rows, list);
      finding.argument = calls[wrong].outputs[output].name;
      if (finding.code == Code::none) {
        finding = epsilon_of(rows, list);
        finding.argument = name.empty() ? calls[wrong].outputs[output].name : name;
      }
      if (finding.code == Code::none) continue;
      finding.evidence = fmt::format("'{}': in {} {}", calls[wrong].line, calls[wrong].outputs[output].name,
                                     finding.evidence);
      return finding;
    }
  }
  return {};
}

}  // namespace isomer::lab
