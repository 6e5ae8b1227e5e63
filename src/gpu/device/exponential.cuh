// Powers and logarithms of two and reciprocals at the hardware's speed, within 2^-21 of the result (log2: of
// 1 where that is larger). Results and arguments below the smallest normal f32 count as 0.
#pragma once

#include "gpu/device/numeric.cuh"

namespace isomer::device {

constexpr f32 kLog2E = 1.4426950408889634f, kLn2 = 0.6931471805599453f;

ISOMER_DEVICE f32 exp2_fast(f32 x) {
#if ISOMER_CUDA_ARCH
  f32 y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return exp2f(x);
#endif
}

ISOMER_DEVICE f32 log2_fast(f32 x) {
#if ISOMER_CUDA_ARCH
  f32 y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return log2f(x);
#endif
}

ISOMER_DEVICE f32 reciprocal_fast(f32 x) {
#if ISOMER_CUDA_ARCH
  f32 y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1.0f / x;
#endif
}

}  // namespace isomer::device
