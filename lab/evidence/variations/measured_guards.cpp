#include "lab/evidence/variations/measured_guards.hpp"

#include "core/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace isomer::lab {
namespace {

/// A scale may be so far from its maximum's and still be its own: it is rounded, or another fault changes it.
constexpr double kOwn = 1.25;

/// One scale of one answer.
struct Scaled {
  double own;      ///< the maximum over the largest value of the type
  double stored;   ///< what the candidate wrote
  double spacing;  ///< of the type that stores it, near 0
};

/// NaN of a block that has one, or none: what a candidate makes of that is another matter.
double largest_of(const std::vector<double>& block) {
  double largest = block.empty() ? NAN : 0;
  for (const double each : block) largest = std::isnan(each) ? each : std::max(largest, each);
  return largest;
}

/// Whether most of what is stored is what values are multiplied by, and not what they are divided by.
bool are_reciprocals(const std::vector<Scaled>& scales) {
  constexpr double kAlike = 0x1p-7;
  std::size_t asked = 0, alike = 0;
  for (const Scaled& each : scales) {
    asked += each.own > 0;
    alike += each.own > 0 && std::fabs(each.stored * each.own - 1) < kAlike;
  }
  return alike >= 4 && 4 * alike >= 3 * asked;
}

std::vector<Scaled> scales_of(const oracle::Original::Scaling& scaling,
                              const std::vector<Evidence>& evidence) {
  std::vector<Scaled> list;
  for (const Evidence& each : evidence) {
    const oracle::ExpectedTensor& tensor = each.given->plain.tensors[scaling.output];
    std::vector<double> maxima;
    for (const std::vector<double>& block : scaling.magnitudes(each.given->problem->call()))
      maxima.push_back(largest_of(block));
    const std::vector<double>& stored = each.outputs[scaling.output];
    const double spacing = tensor.dtype == DType::f16 ? 0x1p-24 : tensor.dtype == DType::bf16 ? 0x1p-133 : 0;
    for (std::size_t i = 0; i < std::min(maxima.size(), stored.size()); ++i)
      if (tensor.written[i] && !each.untouched[scaling.output][i] && std::isfinite(maxima[i]) &&
          std::isfinite(stored[i]))
        list.push_back({maxima[i] / scaling.largest, stored[i], spacing});
  }
  if (are_reciprocals(list))
    for (Scaled& each : list) each.stored = each.stored == 0 ? INFINITY : 1 / each.stored;
  return list;
}

/// The scale that most of the scales above their own share.
double shared_value(const std::vector<Scaled>& scales) {
  std::map<double, int> counts;
  int raised = 0;
  bool zeros = true;
  for (const Scaled& each : scales)
    if (each.stored > kOwn * each.own + 2 * each.spacing) {
      ++counts[each.stored];
      ++raised;
      zeros = zeros && each.own == 0;
    }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const bool shared =
      most != counts.end() && most->second >= (zeros ? 2 : 3) && 4 * most->second >= 3 * raised;
  return shared ? most->first : 0;
}

/// What most maxima are divided by; 0 where they share no such number.
double shared_divisor(const std::vector<Scaled>& scales, double largest) {
  constexpr double kAlike = 1e-5;
  std::vector<double> divisors;
  for (const Scaled& each : scales)
    if (each.own > 0 && each.stored > 0 && each.spacing == 0)
      divisors.push_back(largest * each.own / each.stored);
  if (divisors.size() < 4) return 0;
  std::sort(divisors.begin(), divisors.end());
  const double middle = divisors[divisors.size() / 2];
  const auto alike = std::count_if(divisors.begin(), divisors.end(),
                                   [&](double each) { return std::fabs(each - middle) <= kAlike * middle; });
  if (std::fabs(middle - largest) <= kAlike * largest) return largest;
  return 4 * static_cast<std::size_t>(alike) >= 3 * divisors.size() ? middle : 0;
}

/// What is added to every scale, in the scale's own measure; 0 where it is nothing, or not the same in all.
double added_to_scales(const std::vector<Scaled>& scales) {
  constexpr double kOfStored = 0x1p-22;
  const auto smallest = std::min_element(scales.begin(), scales.end(),
                                         [](const Scaled& a, const Scaled& b) { return a.own < b.own; });
  if (smallest == scales.end() || smallest->spacing > 0) return 0;
  const double added = smallest->stored - smallest->own;
  if (!(added > 0) || !std::isfinite(added)) return 0;
  std::size_t alike = 0, telling = 0;
  for (const Scaled& each : scales) {
    const double room = kOfStored * each.stored;
    alike += std::fabs(each.stored - each.own - added) <= room + 1e-3 * added;
    // A scale that a floor would leave as it is.
    telling += each.own > 2 * added && each.stored - each.own > added / 2 && added > 4 * room;
  }
  return telling >= 2 && 20 * alike >= 19 * scales.size() ? added : 0;
}

oracle::Variation under(const std::string& prefix, const std::string& number, const char* what) {
  return {prefix + number, fmt::format("{} is at least {}", what, number)};
}

}  // namespace

