// Conversions of several adjacent elements, two at once where the hardware has it. The same results as one by
// one.
#pragma once

#include "gpu/device/numeric.cuh"
#include "gpu/device/vector.cuh"

namespace isomer::device {

/// The first in the low half. One element each where there is no instruction for two.
template <class T>
struct Pair {
  static constexpr bool kTogether = false;
  static ISOMER_DEVICE auto of(f32 first, f32 second) {
    const u32 pair =
        static_cast<u32>(from_f32<T>(first).bits) | static_cast<u32>(from_f32<T>(second).bits) << 8 * sizeof(T);
    if constexpr (sizeof(T) == 2)
      return pair;
    else
      return static_cast<u16>(pair);
  }
};
#if ISOMER_CUDA_ARCH >= 800
template <>
struct Pair<bf16> {
  static constexpr bool kTogether = true;
  static ISOMER_DEVICE u32 of(f32 first, f32 second) {
    u32 pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
  }
};
template <>
struct Pair<f16> {
  static constexpr bool kTogether = true;
  static ISOMER_DEVICE u32 of(f32 first, f32 second) {
    u32 pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
  }
};
#endif
#if ISOMER_CUDA_ARCH >= 890
template <>
struct Pair<e4m3fn> {
  static constexpr bool kTogether = true;
  static ISOMER_DEVICE u16 of(f32 first, f32 second) {
    u16 pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
    return pair;
  }
};
#endif

template <class T, int N>
ISOMER_DEVICE Vector<T, N> from_f32(const f32 (&values)[N]) {
  Vector<T, N> vector;
  if constexpr (Pair<T>::kTogether && N % 2 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      const auto pair = Pair<T>::of(values[i], values[i + 1]);
      copy_bytes(&vector.of[i], &pair, sizeof pair);
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) vector.of[i] = from_f32<T>(values[i]);
  }
  return vector;
}

template <class T, int N>
ISOMER_DEVICE void to_f32(const Vector<T, N>& vector, f32 (&values)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] = to_f32(vector.of[i]);
}
template <int N>
ISOMER_DEVICE void to_f32(const Vector<bf16, N>& vector, f32 (&values)[N]) {
  if constexpr (N % 2 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      u32 pair;
      copy_bytes(&pair, &vector.of[i], sizeof pair);
      values[i] = f32_of(pair << 16);
      values[i + 1] = f32_of(pair & 0xffff0000u);
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) values[i] = to_f32(vector.of[i]);
  }
}
template <int N>
ISOMER_DEVICE void to_f32(const Vector<e4m3fn, N>& vector, f32 (&values)[N]) {
#if ISOMER_CUDA_ARCH >= 900
  if constexpr (N % 2 == 0) {
#pragma unroll
    for (int i = 0; i < N; i += 2) {
      u16 pair;
      copy_bytes(&pair, &vector.of[i], sizeof pair);
      u32 halves;  // every e4m3 is an f16
      asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
      values[i] = to_f32(f16{static_cast<u16>(halves)});
      values[i + 1] = to_f32(f16{static_cast<u16>(halves >> 16)});
    }
  } else {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      u32 halves;
      asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<u16>(vector.of[i].bits)));
      values[i] = to_f32(f16{static_cast<u16>(halves)});
    }
  }
#else
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] = to_f32(vector.of[i]);
#endif
}

}  // namespace isomer::device
