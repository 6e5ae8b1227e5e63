#include "ops/act_quant/act_quant.hpp"
#include "ops/act_quant/oracle/oracle.hpp"

#include "core/codec.hpp"
#include "oracle/guards.hpp"
#include "oracle/other_maxima.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace isomer::ops::act_quant {
namespace {

using core::Overflow;
using core::round_to;
using oracle::Variations;

/// NaN wins, or with ignore_nan counts only where there is nothing else.
float max_magnitude(const double* x, std::int64_t count, bool ignore_nan, bool with_sign) {
  if (with_sign) {
    double most = 0;
    for (std::int64_t i = 0; i < count; ++i)
      most = std::isnan(x[i]) && !ignore_nan ? x[i] : std::fmax(most, x[i]);
    return static_cast<float>(most);
  }
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

/// What the largest magnitude is scaled to.
float largest_of(const Variations& vary) {
  const std::string_view measured = vary.after("max=");
  return measured.empty() ? 448.0f : oracle::number_in(measured);
}

float scale_of(float amax, const ActQuantOptions& options, const Variations& vary) {
  const float largest = largest_of(vary);
  amax += oracle::added_to_maximum(vary);
  float scale = amax / largest;
  if (vary.has("scale=amax*(1/448)")) scale = amax * (1.0f / largest);
  if (vary.has("scale=1/(448/amax)")) scale = 1.0f / (largest / amax);
  scale = oracle::guarded(amax, scale, vary);
  if (options.scale_format == ScaleFormat::ue8m0 || vary.has("scale=ue8m0"))
    scale = power_of_two(scale, vary.has("ue8m0=log2"));
  if (vary.has("scale=bf16")) scale = static_cast<float>(round_to(DType::bf16, static_cast<double>(scale)));
  if (vary.has("scale=f16")) scale = static_cast<float>(round_to(DType::f16, static_cast<double>(scale)));
  return scale;
}

/// The next value of e4m3fn from `value` away from zero; the largest stays.
double beyond(double value) {
  std::uint8_t code = 0;
  core::encode(DType::e4m3fn, value, &code, Overflow::saturate);
  if ((code & 0x7f) < 0x7e) ++code;
  return core::decode(DType::e4m3fn, &code);
}

/// The value of e4m3fn nearest to one that it has room for: the sum with 1.5·2^52 times the step of its
/// binade has no room for what lies below that step.
double nearest_e4m3(double value) {
  int binade = 0;
  std::frexp(value, &binade);  // in [1/2, 1)
  const double large = std::ldexp(1.5, 52 + std::max(binade - 1, -6) - 3);
  return std::copysign((value + large) - large, value);
}

/// How a quotient is converted, as the variations say.
class ToE4m3 {
 public:
  explicit ToE4m3(const Variations& vary)
      : fnuz_(vary.has("encoding=fnuz")),
        e5m2_(vary.has("encoding=e5m2")),
        truncates_(vary.has("rounding=truncation")),
        away_(vary.has("rounding=away")),
        flushes_(vary.has("subnormals=flushed")) {}

  double operator()(float quotient) const {
    const auto exact = static_cast<double>(quotient);
    if (std::fabs(exact) <= 448 && !fnuz_ && !e5m2_ && !truncates_ && !away_)
      return flushes_ && std::fabs(exact) < 0x1p-6 ? std::copysign(0.0, exact) : nearest_e4m3(exact);
    std::uint8_t code = 0;
    if (fnuz_ || e5m2_) {
      core::encode(fnuz_ ? DType::e4m3fnuz : DType::e5m2, exact, &code, Overflow::saturate);
      return core::decode(DType::e4m3fn, &code);
    }
    core::encode(DType::e4m3fn, exact, &code, Overflow::saturate);
    double value = core::decode(DType::e4m3fn, &code);
    if (truncates_ && std::fabs(value) > std::fabs(exact)) {
      --code;  // the next value toward zero
      value = core::decode(DType::e4m3fn, &code);
    }
    // A tie that went to the even value below it.
    if (away_ && std::fabs(value) < std::fabs(exact) &&
        2 * std::fabs(exact) == std::fabs(value) + std::fabs(beyond(value)))
      value = beyond(value);
    if (flushes_ && std::fabs(exact) < 0x1p-6) value = std::copysign(0.0, exact);
    return value;
  }

 private:
  bool fnuz_, e5m2_, truncates_, away_, flushes_;
};

float floor_of(const ActQuantOptions& options, const Variations& vary) {
  // A sum of values may be below 0.
  if (vary.has("floor=none") || oracle::adds(vary)) return -std::numeric_limits<float>::infinity();
  if (const std::string_view measured = vary.after("floor="); !measured.empty())
    return oracle::number_in(measured);
  return options.amax_floor;
}

/// x divided by its scale, the way that the variations say.
class Quotient {
 public:
  Quotient(const ActQuantOptions& options, const Variations& vary)
      : largest_(largest_of(vary)),
        by_amax_(options.scale_format != ScaleFormat::ue8m0),
        reciprocal_(vary.has("quotient=x*(1/s)")),
        factor_(vary.has("quotient=x*(448/amax)")),
        multiplied_first_(vary.has("quotient=(x*448)/amax")),
        narrow_reciprocal_(vary.has("quotient=x*bf16(1/s)")),
        product_(vary.has("quotient=x*s")),
        narrow_{{DType::f16, vary.has("quotient=f16")}, {DType::bf16, vary.has("quotient=bf16")}} {}

  float operator()(float value, float amax, float scale) const {
    float quotient = value / scale;
    const bool zero = amax == 0 && scale != 0;
    if (reciprocal_) quotient = value * (1.0f / scale);
    if (factor_ && by_amax_) quotient = zero ? value / scale : value * (largest_ / amax);
    if (multiplied_first_ && by_amax_) quotient = zero ? value / scale : value * largest_ / amax;
    if (narrow_reciprocal_)
      quotient = value * static_cast<float>(round_to(DType::bf16, static_cast<double>(1.0f / scale)));
    if (product_) quotient = value * scale;
    for (const auto& [narrow, rounds] : narrow_)
      if (rounds) quotient = static_cast<float>(round_to(narrow, static_cast<double>(quotient)));
    return quotient;
  }

 private:
  float largest_;
  bool by_amax_, reciprocal_, factor_, multiplied_first_, narrow_reciprocal_, product_;
  std::pair<DType, bool> narrow_[2];
};

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

void reference(const core::Call& call, const Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<ActQuantArgs>();
  const auto& options = call.options<ActQuantOptions>();
  const std::vector<double> x = oracle::elements(args.x);
  oracle::ExpectedTensor& y = expected["y"];
  oracle::ExpectedTensor& s = expected["s"];
  const std::int64_t row = args.x.size(-1), size = options.block_size;
  // Asked once: a search for causes has the reference made hundreds of times.
  const bool per_row = vary.has("scale=per_row"), nan_ignored = vary.has("nan=ignored"),
             with_sign = vary.has("amax=signed"), inverted = vary.has("s=inverse"),
             no_floor = vary.has("floor=none"), zeros_stay = vary.has("floor=zeros-stay");
  const Quotient quotient(options, vary);
  const ToE4m3 to_e4m3(vary);
  const float floor = floor_of(options, vary);
  const std::int64_t share = shared_elements(size, vary);
  const auto floored = [&](float amax) {
    return amax < floor || (std::isnan(amax) && floor > 0 && nan_ignored) ? floor : amax;
  };
  const auto least_scale = static_cast<double>(scale_of(floored(0), options, vary));
  for (std::size_t block = 0; block < s.value.size(); ++block) {
    const std::int64_t first = static_cast<std::int64_t>(block) * size;
    float amax = 0, scale = 0;
    bool overflows = false;
    std::vector<std::pair<float, float>> instead;  // what another order of a sum makes of amax and scale
    for (std::int64_t i = first; i < first + size; ++i) {
      if ((i - first) % share == 0) {
        const std::int64_t count = per_row ? row : share;
        const double* shared = &x[static_cast<std::size_t>(per_row ? first / row * row : i)];
        const std::optional<oracle::OtherMaximum> other =
            oracle::other_maximum(vary, {shared, static_cast<std::size_t>(count)});
        amax = floored(other ? other->value : max_magnitude(shared, count, nan_ignored, with_sign));
        scale = scale_of(amax, options, vary);
        overflows = other && other->overflows;
        instead.clear();
        if (other && other->slack > 0)
          for (const float near : {other->value - other->slack, other->value + other->slack})
            instead.emplace_back(floored(near), scale_of(floored(near), options, vary));
        if (i == first) {
          const std::size_t at = scale_index(block, row / size, s.value.size(), vary);
          const auto exact = static_cast<double>(scale), inverse = 1.0 / exact;
          double slack = 0;
          for (const auto& [most, of_most] : instead)
            slack = std::max(slack, std::fabs(static_cast<double>(of_most) - exact));
          if (inverted)  // 448 / amax or 1 / s: they differ in the last bit
            s.set(at, inverse, std::isfinite(inverse) ? 0x1p-22 * inverse : 0);
          else
            s.set(at, exact, std::isfinite(slack) ? slack : 0);
          if (overflows) s.others[at] = {INFINITY, -INFINITY, NAN, least_scale};
        }
      }
      const auto value = static_cast<float>(x[static_cast<std::size_t>(i)]);
      const auto at = static_cast<std::size_t>(i);
      if (zeros_stay && amax == 0) {
        y.set(at, 0);
        continue;
      }
      y.set(at, to_e4m3(quotient(value, amax, scale)));
      for (const auto& [most, of_most] : instead)
        if (const double other = to_e4m3(quotient(value, most, of_most)); other != y.value[at])
          y.nearby[at].push_back(other);
      // 0/0, of which a clamp makes one of its ends.
      if (overflows) y.others[at] = {-448.0, 448.0, -240.0, 240.0, 0.0};
      if (amax == 0 && no_floor) y.others[at] = {-448.0, 448.0, -240.0, 240.0};
    }
  }
}

const std::vector<oracle::Variation>& variations() {
  static const std::vector<oracle::Variation> list = oracle::with_other_maxima({
      {"max=240", "scaled to 240, the largest e4m3fnuz, instead of 448"},
      {"quotient=x*(1/s)", "multiplied by the rounded reciprocal of the scale"},
      {"quotient=x*(448/amax)", "multiplied by 448 / amax instead of divided by amax / 448"},
      {"quotient=(x*448)/amax", "multiplied by 448, then divided by amax, instead of divided by amax / 448"},
      {"quotient=x*bf16(1/s)", "multiplied by the reciprocal of the scale as bf16"},
      {"scale=amax*(1/448)", "the scale by a multiplication with the rounded 1/448"},
      {"encoding=fnuz", "y encoded as e4m3fnuz, whose exponents are one less"},
      {"rounding=truncation", "quotients rounded toward zero"},
      {"rounding=away", "ties between two values of e4m3 rounded away from zero"},
      {"subnormals=flushed", "quotients below the normal numbers of e4m3 taken as 0"},
      {"quotient=x*s", "multiplied by the scale instead of divided by it"},
      {"encoding=e5m2", "y encoded as e5m2"},
      {"quotient=f16", "the quotient rounded to f16 before it is converted"},
      {"quotient=bf16", "the quotient rounded to bf16 before it is converted"},
      {"scale=per_row", "one scale for a whole row"},
      {"amax=signed", "the maximum of the values, not of their magnitudes: negative ones do not count"},
      {"amax=of-32",
       "every 32 elements of a block divided by a scale of their own, the first of them stored"},
      {"amax=of-64",
       "every 64 elements of a block divided by a scale of their own, the first of them stored"},
      {"s=transposed", "scales stored as [K / block_size, rows]"},
      {"s=inverse", "448 / amax stored, by which x is multiplied, instead of amax / 448"},
      {"scale=ue8m0", "the scale rounded up to a power of two"},
      {"scale=1/(448/amax)", "the scale as the rounded reciprocal of 448 / amax"},
      {"floor=1e-10", "amax at least 1e-10 whatever amax_floor says"},
      {"floor=1e-12", "amax at least 1e-12 whatever amax_floor says"},
      {"floor=zeros-stay", "no floor, and zeros with a scale of 0 where a block is all zero"},
      {"floor=none", "no floor: an all-zero block is 0/0"},
      {"scale=bf16", "the scale rounded to bf16 before it divides and is stored"},
      {"scale=f16", "the scale rounded to f16 before it divides and is stored"},
      {"ue8m0=log2", "the power of two as exp2(ceil(log2(s))) in f32"},
      {"nan=ignored", "NaN left out of the maximum"},
  });
  return list;
}

}  // namespace isomer::ops::act_quant
