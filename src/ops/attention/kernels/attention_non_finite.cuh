// Values that are not finite under weights of 0, which a product would make NaN: they count for nothing. T is
// f16 or bf16, pairs are two of them in a word.
#pragma once

#include "gpu/device/mma.cuh"

namespace isomer::device::attention {

/// The exponent's bits: with all of them set an element is infinite, and NaN with any below.
template <class T>
constexpr u32 kExponent = 0x7f80u;
template <>
constexpr u32 kExponent<f16> = 0x7c00u;

/// 1 for the elements of a pair that are NaN or the infinity with that sign, else 0.
template <class T>
ISOMER_DEVICE u32 non_finite_ones(u32 pair, bool negative) {
  const u32 one = pack<T>(1.0f, 0.0f);
  u32 ones = 0;
#pragma unroll
  for (int shift = 0; shift < 32; shift += 16) {
    const u32 size = pair >> shift & 0x7fffu;
    if (size > kExponent<T> || (pair >> shift & 0xffffu) == (kExponent<T> | (negative ? 0x8000u : 0u)))
      ones |= one << shift;
  }
  return ones;
}
template <class T>
ISOMER_DEVICE u32 finite_only(u32 pair) {
#pragma unroll
  for (int shift = 0; shift < 32; shift += 16)
    if ((pair >> shift & kExponent<T>) == kExponent<T>) pair &= ~(0xffffu << shift);
  return pair;
}

/// Of four e4m3fn: the highest bit of a byte is set where it is a NaN, others mean nothing.
ISOMER_DEVICE u32 non_finite_bytes(u32 four) { return (four & 0x7f7f7f7fu) + 0x01010101u; }
ISOMER_DEVICE u32 finite_bytes_only(u32 four) {
  return four & ~((non_finite_bytes(four) >> 7 & 0x01010101u) * 0xffu);
}

/// Notes in `noted`, 0 at first, whether an element of the pair is not finite.
template <class T>
ISOMER_DEVICE void note_non_finite(u32& noted, u32 pair) {
  noted |= static_cast<u32>((pair & kExponent<T>) == kExponent<T>) |
           static_cast<u32>((pair >> 16 & kExponent<T>) == kExponent<T>);
}
#if ISOMER_CUDA_ARCH >= 800
// A product with 0 is NaN where the element is not finite, and NaN stays.
template <>
ISOMER_DEVICE void note_non_finite<f16>(u32& noted, u32 pair) {
  asm("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(noted) : "r"(pair), "r"(0u));
}
template <>
ISOMER_DEVICE void note_non_finite<bf16>(u32& noted, u32 pair) {
  asm("fma.rn.bf16x2 %0, %1, %2, %0;" : "+r"(noted) : "r"(pair), "r"(0u));
}
#endif

}  // namespace isomer::device::attention
