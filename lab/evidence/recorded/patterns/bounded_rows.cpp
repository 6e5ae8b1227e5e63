#include "lab/evidence/recorded/patterns/patterns.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <cmath>

namespace isomer::lab {
namespace {

/// The number that is added to each row of `x` where `y` is not 0: whether it is one number in each row.
bool added(const std::vector<double>& x, const std::vector<double>& y, std::size_t width,
           std::vector<double>& by, std::size_t& telling) {
  telling = 0;
  for (std::size_t row = 0; row < x.size(); row += width) {
    double number = NAN;
    std::size_t count = 0;
    for (std::size_t i = row; i < row + width; ++i) {
      if (y[i] < 0 || !std::isfinite(y[i])) return false;
      if (y[i] == 0) continue;
      if (count++ == 0) number = y[i] - x[i];
      if (std::fabs(y[i] - x[i] - number) > 1e-5 * (std::fabs(x[i]) + std::fabs(number) + 1)) return false;
    }
    // What is left at 0 is no more than that.
    for (std::size_t i = row; i < row + width && count > 0; ++i)
      if (y[i] == 0 && x[i] + number > 1e-5 * (std::fabs(x[i]) + std::fabs(number) + 1)) return false;
    by.push_back(number);
    telling += count > 1;
  }
  return telling > 0;
}

}  // namespace

Finding bounded_rows(const Replayed& replayed, std::size_t output, const std::vector<double>& got) {
  const Tensor& want = replayed.outputs[output].want;
  if (!is_float(want.dtype) || want.rank < 1 || want.empty()) return {};
  const std::vector<double> right = oracle::elements(want);
  const auto width = static_cast<std::size_t>(want.size(-1));
  bool bounded = false;
  for (const double each : right) bounded = bounded || each == 0;
  if (!bounded || got.size() != right.size() || width < 4) return {};
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
    const Value& value = replayed.values[r];
    if (!value.is_tensor() || value.tensor.numel() != want.numel() || !is_float(value.tensor.dtype)) continue;
    const std::vector<double> x = oracle::elements(value.tensor);
    std::vector<double> original, own;
    std::size_t telling = 0, tells = 0;
    if (!added(x, right, width, original, telling) || !added(x, got, width, own, tells)) continue;
    double lowest = INFINITY, highest = -INFINITY;
    for (std::size_t i = 0; i < own.size(); ++i)
      if (std::isfinite(own[i]) && std::isfinite(original[i])) {
        lowest = std::fmin(lowest, own[i] - original[i]);
        highest = std::fmax(highest, own[i] - original[i]);
      }
    if (!(std::fmax(std::fabs(lowest), std::fabs(highest)) > 1e-4)) continue;
    Finding finding;
    finding.code = Code::missing_term;
    finding.argument = replayed.outputs[output].name;
    finding.evidence = fmt::format(
        "is, in each row, {} plus a number, bounded below at 0, as the reference is, but with another "
        "number: the "
        "difference is from {:.4g} to {:.4g}",
        replayed.roles[r].name, lowest, highest);
    finding.fix =
        "make the number that is subtracted from each row of the same elements as the original does";
    return finding;
  }
  return {};
}

}  // namespace isomer::lab
