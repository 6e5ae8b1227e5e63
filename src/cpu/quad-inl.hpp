// Four vectors of f32 lanes at once, for the target being compiled: elements of 8 and 16 bits fill whole
// registers on their way in and out. Include after hwy/highway.h.
#if defined(ISOMER_CPU_QUAD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ISOMER_CPU_QUAD_INL
#undef ISOMER_CPU_QUAD_INL
#else
#define ISOMER_CPU_QUAD_INL
#endif

#include <hwy/highway.h>

#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using U32 = hn::RebindToUnsigned<F32>;
using U16 = hn::Repartition<std::uint16_t, F32>;
using U8 = hn::Repartition<std::uint8_t, F32>;
using VU = hn::Vec<U32>;
using VBytes = hn::Vec<U8>;

/// 4 · Lanes adjacent elements. In order, but of bf16 the even elements of the first half, its odd ones, and
/// the second half likewise: a shift or a mask makes f32 of either.
struct Quad {
  VF a, b, c, d;
};

HWY_INLINE Quad LoadQuad(F32 d, const float* from) {
  const size_t lanes = hn::Lanes(d);
  return {hn::LoadU(d, from), hn::LoadU(d, from + lanes), hn::LoadU(d, from + 2 * lanes),
          hn::LoadU(d, from + 3 * lanes)};
}

HWY_INLINE Quad LoadQuad(F32 d, const F16* from) {
  const size_t lanes = hn::Lanes(d);
  return {LoadF32(d, from), LoadF32(d, from + lanes), LoadF32(d, from + 2 * lanes),
          LoadF32(d, from + 3 * lanes)};
}

HWY_INLINE Quad LoadQuad(F32 d, const BF16* from) {
  const U32 du;
  const auto high = hn::Set(du, 0xFFFF0000u);
  const auto first = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(from));
  const auto second = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(from + 2 * hn::Lanes(d)));
  return {hn::BitCast(d, hn::ShiftLeft<16>(first)), hn::BitCast(d, hn::And(first, high)),
          hn::BitCast(d, hn::ShiftLeft<16>(second)), hn::BitCast(d, hn::And(second, high))};
}

HWY_INLINE void StoreQuad(const Quad& values, F32 d, float* to) {
  const size_t lanes = hn::Lanes(d);
  hn::StoreU(values.a, d, to);
  hn::StoreU(values.b, d, to + lanes);
  hn::StoreU(values.c, d, to + 2 * lanes);
  hn::StoreU(values.d, d, to + 3 * lanes);
}

HWY_INLINE void StoreQuad(const Quad& values, F32 d, F16* to) {
  const size_t lanes = hn::Lanes(d);
  StoreF32(values.a, d, to);
  StoreF32(values.b, d, to + lanes);
  StoreF32(values.c, d, to + 2 * lanes);
  StoreF32(values.d, d, to + 3 * lanes);
}

/// In the order of LoadQuad(BF16). Not for NaN whose lower half has bits: rounding would carry out of them.
HWY_INLINE void StoreQuad(const Quad& values, F32 d, BF16* to) {
  const U32 du;
  const auto rounded = [&](VF value) {
    const auto bits = hn::BitCast(du, value);
    return hn::Add(bits, hn::Add(hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1)), hn::Set(du, 0x7FFF)));
  };
  const auto pair = [&](VF even, VF odd) {
    return hn::Or(hn::ShiftRight<16>(rounded(even)), hn::And(rounded(odd), hn::Set(du, 0xFFFF0000u)));
  };
  auto* words = reinterpret_cast<std::uint32_t*>(to);
  hn::StoreU(pair(values.a, values.b), du, words);
  hn::StoreU(pair(values.c, values.d), du, words + hn::Lanes(du));
}

/// The low bytes of four vectors, which have the order of LoadQuad(T), in the order of memory.
template <class T>
HWY_INLINE VBytes QuadBytes(T, VU a, VU b, VU c, VU d) {
  const auto first = hn::ConcatEven(U16(), hn::BitCast(U16(), b), hn::BitCast(U16(), a));
  const auto second = hn::ConcatEven(U16(), hn::BitCast(U16(), d), hn::BitCast(U16(), c));
  return hn::ConcatEven(U8(), hn::BitCast(U8(), second), hn::BitCast(U8(), first));
}

HWY_INLINE VBytes QuadBytes(BF16, VU a, VU b, VU c, VU d) {
  const auto low = hn::Set(U32(), 0xFFFFu);
  const auto first = hn::Or(hn::And(a, low), hn::ShiftLeft<16>(b));
  const auto second = hn::Or(hn::And(c, low), hn::ShiftLeft<16>(d));
  return hn::ConcatEven(U8(), hn::BitCast(U8(), second), hn::BitCast(U8(), first));
}

/// The signs of 4 · Lanes adjacent elements as the top bits of bytes, in the order of memory.
template <class T>
HWY_INLINE VBytes QuadSigns(const T* from) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(from);
  const auto first = hn::LoadU(U8(), bytes), second = hn::LoadU(U8(), bytes + hn::Lanes(U8()));
  return hn::And(hn::ConcatOdd(U8(), second, first), hn::Set(U8(), 0x80));
}

HWY_INLINE VBytes QuadSigns(const float* from) {
  const auto* words = reinterpret_cast<const std::uint16_t*>(from);
  const size_t lanes = hn::Lanes(U16());
  const auto first = hn::ConcatOdd(U16(), hn::LoadU(U16(), words + lanes), hn::LoadU(U16(), words));
  const auto second =
      hn::ConcatOdd(U16(), hn::LoadU(U16(), words + 3 * lanes), hn::LoadU(U16(), words + 2 * lanes));
  return hn::And(hn::ConcatOdd(U8(), hn::BitCast(U8(), second), hn::BitCast(U8(), first)),
                 hn::Set(U8(), 0x80));
}

}  // namespace isomer::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
