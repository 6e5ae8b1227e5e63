// Powers and logarithms of two and reciprocals at the hardware's speed, within 2^-21 of the result (log2: of
// 1 where that is larger). Results and arguments below the smallest normal f32 count as 0.
#pragma once

#include "gpu/device/numeric.cuh"

namespace isomer::device {

constexpr f32 kLog2E = 1.4426950408889634f, kLn2 = 0.6931471805599453f;

/// x, or 0 below the smallest normal: what the hardware of CUDA does, on the emulator too. HIP keeps what its
/// mode says.
ISOMER_DEVICE f32 flushed(f32 x) {
#if defined(ISOMER_EMULATED)
  return absolute(x) < 0x1p-126f ? 0.0f : x;
#else
  return x;
#endif
}

ISOMER_DEVICE f32 exp2_fast(f32 x) {
#if ISOMER_CUDA_ARCH
  f32 y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return flushed(exp2f(flushed(x)));
#endif
}

ISOMER_DEVICE f32 log2_fast(f32 x) {
#if ISOMER_CUDA_ARCH
  f32 y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return log2f(flushed(x));
#endif
}

ISOMER_DEVICE f32 reciprocal_fast(f32 x) {
#if ISOMER_CUDA_ARCH
  f32 y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return flushed(1.0f / flushed(x));
#endif
}

}  // namespace isomer::device
