// Quotients as integers, and integers side by side in a word.
#pragma once

#include "gpu/device/vector.cuh"

namespace isomer::device {

/// trunc, clamped to [-128, 127]; NaN gives 0.
ISOMER_DEVICE i32 truncate_to_i8(f32 value) {
#if ISOMER_CUDA_ARCH
  i32 whole;
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(whole) : "f"(value));  // saturates, and gives 0 for NaN
  return whole < -128 ? -128 : whole > 127 ? 127 : whole;
#else
  return is_nan(value) ? 0 : value >= 127.0f ? 127 : value <= -128.0f ? -128 : static_cast<i32>(value);
#endif
}

/// The same of N values, the first in the lowest byte of the first word.
template <int N>
ISOMER_DEVICE Vector<u32, N / 4> truncate_to_bytes(const f32 (&values)[N]) {
  static_assert(N % 4 == 0);
  Vector<u32, N / 4> words;
#pragma unroll
  for (int i = 0; i < N; i += 4) {
#if ISOMER_CUDA_ARCH >= 720
    i32 whole[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(whole[j]) : "f"(values[i + j]));
    u32 high;  // two are packed into the low half, over the low half of the third operand
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(high) : "r"(whole[3]), "r"(whole[2]), "r"(0));
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;"
        : "=r"(words.of[i / 4])
        : "r"(whole[1]), "r"(whole[0]), "r"(high));
#else
    words.of[i / 4] = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      words.of[i / 4] |= (static_cast<u32>(truncate_to_i8(values[i + j])) & 0xffu) << (8 * j);
#endif
  }
  return words;
}

/// The larger one of the low halves and of the high ones, unsigned.
ISOMER_DEVICE u32 max_of_halves(u32 a, u32 b) {
#if ISOMER_CUDA_ARCH >= 900
  u32 most;
  asm("max.u16x2 %0, %1, %2;" : "=r"(most) : "r"(a), "r"(b));
  return most;
#else
  const u32 low = (a & 0xffffu) > (b & 0xffffu) ? a : b, high = (a >> 16) > (b >> 16) ? a : b;
  return (low & 0xffffu) | (high & 0xffff0000u);
#endif
}

/// One instruction from Hopper on.
ISOMER_DEVICE i32 largest_of(i32 a, i32 b, i32 c) {
  const i32 most = a > b ? a : b;
  return most > c ? most : c;
}

}  // namespace isomer::device
