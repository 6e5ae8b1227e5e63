#include "ops/silu_mul_quant/oracle/oracle.hpp"
#include "ops/silu_mul_quant/silu_mul_quant.hpp"

#include "core/codec.hpp"
#include "oracle/guards.hpp"
#include "oracle/other_maxima.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace isomer::ops::silu_mul_quant {
namespace {

using core::Overflow;
using core::round_to;
using oracle::Variations;

/// How far an implementation's h may be from h: relative, and of the gate alone where an exponential has
/// vanished.
constexpr double kRelative = 0x1p-19, kVanished = 0x1p-119;

/// A number of f32 and what an implementation may have instead.
struct Range {
  float low = 0, value = 0, high = 0;
};

double activation(double gate, const Variations& vary) {
  const double sigmoid = 1 / (1 + std::exp(-gate));
  if (vary.has("activation=sigmoid")) return sigmoid;
  if (vary.has("activation=gelu")) return gate * 0.5 * (1 + std::erf(gate / std::sqrt(2.0)));
  if (vary.has("activation=quick-gelu")) return gate / (1 + std::exp(-1.702 * gate));
  if (vary.has("activation=base-2")) return gate / (1 + std::exp2(-gate));
  if (vary.has("activation=turned")) return gate / (1 + std::exp(gate));
  if (vary.has("activation=none")) return gate;
  if (std::isinf(gate)) return gate < 0 ? std::numeric_limits<double>::quiet_NaN() : gate;
  return gate / (1 + std::exp(-gate));
}

/// h = silu(gate) · factor, and the ends of what f32 may make of it.
Range product(double gate, double factor, const Variations& vary) {
  const double g = activation(gate, vary), h = g * factor;
  const double slack = std::isfinite(h) ? std::fabs(h) * kRelative + kVanished * std::fabs(factor) : 0;
  Range range{static_cast<float>(h - slack), static_cast<float>(h), static_cast<float>(h + slack)};
  for (const DType narrow : {DType::bf16, DType::f16})
    if (vary.has(narrow == DType::bf16 ? "h=bf16" : "h=f16"))
      for (float* each : {&range.low, &range.value, &range.high})
        *each = static_cast<float>(round_to(narrow, static_cast<double>(*each)));
  return range;
}

/// The smallest power of two ≥ scale.
float power_of_two(float scale) {
  if (!(scale > 0) || std::isinf(scale)) return scale;
  int exponent = 0;
  const float fraction = std::frexp(scale, &exponent);  // in [1/2, 1)
  return fraction == 0.5f ? scale : std::ldexp(1.0f, exponent);
}

float floor_of(const SiluMulQuantOptions& options, const Variations& vary) {
  if (const std::string_view measured = vary.after("floor="); !measured.empty() && measured != "none")
    return oracle::number_in(measured);
  return vary.has("floor=none") || oracle::adds(vary) ? 0 : options.amax_floor;
}

float scale_of(float amax, const SiluMulQuantOptions& options, const Variations& vary) {
  const float floor = floor_of(options, vary);
  if (amax < floor) amax = floor;  // NaN stays
  amax += oracle::added_to_maximum(vary);
  const std::string_view largest = vary.after("max=");
  const float scale =
      oracle::guarded(amax, amax / (largest.empty() ? 448.0f : oracle::number_in(largest)), vary);
  return options.scale_format == ScaleFormat::ue8m0 || vary.has("scale=ue8m0") ? power_of_two(scale) : scale;
}

double to_e4m3(float quotient) {
  std::uint8_t code = 0;
  core::encode(DType::e4m3fn, static_cast<double>(quotient), &code, Overflow::saturate);
  return core::decode(DType::e4m3fn, &code);
}

/// What is taken in place of the largest magnitude; none where no variation says so.
std::optional<Range> other_largest(const std::vector<Range>& h, const Variations& vary) {
  if (vary.after("amax=").empty()) return std::nullopt;
  if (vary.has("amax=signed")) {
    Range most;
    for (const Range& each : h) {
      if (std::isnan(each.value)) return Range{each.value, each.value, each.value};
      most.low = std::max(most.low, std::min(each.low, each.high));
      most.value = std::max(most.value, each.value);
      most.high = std::max(most.high, std::max(each.low, each.high));
    }
    return most;
  }
  std::vector<double> values;
  for (const Range& each : h) values.push_back(static_cast<double>(each.value));
  const std::optional<oracle::OtherMaximum> other = oracle::other_maximum(vary, values);
  if (!other) return std::nullopt;
  // Each term may be off by as much as its element.
  const float slack = other->slack + 4 * static_cast<float>(kRelative) * std::fabs(other->value);
  return Range{other->value - slack, other->value, other->value + slack};
}

/// The largest magnitudes that the elements may have; NaN wins.
Range largest(const std::vector<Range>& h, const Variations& vary) {
  if (const std::optional<Range> other = other_largest(h, vary)) return *other;
  Range most;
  for (const Range& each : h) {
    if (std::isnan(each.value)) return {each.value, each.value, each.value};
    const float low = std::fabs(each.low), high = std::fabs(each.high);
    most.low = std::max(most.low, (each.low < 0) == (each.high < 0) ? std::min(low, high) : 0.0f);
    most.value = std::max(most.value, std::fabs(each.value));
    most.high = std::max(most.high, std::max(low, high));
  }
  return most;
}

/// One block into y and s from `block` on, counted over all of s.
void quantise(const std::vector<Range>& h, const SiluMulQuantOptions& options, const Variations& vary,
              std::size_t block, oracle::ExpectedTensor& y, oracle::ExpectedTensor& s) {
  const Range most = largest(h, vary);
  const auto of = [&](float each) { return scale_of(each, options, vary); };
  const Range scale{of(most.low), of(most.value), of(most.high)};
  const bool open = std::isinf(scale.low) != std::isinf(scale.high);
  const auto at = [&](float each) { return static_cast<double>(each); };
  if (options.scale_format == ScaleFormat::ue8m0) {
    s.set(block, at(scale.value));
    if (scale.low != scale.high) s.nearby[block] = {at(scale.low), at(scale.high)};
  } else {
    const double slack = std::max(at(scale.high) - at(scale.value), at(scale.value) - at(scale.low));
    s.set(block, at(scale.value), std::isfinite(slack) ? slack : 0);
  }
  if (open) s.set_unknown(block);
  const bool multiplied = vary.has("quotient=h*s");
  const auto quotient = [&](float value, float by) { return multiplied ? value * by : value / by; };
  for (std::size_t i = 0; i < h.size(); ++i) {
    const std::size_t flat = block * kBlock + i;
    y.set(flat, to_e4m3(quotient(h[i].value, scale.value)));
    std::vector<double> others;
    for (const float top : {h[i].low, h[i].high})
      for (const float under : {scale.low, scale.high})
        if (const double other = to_e4m3(quotient(top, under)); other != y.value[flat])
          others.push_back(other);
    if (!others.empty()) y.nearby[flat] = std::move(others);
    if (open) y.set_unknown(flat);
    // 0/0, of which a clamp makes one of its ends.
    if (most.high == 0 && vary.has("floor=none")) y.others[flat] = {-448.0, 448.0, -240.0, 240.0};
    if (most.high == 0 && vary.has("floor=zeros-stay")) y.set(flat, 0);
  }
}

}  // namespace

