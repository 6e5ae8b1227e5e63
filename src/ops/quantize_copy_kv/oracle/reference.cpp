#include "ops/quantize_copy_kv/oracle/oracle.hpp"
#include "ops/quantize_copy_kv/quantize_copy_kv.hpp"

#include "core/codec.hpp"
#include "oracle/guards.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace isomer::ops::quantize_copy_kv {
namespace {

using core::round_to;
using oracle::Variations;

float as_f32(DType rounded_to, float value) {
  return static_cast<float>(round_to(rounded_to, static_cast<double>(value)));
}

/// What ports put under a maximum or a scale so that nothing is divided by zero.
struct Floor {
  const char* name;
  const char* summary;
};
constexpr Floor kFloors[] = {
    {"zero_guard=amax-1e-5", "max|k| is at least 1e-5"},
    {"zero_guard=amax-1e-6", "max|k| is at least 1e-6"},
    {"zero_guard=scale-1e-5", "the scale is at least 1e-5"},
    {"zero_guard=scale-1e-6", "the scale is at least 1e-6"},
    {"zero_guard=scale-1e-8", "the scale is at least 1e-8"},
};

/// The variations, looked up once: an element asks for a dozen of them.
struct Switches {
  explicit Switches(const Variations& vary)
      : scale_product(vary.has("scale=amax*(1/127)")),
        scale_f16(vary.has("scale=f16")),
        scale_f32(vary.has("scale=f32")),
        guard(vary.has("zero_guard=1e-6")),
        guard_quotient(vary.has("zero_guard=quotient")),
        reciprocal(vary.has("quotient=reciprocal")),
        quotient_of_amax(vary.has("quotient=k*(127/amax)")),
        quotient_f16(vary.has("quotient=f16")),
        nearest(vary.has("rounding=nearest")),
        nearest_even(vary.has("rounding=nearest_even")),
        floor(vary.has("rounding=floor")),
        wrap(vary.has("saturation=wrap")),
        clamp(vary.has("clamp=127")),
        nan_ignored(vary.has("nan=ignored")),
        identity(vary.has("dest=identity")),
        product_int32(vary.has("dest=int32_product")),
        contiguous(vary.has("indexing=contiguous")),
        with_sign(vary.has("amax=signed")),
        of_token(vary.has("amax=of-token")),
        with_sign_from_zero(vary.has("amax=signed-from-0")),
        next_row(vary.has("dest=next")),
        stores_inverse(vary.has("out_scale=inverse")),
        names(vary) {
    if (const std::string_view measured = vary.after("zero_guard=amax-"); !measured.empty())
      least_most = oracle::number_in(measured);
    if (const std::string_view measured = vary.after("max="); !measured.empty())
      largest = oracle::number_in(measured);
    added = oracle::added_to_maximum(vary);
  }
  float least_most = 0;
  float largest = 127;  ///< what the largest magnitude is scaled to
  float added = 0;
  bool scale_product, scale_f16, scale_f32, guard, guard_quotient, reciprocal, quotient_of_amax, quotient_f16,
      nearest, nearest_even, floor, wrap, clamp, nan_ignored, identity, product_int32, contiguous, with_sign,
      of_token, with_sign_from_zero, next_row, stores_inverse;
  const Variations& names;
};

/// NaN wins, or with ignore_nan counts only where there is nothing else.
float max_magnitude(const std::vector<float>& x, const Switches& vary) {
  const bool ignore_nan = vary.nan_ignored;
  if (vary.with_sign || vary.with_sign_from_zero) {
    float most = vary.with_sign_from_zero || x.empty() ? 0.0f : x[0];
    for (const float value : x) most = std::isnan(value) && !ignore_nan ? value : std::fmax(most, value);
    return most;
  }
  float most = x.empty() ? 0.0f : std::fabs(x[0]);
  for (const float value : x) {
    if (ignore_nan)
      most = std::fmax(most, std::fabs(value));
    else if (!(std::fabs(value) <= most))
      most = std::isnan(most) ? most : std::fabs(value);
  }
  return most;
}

struct Scale {
  float divisor = 0;
  float stored = 0;
  float most = 0;
};

Scale scale_of(float most, DType type, const Switches& vary) {
  if (vary.least_most > 0 && most < vary.least_most) most = vary.least_most;
  most += vary.added;
  float exact = vary.scale_product ? most * (1.0f / vary.largest) : most / vary.largest;
  exact = oracle::guarded(most, exact, vary.names);
  if (vary.guard && most < 1e-6f) return {1.0f, as_f32(type, 1.0f), 127.0f};
  if (vary.scale_f16) return {as_f32(DType::f16, exact), as_f32(type, as_f32(DType::f16, exact)), most};
  const float stored = as_f32(type, exact);
  const float given = vary.stores_inverse ? as_f32(type, vary.largest / most) : stored;
  return {vary.scale_f32 ? exact : stored, given, most};
}

float quotient_of(float x, const Scale& scale, const Switches& vary) {
  float q = x / scale.divisor;
  if (vary.reciprocal) q = x * (1.0f / scale.divisor);
  if (vary.quotient_of_amax) q = x * (vary.largest / scale.most);
  if (vary.quotient_f16) q = as_f32(DType::f16, q);
  return q;
}

double low_byte(double whole) {
  return static_cast<double>(static_cast<std::int8_t>(static_cast<std::int64_t>(whole)));
}

double to_int8(float quotient, const Switches& vary) {
  const auto q = static_cast<double>(quotient);
  if (std::isnan(q)) return 0;
  double whole = std::trunc(q);
  if (vary.nearest) whole = std::round(q);
  if (vary.nearest_even) whole = std::nearbyint(q);
  if (vary.floor) whole = std::floor(q);
  if (vary.wrap) return low_byte(std::clamp(whole, -32768.0, 32767.0));
  return std::clamp(whole, vary.clamp ? -127.0 : -128.0, 127.0);
}

/// Whether an approximate division may land on the other side of an integer: within 4 ulp of one that is not
/// 0.
bool near_integer(float q) {
  const float magnitude = std::fabs(q);
  if (!(magnitude < 128.5f)) return false;
  // To the nearest whole number, ties to even, and to the next float: this is asked for every element.
  const float nearest = magnitude + 0x1p23f - 0x1p23f;
  if (nearest == 0) return false;
  const float ulp = std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) + 1) - magnitude;
  return std::fabs(magnitude - nearest) <= 4 * ulp;
}

