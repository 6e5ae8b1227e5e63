#include "lab/evidence/recorded/patterns/row_terms.hpp"
#include "lab/evidence/recorded/patterns/row_numbers.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;

/// With which factor the number of each row is the error, over the rows that are wrong; nothing where none
/// is.
std::optional<double> factor_of(const Elements& error, const std::vector<bool>& wrong,
                                const Elements& numbers) {
  constexpr double kRest = 0.01;
  constexpr std::size_t kFewest = 4;
  double product = 0, squares = 0, errors = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < error.size(); ++i) {
    if (!wrong[i]) continue;
    product += error[i] * numbers[i];
    squares += numbers[i] * numbers[i];
    errors += error[i] * error[i];
    ++count;
  }
  if (count < kFewest || !std::isfinite(product) || !std::isfinite(squares) || squares <= 0)
    return std::nullopt;
  const double by = product / squares;
  double rest = 0, mean = 0, spread = 0;
  for (std::size_t i = 0; i < error.size(); ++i)
    if (wrong[i]) {
      rest += (error[i] - by * numbers[i]) * (error[i] - by * numbers[i]);
      mean += error[i] / static_cast<double>(count);
    }
  for (std::size_t i = 0; i < error.size(); ++i)
    if (wrong[i]) spread += (error[i] - mean) * (error[i] - mean);
  // What is the same everywhere is near to any number that is.
  if (rest > kRest * kRest * errors || rest > 0.04 * spread) return std::nullopt;
  return by;
}

}  // namespace

Finding term_of_rows(const Approach& approach, const std::vector<Replayed>& calls,
                     const std::vector<CallOutcome>& outcomes, std::size_t output) {
  constexpr std::int64_t kMostElements = 65536;
  for (std::size_t role = 0; role < calls.front().call->before.size(); ++role)
    for (const RowNumber& number : row_numbers()) {
      std::size_t told = 0;
      bool all = true;
      double first = 0;
      std::string line;
      for (std::size_t i = 0; i < calls.size() && all; ++i) {
        if (!outcomes[i].answer.ok() || output >= calls[i].outputs.size()) return {};
        const Replayed::Output& of = calls[i].outputs[output];
        if (outcomes[i].wrong[output] == 0) continue;
        const Value& value = calls[i].values[role];
        all = is_float(of.want.dtype) && value.is_tensor() && !value.tensor.empty() &&
              value.tensor.rank > 1 && is_float(value.tensor.dtype) &&
              value.tensor.numel() <= kMostElements &&
              of.want.numel() * value.tensor.size(-1) == value.tensor.numel() && value.tensor.size(-1) > 1;
        if (!all) break;
        const Elements want = oracle::elements(of.want), &got = outcomes[i].got[output];
        if (got.size() != want.size()) return {};
        const Elements bounds = bounds_of(approach, of, want);
        const std::vector<RowsOf> groups = groups_of(value.tensor);
        Elements error(want.size()), numbers(want.size());
        std::vector<bool> wrong(want.size());
        for (std::size_t r = 0; r < want.size(); ++r) {
          error[r] = got[r] - want[r];
          wrong[r] = !is_close(want[r], got[r], bounds[r]);
          numbers[r] = number.of(groups.front().rows[r]);
        }
        const std::optional<double> by = factor_of(error, wrong, numbers);
        all = by.has_value();
        if (all && told++ == 0) {
          first = *by;
          line = calls[i].line;
        }
      }
      if (!all || told == 0) continue;
      Finding finding;
      finding.code = Code::missing_term;
      finding.argument = calls.front().outputs[output].name;
      finding.evidence = fmt::format(
          "'{}': {} is, in each row that is wrong, the reference plus {:.4g} times {} of the row of {} ({} "
          "calls)",
          line, finding.argument, first, number.said, calls.front().roles[role].name, told);
      finding.fix = fmt::format(
          "check the term with {} of each row of {}: it has another factor than the original's, "
          "or is missing",
          number.said, calls.front().roles[role].name);
      return finding;
    }
  return {};
}

}  // namespace isomer::lab
