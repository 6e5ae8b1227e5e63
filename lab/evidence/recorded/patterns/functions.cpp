#include "lab/evidence/recorded/patterns/functions.hpp"

#include "core/codec.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <string_view>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;

/// What a real function of one number is called.
struct Known {
  const char* said;
  double (*of)(double);
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double normal_share(double x) { return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); }
double by_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

constexpr Known kKnownFunctions[] = {
    {"x", [](double x) { return x; }},
    {"-x", [](double x) { return -x; }},
    {"|x|", [](double x) { return std::fabs(x); }},
    {"max(x, 0)", [](double x) { return std::max(x, 0.0); }},
    {"max(-x, 0)", [](double x) { return std::max(-x, 0.0); }},
    {"min(max(x, 0), 1)", [](double x) { return std::clamp(x, 0.0, 1.0); }},
    {"min(max(x, 0), 6)", [](double x) { return std::clamp(x, 0.0, 6.0); }},
    {"the sign of x", [](double x) { return x > 0   ? 1.0
                                            : x < 0 ? -1.0
                                                    : 0.0; }},
    {"x^2", [](double x) { return x * x; }},
    {"x^3", [](double x) { return x * x * x; }},
    {"max(x, 0)^2", [](double x) { return x > 0 ? x * x : 0; }},
    {"the root of x", [](double x) { return std::sqrt(x); }},
    {"1 / x", [](double x) { return 1 / x; }},
    {"1 / root of x", [](double x) { return 1 / std::sqrt(x); }},
    {"sin(x)", [](double x) { return std::sin(x); }},
    {"cos(x)", [](double x) { return std::cos(x); }},
    {"tan(x)", [](double x) { return std::tan(x); }},
    {"sin of x degrees", [](double x) { return std::sin(x * std::numbers::pi / 180); }},
    {"cos of x degrees", [](double x) { return std::cos(x * std::numbers::pi / 180); }},
    {"sin(x / 2)", [](double x) { return std::sin(x / 2); }},
    {"cos(x / 2)", [](double x) { return std::cos(x / 2); }},
    {"sin(2 x)", [](double x) { return std::sin(2 * x); }},
    {"cos(2 x)", [](double x) { return std::cos(2 * x); }},
    {"exp(x)", [](double x) { return std::exp(x); }},
    {"exp(-x)", [](double x) { return std::exp(-x); }},
    {"2^x", [](double x) { return std::exp2(x); }},
    {"exp(x) - 1", [](double x) { return std::expm1(x); }},
    {"ln(x)", [](double x) { return std::log(x); }},
    {"log2(x)", [](double x) { return std::log2(x); }},
    {"log10(x)", [](double x) { return std::log10(x); }},
    {"ln(1 + x)", [](double x) { return std::log1p(x); }},
    {"ln(1 + exp(x))", [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); }},
    {"tanh(x)", [](double x) { return std::tanh(x); }},
    {"sigmoid(x)", sigmoid},
    {"1 - sigmoid(x)", [](double x) { return 1 - sigmoid(x); }},
    {"x sigmoid(x)", [](double x) { return x * sigmoid(x); }},
    {"x sigmoid(1.702 x)", [](double x) { return x * sigmoid(1.702 * x); }},
    {"x tanh(ln(1 + exp(x)))", [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
    {"gelu(x) by erf", [](double x) { return x * normal_share(x); }},
    {"gelu(x) by tanh", by_tanh},
    {"the share of the normal distribution below x", normal_share},
    {"erf(x)", [](double x) { return std::erf(x); }},
    {"exp(x) - 1 below 0, and x above", [](double x) { return x > 0 ? x : std::expm1(x); }},
};

double typical_of(const Elements& list) {
  double squares = 0;
  for (const double each : list) squares += std::isfinite(each) ? each * each : 0;
  return list.empty() ? 0 : std::sqrt(squares / static_cast<double>(list.size()));
}

bool fits(const Pairs& pairs, const std::function<double(double)>& of) {
  const double typical = typical_of(pairs.y);
  for (std::size_t i = 0; i < pairs.x.size(); ++i) {
    const double y = of(pairs.x[i]);
    if (std::isnan(y) && std::isnan(pairs.y[i])) continue;
    if (y == pairs.y[i]) continue;
    if (!(std::fabs(y - pairs.y[i]) <= pairs.rtol * (std::fabs(y) + typical))) return false;
  }
  return true;
}

std::optional<Fitted> slopes_of(const Pairs& pairs) {
  double below = 0, above = 0, least = 0, most = 0;
  std::size_t negative = 0, positive = 0;
  for (std::size_t i = 0; i < pairs.x.size(); ++i) {
    const double x = pairs.x[i];
    if (x < 0 && (negative++ == 0 || x < least)) below = pairs.y[i] / x, least = x;
    if (x > 0 && (positive++ == 0 || x > most)) above = pairs.y[i] / x, most = x;
  }
  constexpr std::size_t kFewest = 3;
  if (negative < kFewest || positive < kFewest || !std::isfinite(below) || !std::isfinite(above))
    return std::nullopt;
  Fitted fitted{fmt::format("{:.4g} x below 0, and {:.4g} x above", below, above),
                [below, above](double x) { return x < 0 ? below * x : above * x; }, true};
  return fits(pairs, fitted.of) ? std::optional<Fitted>(std::move(fitted)) : std::nullopt;
}

}  // namespace