class Reference {
 public:
  Reference(const core::Call& call, const Variations& vary, oracle::Expected& expected)
      : args_(call.args<QuantizeCopyKvArgs>()),
        group_(call.options<QuantizeCopyKvOptions>().group),
        vary_(vary),
        out_(expected["out"]),
        scale_(expected["out_scale"]) {
    out_.lenient.assign(out_.value.size(), 0.0);
  }

  void run() {
    for (std::int64_t s = 0; s < args_.k.size(0); ++s) {
      auto t = static_cast<std::int64_t>(oracle::read(args_.dest, s));
      if (vary_.identity) t = s;
      t += vary_.next_row ? 1 : 0;
      if (t >= args_.out.size(0)) continue;
      const bool overflows = std::abs(t * args_.out.stride(0)) > INT32_MAX;
      if (vary_.product_int32 && overflows) continue;  // written to somewhere else
      for (std::int64_t h = 0; h < args_.k.size(1); ++h) row(s, t, h);
    }
  }

 private:
  void row(std::int64_t s, std::int64_t t, std::int64_t h) {
    const std::int64_t channels = args_.k.size(2), length = group_ == 0 ? channels : group_;
    const std::int64_t groups = group_ == 0 ? 1 : channels / group_;
    std::vector<float> x;
    for (std::int64_t g = 0; g < groups; ++g) {
      x.clear();
      for (std::int64_t d = g * length; d < (g + 1) * length; ++d) x.push_back(element(s, h, d));
      const Scale scale =
          scale_of(vary_.of_token ? most_of_token(s) : max_magnitude(x, vary_), args_.out_scale.dtype, vary_);
      const std::size_t at = args_.out_scale.rank == 2 ? scale_.index(t, h) : scale_.index(t, h, g);
      set(scale_, at, static_cast<double>(scale.stored));
      for (std::int64_t i = 0; i < length; ++i) {
        float q = quotient_of(x[static_cast<std::size_t>(i)], scale, vary_);
        if (vary_.guard_quotient && !(scale.divisor > 1e-6f)) q = 0;
        const std::size_t flat = out_.index(t, h, g * length + i);
        set(out_, flat, to_int8(q, vary_));
        // Through int16, or through int32 and its low byte: casts do either.
        if (vary_.wrap && std::fabs(q) >= 32768)
          out_.others[flat].push_back(
              low_byte(std::clamp(std::trunc(static_cast<double>(q)), -0x1p31, 0x1p31 - 1)));
        // A scale that only the variation makes 0, or too small: what such a port casts to int8, C++ leaves
        // open.
        const bool with_sign = vary_.with_sign || vary_.with_sign_from_zero;
        const bool open = (vary_.scale_f16 && std::isinf(q)) || (with_sign && !(std::fabs(q) < 127.5f));
        if (open) out_.bound[flat] = 255;
        out_.lenient[flat] = near_integer(q) ? 1.0 : 0.0;
      }
    }
  }

