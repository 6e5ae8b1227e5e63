#include "ops/weight_quant/oracle/oracle.hpp"
#include "ops/weight_quant/weight_quant.hpp"

#include "core/codec.hpp"
#include "oracle/guards.hpp"
#include "oracle/other_maxima.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace isomer::ops::weight_quant {
namespace {

using core::Overflow;
using core::round_to;
using oracle::Variations;

/// Rows [row, end_row) and columns [column, end_column).
struct Square {
  std::int64_t row, end_row, column, end_column;
};

/// max|x|; NaN wins.
float amax_of(const Tensor& x, const Square& of, const Variations& vary) {
  double amax = 0;
  for (std::int64_t m = of.row; m < of.end_row; ++m)
    for (std::int64_t n = of.column; n < of.end_column; ++n) {
      const double value = oracle::read(x, m, n);
      if (std::isnan(value)) {
        if (!vary.has("nan=ignored")) return static_cast<float>(value);
        continue;
      }
      amax = std::max(amax, vary.has("amax=signed") ? value : std::fabs(value));
    }
  return static_cast<float>(amax);
}

/// What is taken of the square in place of its largest magnitude; none where no variation says so.
std::optional<oracle::OtherMaximum> other_maximum_of(const Tensor& x, const Square& of,
                                                     const Variations& vary) {
  if (!vary.after("amax=").empty()) {
    std::vector<double> values;
    for (std::int64_t m = of.row; m < of.end_row; ++m)
      for (std::int64_t n = of.column; n < of.end_column; ++n) values.push_back(oracle::read(x, m, n));
    return oracle::other_maximum(vary, values);
  }
  return std::nullopt;
}

/// The smallest power of two ≥ scale.
float power_of_two(float scale) {
  if (!(scale > 0) || std::isinf(scale)) return scale;
  int exponent = 0;
  const float fraction = std::frexp(scale, &exponent);  // in [1/2, 1)
  return fraction == 0.5f ? scale : std::ldexp(1.0f, exponent);
}

float floor_of(const WeightQuantOptions& options, const Variations& vary) {
  if (const std::string_view measured = vary.after("floor="); !measured.empty() && measured != "none")
    return oracle::number_in(measured);
  // A sum of values may be below 0.
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  if (vary.has("quotient_floor=1e-10") || oracle::adds(vary)) return kNone;
  return vary.has("floor=none") ? kNone : options.amax_floor;
}

/// What the largest magnitude is scaled to.
float largest_of(const Variations& vary) {
  const std::string_view measured = vary.after("max=");
  return measured.empty() ? 448.0f : oracle::number_in(measured);
}

float scale_of(float amax, const WeightQuantOptions& options, const Variations& vary) {
  const float floor = floor_of(options, vary);
  if (amax < floor) amax = floor;
  const float largest = largest_of(vary);
  amax += oracle::added_to_maximum(vary);
  float scale = amax / largest;
  if (vary.has("scale=amax*(1/448)")) scale = amax * (1.0f / largest);
  if (vary.has("scale=1/(448/amax)")) scale = 1.0f / (largest / amax);
  scale = oracle::guarded(amax, scale, vary);
  if (options.scale_format == ScaleFormat::ue8m0 || vary.has("scale=ue8m0")) scale = power_of_two(scale);
  if (vary.has("scale=bf16")) scale = static_cast<float>(round_to(DType::bf16, static_cast<double>(scale)));
  return scale;
}

double to_e4m3(float quotient, const Variations& vary) {
  std::uint8_t code = 0;
  const auto exact = static_cast<double>(quotient);
  if (vary.has("encoding=fnuz") || vary.has("encoding=e5m2")) {
    core::encode(vary.has("encoding=fnuz") ? DType::e4m3fnuz : DType::e5m2, exact, &code, Overflow::saturate);
    return core::decode(DType::e4m3fn, &code);
  }
  core::encode(DType::e4m3fn, exact, &code, Overflow::saturate);
  double value = core::decode(DType::e4m3fn, &code);
  if (vary.has("rounding=truncation") && std::fabs(value) > std::fabs(exact)) {
    --code;  // the next value toward zero
    value = core::decode(DType::e4m3fn, &code);
  }
  if (vary.has("subnormals=flushed") && std::fabs(exact) < 0x1p-6) value = std::copysign(0.0, exact);
  return value;
}

/// How far other scales are from this one.
double slack_of(float scale, const std::vector<float>& others) {
  double slack = 0;
  for (const float each : others)
    slack = std::max(slack, std::fabs(static_cast<double>(each) - static_cast<double>(scale)));
  return std::isfinite(slack) ? slack : 0;
}

}  // namespace