std::vector<Fitted> fitting(const Pairs& pairs) {
  std::vector<Fitted> list;
  for (const Known& each : kKnownFunctions)
    // Bounds that no element reaches are none.
    if (fits(pairs, each.of) && (list.empty() || std::string_view(each.said).find("min(") != 0))
      list.push_back({each.said, each.of});
  if (list.empty())
    if (std::optional<Fitted> slopes = slopes_of(pairs)) list.push_back(std::move(*slopes));
  return list;
}

namespace {

/// Whether a tensor has an element for each of the output's, and which role it is.
bool is_beside(const Replayed& replayed, std::size_t role, std::size_t output) {
  const Value& value = replayed.values[role];
  return !replayed.roles[role].output && value.is_tensor() && is_float(value.tensor.dtype) &&
         value.tensor.numel() == replayed.outputs[output].want.numel();
}

/// Numbers that no recorded call has, within their range and on both sides of 0 where they are.
Value other_values(const Value& value) {
  const Elements elements = oracle::elements(value.tensor);
  double least = INFINITY, most = -INFINITY;
  for (const double each : elements)
    if (std::isfinite(each)) least = std::min(least, each), most = std::max(most, each);
  Value other = compact_copy(value);
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double at = std::fmod(0.37 + 0.618033988749895 * static_cast<double>(i), 1);
    core::encode(value.tensor.dtype, least + at * (most - least),
                 static_cast<std::byte*>(other.storage.get()) + i * size);
  }
  return other;
}

Code code_of_pair(const std::string& want, const std::string& got) {
  const auto is = [](const std::string& said, std::initializer_list<const char*> list) {
    return std::any_of(list.begin(), list.end(), [&](const char* each) { return said == each; });
  };
  if (got == "x" && (want.find("max(") == 0 || want.find("min(") == 0)) return Code::clamp;
  if (want == "|x|" && is(got, {"x", "-x"})) return Code::missing_absolute;
  if (is(want, {"exp(x)", "2^x"}) && is(got, {"exp(x)", "2^x"})) return Code::log_base;
  if (is(want, {"ln(x)", "log2(x)", "log10(x)"}) && is(got, {"ln(x)", "log2(x)", "log10(x)"}))
    return Code::log_base;
  const bool of_multiple = got.find("degrees") != std::string::npos ||
                           got.find(" / 2)") != std::string::npos || got.find("(2 x)") != std::string::npos;
  if (of_multiple && got.substr(0, 3) == want.substr(0, 3)) return Code::missing_scale;
  return Code::approximation;
}

}  // namespace

Finding function_of_elements(const Approach& approach, const std::vector<Replayed>& calls,
                             const std::vector<CallOutcome>& outcomes, std::size_t output) {
  constexpr std::size_t kFewest = 8, kMost = 20'000;
  std::size_t wrong = calls.size();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!outcomes[i].answer.ok() || output >= calls[i].outputs.size()) return {};
    if (outcomes[i].wrong[output] > 0 && wrong == calls.size()) wrong = i;
  }
  if (wrong == calls.size() || !is_float(calls.front().outputs[output].want.dtype)) return {};
  for (std::size_t role = 0; role < calls.front().call->before.size(); ++role) {
    Pairs want, got;
    want.rtol = got.rtol = std::max(1e-4, rtol_for(approach, calls.front().outputs[output]));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (role >= calls[i].roles.size() || !is_beside(calls[i], role, output)) break;
      const Elements x = oracle::elements(calls[i].values[role].tensor);
      const Elements y = oracle::elements(calls[i].outputs[output].want);
      if (outcomes[i].got[output].size() != x.size()) break;
      const std::size_t step = std::max<std::size_t>(x.size() * calls.size() / kMost, 1);
      for (std::size_t e = 0; e < x.size(); e += step) {
        want.x.push_back(x[e]);
        want.y.push_back(y[e]);
        got.y.push_back(outcomes[i].got[output][e]);
      }
    }
    got.x = want.x;
    if (want.x.size() < kFewest) continue;
    // Of two names for the original's function nothing would be known; of two for the candidate's neither.
    const std::vector<Fitted> original = fitting(want), own = fitting(got);
    if (original.size() != 1 || own.size() != 1 || original.front().said == own.front().said) continue;
    Replayed other = calls[wrong];
    other.values[role] = other_values(calls[wrong].values[role]);
    const CallOutcome after = replay_once(approach, other);
    if (!after.answer.ok() || after.got[output].size() != outcomes[wrong].got[output].size()) continue;
    const Pairs confirmed{oracle::elements(other.values[role].tensor), after.got[output], got.rtol};
    if (!fits(confirmed, own.front().of)) continue;
    Finding finding;
    finding.code = code_of_pair(original.front().said, own.front().said);
    finding.argument = calls.front().outputs[output].name;
    finding.evidence = fmt::format(
        "{} is, with x an element of {}, {}; the original is {} ({} elements of {} calls, and {} others that "
        "no "
        "recorded call has)",
        finding.argument, calls.front().roles[role].name, own.front().said, original.front().said,
        want.x.size(), calls.size(), confirmed.x.size());
    finding.fix = fmt::format("compute {}", original.front().said);
    return finding;
  }
  return {};
}

}  // namespace isomer::lab
