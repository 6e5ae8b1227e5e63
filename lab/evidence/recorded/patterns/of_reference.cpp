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

}  // namespace isomer::lab
