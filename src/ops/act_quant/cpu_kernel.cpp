// A block at a time, twice through its elements: the maximum of their bit patterns, then one division,
// conversion and store per vector. The second pass reads from the first-level cache.
#include "ops/act_quant/cpu_kernel.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/act_quant/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/abs_max-inl.hpp"
#include "cpu/quad-inl.hpp"
#include "cpu/vector-inl.hpp"

#ifndef ISOMER_ACT_QUANT_POWER_OF_TWO
#define ISOMER_ACT_QUANT_POWER_OF_TWO
namespace isomer::ops::act_quant {

/// The smallest power of two ≥ value, for value ≥ 0; 0, inf and NaN stay.
inline float power_of_two_above(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (bits == 0 || bits > 0x7F800000u) return value;
  // The pattern of a subnormal is its multiple of 2^-149.
  bits = bits < 0x00800000u ? std::bit_ceil(bits) : (bits + 0x007FFFFFu) & 0x7F800000u;
  return std::bit_cast<float>(bits);
}

}  // namespace isomer::ops::act_quant
#endif

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::act_quant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::E4M3;
using cpu::F16;

/// Blocks whose scales are computed together: their divisions and maxima overlap, and their elements stay in
/// the cache.
constexpr std::int64_t kTogether = 16;

/// For quotients q of at most 448·(1 + 2^-20), given as q·2^20: the e4m3 pattern of |q| to nearest even, plus
/// kSurplus, in the low byte. In the binade of 2^e, or of 2^-6 below it, patterns are 2^(e-3) apart: adding
/// 2^(e+20) rounds to that and leaves the multiple in the low bits.
constexpr std::uint32_t kLeast = (127 - 6 + 20) << 23;
constexpr std::uint8_t kSurplus = kLeast >> 20 & 0xFF;

HWY_INLINE VU Pattern(F32 d, VF q_20) {
  const U32 du;
  const auto binade = hn::Max(hn::And(hn::BitCast(du, q_20), hn::Set(du, 0x7F800000u)), hn::Set(du, kLeast));
  const VF sum = hn::MulAdd(hn::Abs(q_20), hn::Set(d, 0x1p-20f), hn::BitCast(d, binade));
  return hn::Add(hn::Sub(hn::BitCast(du, sum), binade), hn::ShiftRight<20>(binade));
}

/// Fetches what lies `ahead` of x for later passes while it works: nothing else keeps the memory busy
/// meanwhile.
template <class T>
HWY_INLINE void QuantizeBlock(const T* x, std::int64_t size, float scale, std::int64_t ahead, E4M3* y) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  // With such a scale quotients are finite and end at 448.
  if (scale >= 0x1p-100f && scale <= std::numeric_limits<float>::max()) {
    const VF divisor = hn::Set(d, scale * 0x1p-20f);
    const auto pattern = [&](VF value) { return Pattern(d, hn::Div(value, divisor)); };
    for (; i + 4 * lanes <= size; i += 4 * lanes) {
      for (std::int64_t line = 0; line < 4 * lanes; line += 64 / static_cast<std::int64_t>(sizeof(T)))
        __builtin_prefetch(x + i + ahead + line);
      const Quad v = LoadQuad(d, x + i);
      const auto bytes = QuadBytes(T{}, pattern(v.a), pattern(v.b), pattern(v.c), pattern(v.d));
      hn::StoreU(hn::Or(hn::Sub(bytes, hn::Set(U8(), kSurplus)), QuadSigns(x + i)), U8(), &y[i].bits);
    }
  }
  const VF divisor = hn::Set(d, scale);
  for (; i < size; i += lanes) StoreF32(hn::Div(LoadF32(d, x + i), divisor), d, y + i);
}

template <class T>
void Quantize(const Blocks& blocks, const ActQuantOptions& options) {
  const std::int64_t size = options.block_size;
  const T* x = static_cast<const T*>(blocks.x);
  E4M3* y = static_cast<E4M3*>(blocks.y);
  for (std::int64_t first = 0; first < blocks.count; first += kTogether) {
    const std::int64_t count = std::min(kTogether, blocks.count - first);
    float scales[kTogether];
    for (std::int64_t b = 0; b < count; ++b) {
      float amax = AbsMax(x + (first + b) * size, size);
      if (amax < options.amax_floor) amax = options.amax_floor;  // NaN stays
      scales[b] = amax / 448.0f;
      if (options.scale_format == ScaleFormat::ue8m0) scales[b] = power_of_two_above(scales[b]);
      blocks.s[(first + b) * blocks.s_stride] = scales[b];
    }
    for (std::int64_t b = 0; b < count; ++b)
      QuantizeBlock(x + (first + b) * size, size, scales[b], kTogether * size, y + (first + b) * size);
  }
}

void Run(DType dtype, const Blocks& blocks, const ActQuantOptions& options) {
  if (dtype == DType::f16)
    Quantize<F16>(blocks, options);
  else if (dtype == DType::bf16)
    Quantize<BF16>(blocks, options);
  else
    Quantize<float>(blocks, options);
}

}  // namespace isomer::ops::act_quant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::act_quant {

const cpu::PerTarget<BlocksFunction>& blocks_function() {
  static const cpu::PerTarget<BlocksFunction> table = ISOMER_PER_TARGET(Run);
  return table;
}

}  // namespace isomer::ops::act_quant
#endif
