// max|x| of a run of elements in which NaN wins, for the target being compiled. Include after hwy/highway.h.
#if defined(ISOMER_CPU_ABS_MAX_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ISOMER_CPU_ABS_MAX_INL
#undef ISOMER_CPU_ABS_MAX_INL
#else
#define ISOMER_CPU_ABS_MAX_INL
#endif

#include <hwy/highway.h>

#include "cpu/element.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The largest of `count` patterns without their top bit. Without it the patterns of a binary float are
/// ordered as its magnitudes are, infinity above them and NaN above infinity.
template <class Bits>
HWY_INLINE Bits MaxMagnitude(const Bits* bits, std::int64_t count) {
  const hn::ScalableTag<Bits> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto mask = hn::Set(d, static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1));
  if (count < lanes) {
    HWY_ALIGN Bits some[HWY_MAX_BYTES / sizeof(Bits)] = {};
    for (std::int64_t i = 0; i < count; ++i) some[i] = bits[i];
    return hn::GetLane(hn::MaxOfLanes(d, hn::And(hn::Load(d, some), mask)));
  }
  auto even = hn::And(hn::LoadU(d, bits), mask), odd = even;
  std::int64_t i = lanes;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    even = hn::Max(even, hn::And(hn::LoadU(d, bits + i), mask));
    odd = hn::Max(odd, hn::And(hn::LoadU(d, bits + i + lanes), mask));
  }
  if (i + lanes <= count) even = hn::Max(even, hn::And(hn::LoadU(d, bits + i), mask));
  // The last elements once more: a maximum does not mind.
  odd = hn::Max(odd, hn::And(hn::LoadU(d, bits + count - lanes), mask));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(even, odd)));
}

HWY_INLINE float AbsMax(const float* x, std::int64_t count) {
  const std::uint32_t bits = MaxMagnitude(reinterpret_cast<const std::uint32_t*>(x), count);
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

HWY_INLINE float AbsMax(const F16* x, std::int64_t count) {
  return to_f32(F16{MaxMagnitude(reinterpret_cast<const std::uint16_t*>(x), count)});
}

HWY_INLINE float AbsMax(const BF16* x, std::int64_t count) {
  return to_f32(BF16{MaxMagnitude(reinterpret_cast<const std::uint16_t*>(x), count)});
}

}  // namespace isomer::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
