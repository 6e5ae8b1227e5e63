#include "lab/evidence/recorded/patterns/patterns.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

namespace isomer::lab {
namespace {

struct OfReference {
  const char* said;
  double (*of)(double);
};
constexpr OfReference kFunctions[] = {
    {"the root of the reference", [](double x) { return std::sqrt(x); }},
    {"the square of the reference", [](double x) { return x * x; }},
    {"one over the reference", [](double x) { return 1 / x; }},
    {"the magnitude of the reference", [](double x) { return std::fabs(x); }},
    {"e to the power of the reference", [](double x) { return std::exp(x); }},
    {"the logarithm of the reference", [](double x) { return std::log(x); }},
    {"one less the reference", [](double x) { return 1 - x; }},
    {"one over the root of the reference", [](double x) { return 1 / std::sqrt(x); }},
};

}  // namespace

Finding function_of_reference(const Compared& c, const std::vector<double>& want,
                              const std::vector<double>& bounds) {
  constexpr double kClose = 1e-4;
  constexpr std::size_t kFewest = 5;
  if (!is_float(c.want.dtype) || want.size() < kFewest) return {};
  for (const OfReference& function : kFunctions) {
    std::set<double> telling;
    bool all = true;
    for (std::size_t i = 0; i < want.size() && all; ++i) {
      const double said = function.of(want[i]);
      all = std::isfinite(said) && std::fabs(c.got[i] - said) <= bounds[i] + kClose * std::fabs(said);
      if (all && std::fabs(said - want[i]) > 16 * bounds[i] + 0.01 * std::fabs(want[i]))
        telling.insert(want[i]);
    }
    if (!all || telling.size() < kFewest) continue;
    Finding finding;
    finding.code = Code::approximation;
    finding.argument = c.name;
    finding.evidence = fmt::format("is {}, in all of {} elements", function.said, want.size());
    finding.fix = "end with the function that the original ends with";
    return finding;
  }
  return {};
}

Finding remainder_of_reference(const Compared& c, const std::vector<double>& want) {
  constexpr std::size_t kFewest = 6;
  if (is_float(c.want.dtype) || want.size() < kFewest) return {};
  double most = 0, own = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i] < 0 || c.got[i] < 0) return {};
    most = std::fmax(most, want[i]);
    own = std::fmax(own, c.got[i]);
  }
  for (double by = own + 1; by <= most && by <= 2 * own + 2; ++by) {
    bool all = true;
    for (std::size_t i = 0; i < want.size() && all; ++i) all = c.got[i] == std::fmod(want[i], by);
    if (!all) continue;
    Finding finding;
    finding.code = Code::missing_term;
    finding.argument = c.name;
    finding.evidence = fmt::format(
        "is the reference modulo {} in all of {} elements: where each part of {} begins is not added", by,
        want.size(), by);
    finding.fix = "add where the part begins";
    return finding;
  }
  return {};
}

Finding factors_of_columns(const Compared& c, const std::vector<double>& want,
                           const std::vector<double>& bounds) {
  constexpr std::int64_t kFewest = 4;
  if (!is_float(c.want.dtype) || c.want.rank < 2 || c.want.size(-1) < kFewest) return {};
  const auto width = static_cast<std::size_t>(c.want.size(-1));
  if (want.size() / width < static_cast<std::size_t>(kFewest)) return {};
  double least = INFINITY, most = -INFINITY;
  for (std::size_t column = 0; column < width; ++column) {
    double product = 0, squares = 0;
    for (std::size_t i = column; i < want.size(); i += width) {
      product += want[i] * c.got[i];
      squares += want[i] * want[i];
    }
    if (!std::isfinite(product) || squares == 0) return {};
    const double factor = product / squares;
    for (std::size_t i = column; i < want.size(); i += width)
      if (std::fabs(c.got[i] - factor * want[i]) > 4 * bounds[i] * (1 + std::fabs(factor))) return {};
    least = std::fmin(least, factor);
    most = std::fmax(most, factor);
  }
  // What nothing depends on has no factor, a sign is another fault, and what is rounded has factors near 1.
  if (least <= 0 || most - least < 1e-2 * most) return {};
  Finding finding;
  finding.code = Code::missing_scale;
  finding.argument = c.name;
  finding.evidence =
      fmt::format("is the reference times a factor that differs from column to column, from {:.4g} to {:.4g}",
                  least, most);
  finding.fix =
      "multiply or divide each column by the same number as the original: a norm, a scale or a weight of it";
  finding.row_factor = true;
  return finding;
}

}  // namespace isomer::lab