std::string simplest_between(double low, double high) {
  for (int digits = 0; digits < 9; ++digits) {
    // Of as many digits, those nearest the middle; 0 digits: a power of ten alone.
    const double power = std::floor(std::log10(high));
    for (double exponent = power; exponent >= std::floor(std::log10(low)); --exponent) {
      const double unit = std::pow(10.0, exponent - std::max(0, digits - 1));
      const double middle = std::sqrt(low * high);
      const double near = digits == 0 ? unit : std::round(middle / unit) * unit;
      if (near < low || near > high) continue;
      std::string text = fmt::format("{:.{}e}", near, std::max(0, digits - 1));
      const std::size_t at = text.find('e');
      const int tens = std::stoi(text.substr(at + 1));
      text = tens == 0 ? text.substr(0, at) : fmt::format("{}e{}", text.substr(0, at), tens);
      return text;
    }
  }
  return fmt::format("{:.9g}", std::sqrt(low * high));
}

namespace {

/// What is put under a maximum, under a scale, or given to small maxima in place of one.
std::vector<oracle::Variation> guards_of(const Port& port, const oracle::Original::Scaling& scaling,
                                         const std::vector<Scaled>& scales) {
  if (const double added = added_to_scales(scales); added > 0) {
    const auto simplest = [](double value) { return simplest_between(value * 0.9995, value * 1.0005); };
    const std::string scale = simplest(added), maximum = simplest(added * scaling.largest);
    if (maximum.size() <= scale.size())
      return {{"added=amax-" + maximum, fmt::format("{} is added to the maximum", maximum)}};
    return {{"added=scale-" + scale, fmt::format("{} is added to the scale", scale)}};
  }
  const double value = shared_value(scales);
  if (value == 0) return {};
  double below = 0,
         above = INFINITY;  // own scales of those that have the shared one, and of the smallest other
  double precision = 0x1p-23;
  for (const Scaled& each : scales) {
    if (each.stored == value && each.own < value / kOwn) below = std::max(below, each.own);
    if (each.stored != value && each.own > 0) above = std::min(above, each.own);
    if (each.spacing > 0) precision = each.spacing == 0x1p-24 ? 0x1p-10 : 0x1p-7;
  }
  std::vector<oracle::Variation> list;
  if (above >= value / kOwn) {
    const double low = value * (1 - precision), high = value * (1 + precision);
    const std::string scale = simplest_between(low, high);
    const std::string maximum = simplest_between(low * scaling.largest, high * scaling.largest);
    // What the op knows by name is not told again as the other of the two.
    const auto known = [&](const std::string& name) {
      return std::any_of(port.oracle->variations.begin(), port.oracle->variations.end(),
                         [&](const oracle::Variation& each) { return each.name == name; });
    };
    if (known(scaling.under_maximum + maximum)) return list;
    // Nobody writes a constant of many digits: the shorter of the two is the one.
    if (maximum.size() <= scale.size()) list.push_back(under(scaling.under_maximum, maximum, "the maximum"));
    if (scale.size() <= maximum.size()) list.push_back(under("zero_guard=scale-", scale, "the scale"));
  } else if (above > below) {
    const std::string constant = simplest_between(value * (1 - precision), value * (1 + precision));
    if (below == 0)
      return {{"zero_guard=zeros-" + constant,
               fmt::format("the scale of a group that is all zero is {}", constant)}};
    const std::string limit = simplest_between(below * 1.0001 * scaling.largest, above * scaling.largest);
    // The commonest of them has a name of its own.
    const bool known =
        constant == "1" &&
        std::any_of(port.oracle->variations.begin(), port.oracle->variations.end(),
                    [&](const oracle::Variation& each) { return each.name == "zero_guard=" + limit; });
    if (known) return list;
    list.push_back({fmt::format("zero_guard=below-{}-{}", limit, constant),
                    fmt::format("the scale is {} where the maximum is below {}", constant, limit)});
  }
  return list;
}

}  // namespace

std::vector<oracle::Variation> measured_guards(const Port& port, const std::vector<Evidence>& evidence) {
  const oracle::Original::Scaling& scaling = port.original->scaling;
  if (!scaling.magnitudes || evidence.empty()) return {};
  std::vector<Scaled> scales = scales_of(scaling, evidence);
  const double divisor = shared_divisor(scales, scaling.largest);
  // What is under the scales is measured by what they are made with.
  oracle::Original::Scaling own = scaling;
  if (divisor != 0) {
    own.largest = divisor;
    for (Scaled& each : scales) each.own *= scaling.largest / divisor;
  }
  std::vector<oracle::Variation> list = guards_of(port, own, scales);
  const double whole = std::round(divisor);
  constexpr double kOfOtherFormat = 240;  // which is one of the op's variations
  if (divisor != 0 && divisor != scaling.largest && std::fabs(divisor - kOfOtherFormat) > 1e-5 * divisor) {
    const std::string number = std::fabs(divisor - whole) < 1e-5 * divisor ? fmt::format("{:.0f}", whole)
                                                                           : fmt::format("{:.7g}", divisor);
    list.push_back({"max=" + number, fmt::format("scaled to {} instead of {:g}", number, scaling.largest)});
  }
  return list;
}

}  // namespace isomer::lab