  float most_of_token(std::int64_t s) const {
    std::vector<float> x;
    for (std::int64_t h = 0; h < args_.k.size(1); ++h)
      for (std::int64_t d = 0; d < args_.k.size(2); ++d) x.push_back(element(s, h, d));
    return max_magnitude(x, vary_);
  }

  /// The last token of a row wins; where they have no order, so may any.
  static void set(oracle::ExpectedTensor& tensor, std::size_t flat, double value) {
    if (tensor.written[flat]) tensor.others[flat].push_back(tensor.value[flat]);
    tensor.set(flat, value);
  }

  float element(std::int64_t s, std::int64_t h, std::int64_t d) const {
    const Tensor& k = args_.k;
    if (!vary_.contiguous) return static_cast<float>(oracle::read(k, s, h, d));
    // What lies there if k were compact; beyond the memory of the view nothing is known.
    const std::int64_t flat = (s * k.size(1) + h) * k.size(2) + d;
    std::int64_t last = 0;
    for (int i = 0; i < k.rank; ++i) last += (k.size(i) - 1) * k.stride(i);
    if (flat > last) return 0;
    const auto* from = static_cast<const std::byte*>(k.data) + flat * size_of(k.dtype);
    return static_cast<float>(core::decode(k.dtype, from));
  }

  const QuantizeCopyKvArgs& args_;
  std::int64_t group_;
  Switches vary_;
  oracle::ExpectedTensor& out_;
  oracle::ExpectedTensor& scale_;
};

}  // namespace

void reference(const core::Call& call, const Variations& vary, oracle::Expected& expected) {
  Reference(call, vary, expected).run();
}

const std::vector<oracle::Variation>& variations() {
  static const std::vector<oracle::Variation> list = [] {
    std::vector<oracle::Variation> all = {
        {"rounding=nearest", "quotients rounded to nearest, ties away from zero"},
        {"rounding=nearest_even", "quotients rounded to nearest, ties to even"},
        {"rounding=floor", "quotients rounded down"},
        {"scale=f32", "divided by the scale before it is rounded to out_scale's type"},
        {"scale=f16", "the scale rounded to f16 whatever out_scale's type is"},
        {"scale=amax*(1/127)", "the scale by a multiplication with the rounded 1/127"},
        {"quotient=f16", "the quotient rounded to f16 before it is truncated"},
        {"quotient=reciprocal", "multiplied by the rounded reciprocal of the scale"},
        {"quotient=k*(127/amax)",
         "multiplied by 127 / max|k|, while the stored scale is max|k| / 127, rounded"},
        {"clamp=127", "clamped to [-127, 127]"},
        {"zero_guard=1e-6", "scale 1 where max|k| is below 1e-6"},
        {"zero_guard=quotient", "quotients 0 where the scale is not above 1e-6"},
        {"dest=identity", "dest ignored: token s goes to row s"},
        {"dest=next", "token s goes to the row behind its own, dest[s] + 1"},
        {"dest=int32_product",
         "dest times out's row stride in int32: rows beyond 2^31 elements are written elsewhere"},
        {"indexing=contiguous", "k read as if it were compact"},
        {"amax=of-token", "one scale for all heads of a token, of the largest magnitude in any of them"},
        {"amax=signed", "the maximum of the values, not of their magnitudes: negative ones do not count"},
        {"amax=signed-from-0", "the maximum of 0 and the values, not of their magnitudes"},
        {"out_scale=inverse", "127 / max|k| stored, by which k is multiplied, instead of max|k| / 127"},
        {"nan=ignored", "NaN left out of the maximum"},
        {"saturation=wrap", "quotients saturate in int16 and keep their low 8 bits"},
    };
    for (const Floor& each : kFloors) all.push_back({each.name, each.summary});
    return all;
  }();
  return list;
}

}  // namespace isomer::ops::quantize_copy_kv