std::vector<std::vector<double>> magnitudes(const core::Call& call) {
  const auto& args = call.args<SiluMulQuantArgs>();
  const std::vector<double> x = oracle::elements(args.x);
  const auto k = static_cast<std::size_t>(args.y.size(-1));
  std::vector<std::vector<double>> blocks(k == 0 ? 0 : x.size() / 2 / kBlock);
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const std::size_t row = block / (k / kBlock), first = row * 2 * k + block % (k / kBlock) * kBlock;
    for (std::size_t i = 0; i < kBlock; ++i)
      blocks[block].push_back(
          std::fabs(static_cast<double>(product(x[first + i], x[first + k + i], {}).value)));
  }
  return blocks;
}

void reference(const core::Call& call, const Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<SiluMulQuantArgs>();
  const auto& options = call.options<SiluMulQuantOptions>();
  const std::vector<double> x = oracle::elements(args.x);
  oracle::ExpectedTensor& y = expected["y"];
  oracle::ExpectedTensor& s = expected["s"];
  const std::int64_t k = args.y.size(-1), rows = args.y.size(-2), blocks = k / kBlock;
  const bool counted = args.row_counts.defined() && !vary.has("row_counts=ignored");
  std::vector<Range> h(kBlock);
  for (std::size_t block = 0; block < s.value.size(); ++block) {
    const std::int64_t row = static_cast<std::int64_t>(block) / blocks;
    if (counted && row % rows >= *args.row_counts.at<std::int32_t>(row / rows)) continue;
    const std::int64_t column = static_cast<std::int64_t>(block) % blocks * kBlock;
    for (std::int64_t i = 0; i < kBlock; ++i) {
      const std::int64_t apart = vary.has("rows=half-apart") ? k : 2 * k;
      const auto first = static_cast<std::size_t>(row * apart + column + i);
      const auto second = first + static_cast<std::size_t>(k);
      const bool swapped = vary.has("halves=swapped");
      h[static_cast<std::size_t>(i)] =
          product(x[swapped ? second : first], x[swapped ? first : second], vary);
    }
    quantise(h, options, vary, block, y, s);
  }
}

const std::vector<oracle::Variation>& variations() {
  static const std::vector<oracle::Variation> list = oracle::with_other_maxima(
      {{"halves=swapped", "the second half of a row taken as the gate"},
       {"h=bf16", "h rounded to bf16 before it is quantised"},
       {"h=f16", "h rounded to f16 before it is quantised"},
       {"activation=sigmoid", "the sigmoid of the gate without the gate itself"},
       {"activation=gelu", "gelu in place of silu"},
       {"activation=quick-gelu", "the sigmoid of 1.702 times the gate"},
       {"activation=base-2", "2^-x in place of e^-x in the sigmoid"},
       {"activation=turned", "e^x in place of e^-x in the sigmoid"},
       {"activation=none", "the halves multiplied as they are"},
       {"amax=signed", "the maximum of the values, not of their magnitudes: negative ones do not count"},
       {"quotient=h*s", "multiplied by the scale instead of divided by it"},
       {"max=240", "scaled to 240, the largest e4m3fnuz, instead of 448"},
       {"scale=ue8m0", "the scale rounded up to a power of two"},
       {"floor=zeros-stay", "no floor, and zeros with a scale of 0 where a block is all zero"},
       {"floor=none", "no floor: an all-zero block is 0/0"},
       {"floor=1e-10", "the largest magnitude at least 1e-10 whatever amax_floor says"},
       {"floor=1.953125e-3", "the largest magnitude at least 1 / 512 whatever amax_floor says"},
       {"rows=half-apart", "a row of x is taken to begin half of a row behind the one before"},
       {"row_counts=ignored", "rows past the count computed too"}});
  return list;
}

}  // namespace isomer::ops::silu_mul_quant
