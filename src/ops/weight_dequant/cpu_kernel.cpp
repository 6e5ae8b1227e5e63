// A row's elements block by block: one scale, then load, multiply, convert and store. Two vectors at a time
// go through f16, which holds every e4m3 value times 2^-8, its subnormals too, where only the pattern has to
// move.
#include "ops/weight_dequant/cpu_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/weight_dequant/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::weight_dequant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::E4M3;
using cpu::F16;

#undef ISOMER_DEQUANTIZE_PAIRS
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
#define ISOMER_DEQUANTIZE_PAIRS 1
#else
#define ISOMER_DEQUANTIZE_PAIRS 0
#endif

#if ISOMER_DEQUANTIZE_PAIRS
HWY_INLINE void StorePair(VF low, VF high, F32 d, float* to) {
  hn::StoreU(low, d, to);
  hn::StoreU(high, d, to + hn::Lanes(d));
}

HWY_INLINE void StorePair(VF low, VF high, F32 d, F16* to) {
  StoreF32(low, d, to);
  StoreF32(high, d, to + hn::Lanes(d));
}

/// For values whose NaN have no bits in the lower half, so that rounding does not carry out of them.
HWY_INLINE void StorePair(VF low, VF high, F32 d, BF16* to) {
  const hn::RebindToUnsigned<F32> du;
  const hn::Repartition<std::uint16_t, F32> d16;
  const auto rounded = [&](VF value) {
    const auto bits = hn::BitCast(du, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    return hn::BitCast(d16, hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF))));
  };
  hn::StoreU(hn::ConcatOdd(d16, rounded(high), rounded(low)), d16, reinterpret_cast<std::uint16_t*>(to));
}

/// x · scale for 2 · Lanes elements; `scale_256` is scale · 2^8.
template <class T>
HWY_INLINE void Pair(const E4M3* x, VF scale_256, F32 d, T* y) {
  const hn::Repartition<std::int16_t, F32> d16;
  const hn::Rebind<std::int8_t, decltype(d16)> d8;
  const hn::Repartition<hwy::float16_t, F32> df16;
  const auto wide = hn::PromoteTo(d16, hn::LoadU(d8, reinterpret_cast<const std::int8_t*>(x)));
  // The sign arrives in bit 15 and in bit 14, where it is taken out.
  auto bits = hn::And(hn::ShiftLeft<7>(wide), hn::Set(d16, static_cast<std::int16_t>(0xBFFF)));
  const auto nan = hn::Eq(hn::And(wide, hn::Set(d16, 0x7F)), hn::Set(d16, 0x7F));
  bits = hn::Or(bits, hn::IfThenElseZero(nan, hn::Set(d16, 0x7E00)));
  const auto halves = hn::BitCast(df16, bits);
  const hn::Half<decltype(df16)> dh;
  StorePair(hn::Mul(hn::PromoteTo(d, hn::LowerHalf(dh, halves)), scale_256),
            hn::Mul(hn::PromoteTo(d, hn::UpperHalf(dh, halves)), scale_256), d, y);
}
#endif

template <class T>
void Dequantize(const Stretch& stretch) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* s = stretch.s;
  for (std::int64_t first = 0; first < stretch.count; first += stretch.block_size) {
    const std::int64_t count = std::min(stretch.block_size, stretch.count - first);
    const E4M3* x = stretch.x + first;
    T* y = static_cast<T*>(stretch.y) + first;
    std::int64_t i = 0;
#if ISOMER_DEQUANTIZE_PAIRS
    const float scale_256 = *s * 256.0f;
    if (std::fabs(scale_256) <= std::numeric_limits<float>::max())
      for (; i + 2 * lanes <= count; i += 2 * lanes) Pair(x + i, hn::Set(d, scale_256), d, y + i);
#endif
    const VF scale = hn::Set(d, *s++);
    for (; i + lanes <= count; i += lanes) StoreF32(hn::Mul(LoadF32(d, x + i), scale), d, y + i);
    if (i < count) {
      const auto rest = static_cast<size_t>(count - i);
      StoreF32N(hn::Mul(LoadF32N(d, x + i, rest), scale), d, y + i, rest);
    }
  }
}

void Run(DType y_type, const Stretch& stretch) {
  if (y_type == DType::f16)
    Dequantize<F16>(stretch);
  else if (y_type == DType::bf16)
    Dequantize<BF16>(stretch);
  else
    Dequantize<float>(stretch);
}

}  // namespace isomer::ops::weight_dequant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::weight_dequant {

const cpu::PerTarget<StretchFunction>& stretch_function() {
  static const cpu::PerTarget<StretchFunction> table = ISOMER_PER_TARGET(Run);
  return table;
}

}  // namespace isomer::ops::weight_dequant
#endif