/// s[i, j] = max(max |x| of its block, amax_floor) / 448, y = e4m3(x / s).
void reference(const core::Call& call, const Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<WeightQuantArgs>();
  const auto& options = call.options<WeightQuantOptions>();
  oracle::ExpectedTensor &y = expected["y"], &s = expected["s"];
  const std::int64_t rows = args.x.size(0), columns = args.x.size(1);
  const std::int64_t size = std::min(options.block_size, std::max<std::int64_t>({rows, columns, 1}));
  const std::int64_t down = args.s.size(0), across = args.s.size(1);
  for (std::int64_t i = 0; i < down; ++i)
    for (std::int64_t j = 0; j < across; ++j) {
      const Square block{i * size, std::min(rows, (i + 1) * size), j * size,
                         std::min(columns, (j + 1) * size)};
      Square shared = block;
      if (vary.has("scale=per_row")) shared = {block.row, block.end_row, 0, columns};
      const std::optional<oracle::OtherMaximum> other = other_maximum_of(args.x, shared, vary);
      const float block_amax = other ? other->value : amax_of(args.x, shared, vary);
      std::vector<float> instead;  // scales, of sums in another order
      if (other && other->slack > 0)
        for (const float near : {block_amax - other->slack, block_amax + other->slack})
          instead.push_back(scale_of(near, options, vary));
      const auto at = static_cast<std::size_t>(vary.has("s=transposed") ? j * down + i : i * across + j);
      float scale = scale_of(block_amax, options, vary);
      const float least = vary.has("quotient_floor=1e-10") ? 1e-10f : floor_of(options, vary);
      const float floored = block_amax < least ? least : block_amax;
      const double inverse = 1.0 / static_cast<double>(scale);
      if (vary.has("s=inverse"))
        s.set(at, inverse, std::isfinite(inverse) ? 0x1p-22 * inverse : 0);
      else
        s.set(at, static_cast<double>(scale), slack_of(scale, instead));
      for (std::int64_t m = block.row; m < block.end_row; ++m) {
        // As act_quant does it, the last row's scale stored.
        if (vary.has("amax=of-row")) {
          const float own = amax_of(args.x, {m, m + 1, block.column, block.end_column}, vary);
          scale = scale_of(own, options, vary);
          s.set(at, static_cast<double>(scale));
        }
        for (std::int64_t n = block.column; n < block.end_column; ++n) {
          const auto value = static_cast<float>(oracle::read(args.x, m, n));
          float quotient = value / scale;
          if (vary.has("quotient=x*(1/s)")) quotient = value * (1.0f / scale);
          // The maximum itself, of which a power of two says nothing.
          const bool by_amax = options.scale_format != ScaleFormat::ue8m0 && floored != 0;
          if (vary.has("quotient=x*(448/amax)") && by_amax) quotient = value * (largest_of(vary) / floored);
          if (vary.has("quotient=(x*448)/amax") && by_amax) quotient = value * largest_of(vary) / floored;
          if (vary.has("quotient=x*s")) quotient = value * scale;
          for (const DType narrow : {DType::f16, DType::bf16})
            if (vary.has(narrow == DType::f16 ? "quotient=f16" : "quotient=bf16"))
              quotient = static_cast<float>(round_to(narrow, static_cast<double>(quotient)));
          if (vary.has("floor=zeros-stay") && floored == 0) quotient = 0;
          const std::size_t flat = y.index(m, n);
          y.set(flat, to_e4m3(quotient, vary));
          for (const float of_other : instead)
            if (const double near = to_e4m3(value / of_other, vary); near != y.value[flat])
              y.nearby[flat].push_back(near);
        }
      }
    }
}

const std::vector<oracle::Variation>& variations() {
  static const std::vector<oracle::Variation> list = oracle::with_other_maxima({
      {"max=240", "scaled to 240, the largest e4m3fnuz, instead of 448"},
      {"quotient=x*(1/s)", "multiplied by the rounded reciprocal of the scale"},
      {"quotient=x*(448/amax)", "multiplied by 448 / amax instead of divided by amax / 448"},
      {"quotient=(x*448)/amax", "multiplied by 448, then divided by amax, instead of divided by amax / 448"},
      {"scale=amax*(1/448)", "the scale by a multiplication with the rounded 1/448"},
      {"scale=1/(448/amax)", "the scale as the rounded reciprocal of 448 / amax"},
      {"encoding=fnuz", "y encoded as e4m3fnuz, whose exponents are one less"},
      {"rounding=truncation", "quotients rounded toward zero"},
      {"subnormals=flushed", "quotients below the normal numbers of e4m3 taken as 0"},
      {"quotient=x*s", "multiplied by the scale instead of divided by it"},
      {"encoding=e5m2", "y encoded as e5m2"},
      {"quotient=f16", "the quotient rounded to f16 before it is converted"},
      {"quotient=bf16", "the quotient rounded to bf16 before it is converted"},
      {"scale=per_row", "one scale for all columns of a row of blocks"},
      {"amax=signed", "the maximum of the values, not of their magnitudes: negative ones do not count"},
      {"amax=of-row", "each row of a block divided by a scale of its own, the last of them stored"},
      {"s=transposed", "the scales stored as if their matrix were transposed"},
      {"s=inverse", "448 / amax stored, by which x is multiplied, instead of amax / 448"},
      {"scale=ue8m0", "the scale rounded up to a power of two"},
      {"floor=zeros-stay", "no floor, and zeros with a scale of 0 where a block is all zero"},
      {"floor=none", "no floor: an all-zero block is 0/0"},
      {"quotient_floor=1e-10", "amax at least 1e-10 in 448 / amax, and no floor in the scale"},
      {"scale=bf16", "the scale rounded to bf16 before it divides and is stored"},
      {"nan=ignored", "NaN left out of the maximum"},
  });
  return list;
}

}  // namespace isomer::ops::weight_quant
