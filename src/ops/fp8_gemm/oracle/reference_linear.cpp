// Codes and scales of x by their definition, then the product of these, in f64.
#include "core/codec.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/oracle/oracle.hpp"
#include "ops/fp8_gemm/oracle/reference_product.hpp"

#include <cmath>

namespace isomer::ops::fp8_gemm {
namespace {

using oracle::Variations;

float scale_of(double amax, const Fp8LinearOptions& options, const Variations& vary) {
  auto most = static_cast<float>(amax);
  if (most < options.amax_floor && !vary.has("floor=none")) most = options.amax_floor;  // NaN stays
  const float scale = most / (vary.has("max=240") ? 240.0f : 448.0f);
  const bool powers = options.scale_format == ScaleFormat::ue8m0 || vary.has("scale=ue8m0");
  if (!powers || !(scale > 0) || std::isinf(scale)) return scale;
  int exponent = 0;
  const float fraction = std::frexp(scale, &exponent);  // in [1/2, 1)
  return fraction == 0.5f ? scale : std::ldexp(1.0f, exponent);
}

/// The rows of x as codes with a scale for each block of a row.
struct Quantised {
  std::vector<std::uint8_t> codes;
  std::vector<float> scales;

  Quantised(const Tensor& x, const Fp8LinearOptions& options, const Variations& vary)
      : codes(static_cast<std::size_t>(x.numel())), scales(codes.size() / kScaleBlock) {
    const std::vector<double> values = oracle::elements(x);
    const auto depth = static_cast<std::size_t>(x.size(-1));
    const std::size_t shared = vary.has("amax=per_row") ? depth : kScaleBlock;
    for (std::size_t first = 0; first < values.size(); first += kScaleBlock) {
      double amax = 0;
      const std::size_t from = first / shared * shared;
      for (std::size_t i = from; i < from + shared; ++i)
        if (const double size = std::fabs(values[i]); !(size <= amax)) amax = std::isnan(amax) ? amax : size;
      const float scale = scale_of(amax, options, vary);
      scales[first / kScaleBlock] = scale;
      for (std::size_t i = first; i < first + kScaleBlock; ++i)
        core::encode(DType::e4m3fn, static_cast<double>(static_cast<float>(values[i]) / scale), &codes[i],
                     core::Overflow::saturate);
    }
  }
};

}  // namespace

void linear_reference(const core::Call& call, const Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<Fp8LinearArgs>();
  oracle::ExpectedTensor& c = expected["c"];
  if (c.value.empty()) return;
  Quantised rows(args.x, call.options<Fp8LinearOptions>(), vary);
  const std::int64_t depth = args.x.size(-1), count = args.c.numel() / args.c.size(-1);
  const Tensor a(rows.codes.data(), DType::e4m3fn, {count, depth}),
      a_s(rows.scales.data(), DType::f32, {count, depth / kScaleBlock});
  const Product product(a, a_s, args.b, args.b_s, vary);
  const Epilogue finish{args.bias, args.addend, vary};
  const auto columns = static_cast<std::size_t>(args.c.size(-1));
  for (std::size_t flat = 0; flat < c.value.size(); ++flat) {
    const auto m = static_cast<std::int64_t>(flat / columns), n = static_cast<std::int64_t>(flat % columns);
    const Element element = product(m, n);
    const auto [value, bound] = finish(element, c.dtype, flat, n);
    c.set(flat, value, bound);
    if (element.unknown) c.set_unknown(flat);
  }
}

const std::vector<oracle::Variation>& linear_variations() {
  static const std::vector<oracle::Variation> list = {
      {"amax=per_row", "one scale for a whole row of x"},
      {"max=240", "x scaled to 240, the largest e4m3fnuz, instead of 448"},
      {"scale=ue8m0", "the scales of x rounded up to a power of two"},
      {"floor=none", "no floor: an all-zero block of x is 0/0"},
      {"a_s=ignored", "the scales of x taken as 1"},
      {"b_s=ignored", "the scales of b taken as 1"},
      {"b_s=transposed", "the scales of b read as if their matrix were stored transposed"},
      {"b_s=floor",
       "floor(N/128) rows of scales of b: a ragged last block of columns takes the row before it"},
      {"scale=once", "the scales of the first block applied to the sum over all of K"},
      {"accumulator=bf16", "sums inside a block and across blocks rounded to bf16"},
      {"bias=ignored", "bias not added"},
      {"addend=ignored", "addend not added"},
  };
  return list;
}

}  // namespace isomer::ops::fp8_gemm
