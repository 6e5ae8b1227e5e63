#include "lab/evidence/recorded/patterns/row_terms.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;

/// What a sum of whole numbers is multiplied by, for each element of the answer.
struct Scale {
  std::string said;
  Elements of;
};

/// Nothing; each input with a number for each row, or for each column; a product of two of them.
std::vector<Scale> scales_of(const Replayed& replayed, const Tensor& want) {
  const auto count = static_cast<std::size_t>(want.numel());
  const auto width = static_cast<std::size_t>(want.rank > 0 ? want.size(-1) : 1);
  std::vector<Scale> single;
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
    const Value& value = replayed.call->before[r];
    if (!value.is_tensor() || !is_float(value.tensor.dtype) || value.tensor.empty()) continue;
    const Elements all = oracle::elements(value.tensor);
    const auto add = [&](const char* of, auto index) {
      Scale scale{fmt::format("{}{}", replayed.roles[r].name, of), Elements(count)};
      for (std::size_t i = 0; i < count; ++i) scale.of[i] = all[index(i)];
      single.push_back(std::move(scale));
    };
    if (all.size() == 1) add("", [](std::size_t) { return std::size_t(0); });
    if (all.size() == width && width > 1) add(" of its column", [&](std::size_t i) { return i % width; });
    if (all.size() * width == count && all.size() > 1)
      add(" of its row", [&](std::size_t i) { return i / width; });
  }
  std::vector<Scale> list = {{"", Elements(count, 1)}};
  for (std::size_t a = 0; a < single.size(); ++a) {
    list.push_back(single[a]);
    for (std::size_t b = a + 1; b < single.size(); ++b) {
      Scale both{single[a].said + " times " + single[b].said, single[a].of};
      for (std::size_t i = 0; i < count; ++i) both.of[i] *= single[b].of[i];
      list.push_back(std::move(both));
    }
  }
  return list;
}

}  // namespace

Finding wrapped_sums(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                     std::size_t output) {
  constexpr std::size_t kFewest = 6;
  constexpr double kWhole = 0.02;
  const Replayed::Output& of = replayed.outputs[output];
  const bool whole_inputs =
      std::any_of(replayed.call->before.begin(), replayed.call->before.end(), [](const Value& value) {
        return value.is_tensor() && !value.boolean && !is_float(value.tensor.dtype) &&
               value.tensor.numel() > 1;
      });
  const Elements want = oracle::elements(of.want), &got = outcome.got[output];
  if (!whole_inputs || got.size() != want.size() || outcome.wrong[output] < kFewest) return {};
  const Elements bounds = bounds_of(approach, of, want);
  struct Kind {
    int bits;
    double wraps, least, most;
  };
  for (const Scale& scale : scales_of(replayed, of.want))
    for (const Kind& kind : {Kind{16, 65536, -32768, 32767}, Kind{8, 256, -128, 127}}) {
      bool wraps = true, stops = true, beyond = false;
      for (std::size_t i = 0; i < want.size() && (wraps || stops); ++i) {
        const double right = want[i] / scale.of[i], is = got[i] / scale.of[i];
        if (!std::isfinite(right) || !std::isfinite(is)) {
          wraps = stops = false;
          break;
        }
        const bool fits = right >= kind.least - 0.5 && right <= kind.most + 0.5;
        if (is_close(want[i], got[i], bounds[i])) continue;
        // What fits is right, and what is wrong fits now.
        const double turns = (is - right) / kind.wraps;
        const bool inside = is >= kind.least - 1 && is <= kind.most + 1;
        wraps = wraps && !fits && inside && std::fabs(turns - std::round(turns)) < kWhole * 0.1 &&
                std::round(turns) != 0;
        stops = stops && !fits && std::fabs(is - (right < 0 ? kind.least : kind.most)) < 1;
        beyond = true;
      }
      if (!beyond || (!wraps && !stops)) continue;
      Finding finding;
      finding.code = Code::saturation;
      finding.argument = of.name;
      const std::string by =
          scale.said.empty() ? "" : fmt::format(", before it is multiplied by {},", scale.said);
      finding.evidence =
          wraps ? fmt::format(
                      "'{}': {}{} is off by multiples of {:g} in {} elements, just those that {} bits do not "
                      "hold: a sum of {} bits wraps",
                      replayed.line, of.name, by, kind.wraps, outcome.wrong[output], kind.bits, kind.bits)
                : fmt::format("'{}': {}{} is {:g} or {:g} in the {} elements that {} bits do not hold",
                              replayed.line, of.name, by, kind.least, kind.most, outcome.wrong[output],
                              kind.bits);
      finding.fix = "sum whole numbers in 32 bits, as the original does";
      return finding;
    }
  return {};
}

}  // namespace isomer::lab
