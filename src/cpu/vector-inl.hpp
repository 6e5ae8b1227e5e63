// Loads and stores of every element type as f32 lanes, for the target being compiled. Include after
// hwy/highway.h.
#if defined(ISOMER_CPU_VECTOR_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ISOMER_CPU_VECTOR_INL
#undef ISOMER_CPU_VECTOR_INL
#else
#define ISOMER_CPU_VECTOR_INL
#endif

#include <hwy/highway.h>

#include "cpu/element.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using F32 = hn::ScalableTag<float>;
using VF = hn::Vec<F32>;

HWY_INLINE VF LoadF32(F32 d, const float* from) { return hn::LoadU(d, from); }

HWY_INLINE VF LoadF32(F32 d, const BF16* from) {
  const hn::Rebind<uint16_t, F32> d16;
  const hn::RebindToUnsigned<F32> du;
  const auto bits = hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

HWY_INLINE VF LoadF32(F32 d, const F16* from) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = core::f16_to_f32(from[i].bits);
  return hn::Load(d, lanes);
#else
  const hn::Rebind<hwy::float16_t, F32> d16;
  return hn::PromoteTo(d, hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(from)));
#endif
}

/// e4m3fn by shifting its exponent and mantissa into f32's and multiplying by 2^(127−7), which also
/// normalises subnormals; the one NaN pattern is put back by hand.
HWY_INLINE VF LoadF32(F32 d, const E4M3* from) {
  const hn::Rebind<uint8_t, F32> d8;
  const hn::RebindToUnsigned<F32> du;
  const auto bits = hn::PromoteTo(du, hn::LoadU(d8, reinterpret_cast<const uint8_t*>(from)));
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7F));
  const auto sign = hn::ShiftLeft<24>(hn::And(bits, hn::Set(du, 0x80)));
  const VF value = hn::Mul(hn::BitCast(d, hn::ShiftLeft<20>(magnitude)), hn::Set(d, 0x1p120f));
  const auto nan = hn::Eq(magnitude, hn::Set(du, 0x7F));
  const auto with_nan = hn::IfThenElse(nan, hn::Set(du, 0x7FC00000u), hn::BitCast(du, value));
  return hn::BitCast(d, hn::Or(with_nan, sign));
}

HWY_INLINE void StoreF32(VF value, F32 d, float* to) { hn::StoreU(value, d, to); }

/// Round to nearest, ties to even; NaN becomes the quiet NaN.
HWY_INLINE void StoreF32(VF value, F32 d, BF16* to) {
  const hn::RebindToUnsigned<F32> du;
  const hn::Rebind<uint16_t, F32> d16;
  const auto bits = hn::BitCast(du, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF)));
  const auto nan = hn::RebindMask(du, hn::IsNaN(value));
  const auto result = hn::ShiftRight<16>(hn::IfThenElse(nan, hn::Set(du, 0x7FC00000u), rounded));
  const auto narrow = hn::DemoteTo(d16, hn::BitCast(hn::RebindToSigned<decltype(du)>(), result));
  hn::StoreU(narrow, d16, reinterpret_cast<uint16_t*>(to));
}

HWY_INLINE void StoreF32(VF value, F32 d, F16* to) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(value, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) to[i].bits = core::f32_to_f16(lanes[i]);
#else
  const hn::Rebind<hwy::float16_t, F32> d16;
  hn::StoreU(hn::DemoteTo(d16, value), d16, reinterpret_cast<hwy::float16_t*>(to));
#endif
}

/// Round to nearest, ties to even, saturating at ±448; NaN becomes 0x7F with its sign.
/// Normals round in the f32 bits; below 2^-6 adding 2^14 leaves the multiple of 2^-9 in the low mantissa
/// bits.
HWY_INLINE void StoreF32(VF value, F32 d, E4M3* to) {
  const hn::RebindToUnsigned<F32> du;
  const hn::RebindToSigned<F32> di;
  const hn::Rebind<uint8_t, F32> d8;
  const auto bits = hn::BitCast(du, value);
  const auto sign = hn::ShiftRight<24>(hn::And(bits, hn::Set(du, 0x80000000u)));
  const VF magnitude = hn::Min(hn::Abs(value), hn::Set(d, 448.0f));
  const auto m = hn::BitCast(du, magnitude);
  const auto odd = hn::And(hn::ShiftRight<20>(m), hn::Set(du, 1));
  const auto normal = hn::Sub(hn::ShiftRight<20>(hn::Add(m, hn::Add(odd, hn::Set(du, 0x7FFFF)))),
                              hn::Set(du, static_cast<uint32_t>((127 - 7) << 3)));
  const VF shifted = hn::Add(magnitude, hn::Set(d, 0x1p14f));
  const auto subnormal = hn::Sub(hn::BitCast(du, shifted), hn::BitCast(du, hn::Set(d, 0x1p14f)));
  const auto small = hn::RebindMask(du, hn::Lt(magnitude, hn::Set(d, 0x1p-6f)));
  auto code = hn::IfThenElse(small, subnormal, normal);
  code = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(value)), hn::Set(du, 0x7F), code);
  code = hn::Or(code, sign);
  hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di, code)), d8, reinterpret_cast<uint8_t*>(to));
}

/// The first `count` lanes (0 < count ≤ Lanes); the others are zero and their memory is not touched.
template <class T>
HWY_INLINE VF LoadF32N(F32 d, const T* from, size_t count) {
  if (count >= hn::Lanes(d)) return LoadF32(d, from);
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(float)] = {};
  for (size_t i = 0; i < count; ++i) lanes[i] = from[i];
  return LoadF32(d, lanes);
}

template <class T>
HWY_INLINE void StoreF32N(VF value, F32 d, T* to, size_t count) {
  if (count >= hn::Lanes(d)) return StoreF32(value, d, to);
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(float)];
  StoreF32(value, d, lanes);
  for (size_t i = 0; i < count; ++i) to[i] = lanes[i];
}

}  // namespace isomer::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
