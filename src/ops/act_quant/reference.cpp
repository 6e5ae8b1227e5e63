#include "ops/act_quant/act_quant.hpp"
#include "ops/act_quant/oracle.hpp"

#include "core/codec.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isomer::ops::act_quant {
namespace {

using core::Overflow;
using core::round_to;
using core::Variations;

/// NaN wins, or with ignore_nan counts only where there is nothing else.
float max_magnitude(const double* x, std::int64_t count, bool ignore_nan) {
  double amax = count > 0 ? std::fabs(x[0]) : 0;
  for (std::int64_t i = 1; i < count; ++i) {
    const double magnitude = std::fabs(x[i]);
    if (ignore_nan)
      amax = std::fmax(amax, magnitude);
    else if (!(magnitude <= amax))
      amax = std::isnan(amax) ? amax : magnitude;
  }
  return static_cast<float>(amax);
}

/// The smallest power of two ≥ scale.
float power_of_two(float scale, bool by_logarithm) {
  if (!(scale > 0) || std::isinf(scale)) return scale;
  if (by_logarithm) return std::exp2(std::ceil(static_cast<float>(std::log2(static_cast<double>(scale)))));
  int exponent = 0;
  const float fraction = std::frexp(scale, &exponent);  // in [1/2, 1)
  return fraction == 0.5f ? scale : std::ldexp(1.0f, exponent);
}

float scale_of(float amax, const ActQuantOptions& options, const Variations& vary) {
  const float largest = vary.has("max=240") ? 240.0f : 448.0f;
  float scale = amax / largest;
  if (vary.has("scale=amax*(1/448)")) scale = amax * (1.0f / 448.0f);
  if (options.scale_format == ScaleFormat::ue8m0) scale = power_of_two(scale, vary.has("ue8m0=log2"));
  if (vary.has("scale=bf16")) scale = static_cast<float>(round_to(DType::bf16, static_cast<double>(scale)));
  if (vary.has("scale=f16")) scale = static_cast<float>(round_to(DType::f16, static_cast<double>(scale)));
  return scale;
}

double to_e4m3(float quotient, bool truncate, bool fnuz) {
  std::uint8_t code = 0;
  if (fnuz) {
    core::encode(DType::e4m3fnuz, static_cast<double>(quotient), &code, Overflow::saturate);
    return core::decode(DType::e4m3fn, &code);
  }
  core::encode(DType::e4m3fn, static_cast<double>(quotient), &code, Overflow::saturate);
  const double value = core::decode(DType::e4m3fn, &code);
  if (!truncate || !(std::fabs(value) > std::fabs(static_cast<double>(quotient)))) return value;
  --code;  // the next value toward zero
  return core::decode(DType::e4m3fn, &code);
}

float floor_of(const ActQuantOptions& options, const Variations& vary) {
  if (vary.has("floor=none")) return 0.0f;
  if (vary.has("floor=1e-10")) return 1e-10f;
  if (vary.has("floor=1e-12")) return 1e-12f;
  return options.amax_floor;
}

/// Elements that share a maximum.
std::int64_t shared_elements(std::int64_t block_size, const Variations& vary) {
  if (vary.has("amax=of-32")) return std::min<std::int64_t>(block_size, 32);
  if (vary.has("amax=of-64")) return std::min<std::int64_t>(block_size, 64);
  return block_size;
}

/// Where the scale of a block is stored.
std::size_t scale_index(std::size_t block, std::int64_t blocks_of_row, std::size_t blocks,
                        const Variations& vary) {
  if (!vary.has("s=transposed")) return block;
  const auto columns = static_cast<std::size_t>(blocks_of_row);
  return block % columns * (blocks / columns) + block / columns;
}

}  // namespace

void reference(const core::Call& call, const Variations& vary, core::Expected& expected) {
  const auto& args = call.args<ActQuantArgs>();
  const auto& options = call.options<ActQuantOptions>();
  const std::vector<double> x = core::elements(args.x);
  core::ExpectedTensor& y = expected["y"];
  core::ExpectedTensor& s = expected["s"];
  const std::int64_t row = args.x.size(-1), size = options.block_size;
  for (std::size_t block = 0; block < s.value.size(); ++block) {
    const std::int64_t first = static_cast<std::int64_t>(block) * size;
    const bool per_row = vary.has("scale=per_row");
    const std::int64_t share = shared_elements(size, vary);
    float amax = 0, scale = 0;
    for (std::int64_t i = first; i < first + size; ++i) {
      if ((i - first) % share == 0) {
        amax = max_magnitude(&x[static_cast<std::size_t>(per_row ? first / row * row : i)],
                             per_row ? row : share, vary.has("nan=ignored"));
        const float floor = floor_of(options, vary);
        if (amax < floor || (std::isnan(amax) && floor > 0 && vary.has("nan=ignored"))) amax = floor;
        scale = scale_of(amax, options, vary);
        if (i == first)
          s.set(scale_index(block, row / size, s.value.size(), vary), static_cast<double>(scale));
      }
      const auto value = static_cast<float>(x[static_cast<std::size_t>(i)]);
      float quotient = value / scale;
      if (vary.has("quotient=x*(1/s)")) quotient = value * (1.0f / scale);
      if (vary.has("quotient=x*(448/amax)") && options.scale_format != ScaleFormat::ue8m0)
        quotient = value * (448.0f / amax);
      y.set(static_cast<std::size_t>(i),
            to_e4m3(quotient, vary.has("rounding=truncation"), vary.has("encoding=fnuz")));
    }
  }
}

const std::vector<core::Variation>& variations() {
  static const std::vector<core::Variation> list = {
      {"max=240", "scaled to 240, the largest e4m3fnuz, instead of 448"},
      {"quotient=x*(1/s)", "multiplied by the rounded reciprocal of the scale"},
      {"quotient=x*(448/amax)", "multiplied by 448 / amax, while the stored scale is amax / 448"},
      {"scale=amax*(1/448)", "the scale by a multiplication with the rounded 1/448"},
      {"encoding=fnuz", "y encoded as e4m3fnuz, whose exponents are one less"},
      {"rounding=truncation", "quotients rounded toward zero"},
      {"scale=per_row", "one scale for a whole row"},
      {"amax=of-32",
       "every 32 elements of a block divided by a scale of their own, the first of them stored"},
      {"amax=of-64",
       "every 64 elements of a block divided by a scale of their own, the first of them stored"},
      {"s=transposed", "scales stored as [K / block_size, rows]"},
      {"floor=1e-10", "amax at least 1e-10 whatever amax_floor says"},
      {"floor=1e-12", "amax at least 1e-12 whatever amax_floor says"},
      {"floor=none", "no floor: an all-zero block is 0/0"},
      {"scale=bf16", "the scale rounded to bf16 before it divides and is stored"},
      {"scale=f16", "the scale rounded to f16 before it divides and is stored"},
      {"ue8m0=log2", "the power of two as exp2(ceil(log2(s))) in f32"},
      {"nan=ignored", "NaN left out of the maximum"},
  };
  return list;
}

}  // namespace isomer::ops::act_quant
