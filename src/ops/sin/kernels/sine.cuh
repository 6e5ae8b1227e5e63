// The sine of an f32 within 1.6 ulp: the argument less the nearest multiple of pi/2, in three fused steps,
// then the sine or the cosine of the remainder as a polynomial.
#pragma once

#include "gpu/device/numeric.cuh"

namespace isomer::device {

/// Beyond it the three steps no longer hold the remainder.
constexpr f32 kReducible = 131072.0f;

/// |x| ≤ kReducible, or NaN or inf, which give NaN.
ISOMER_DEVICE f32 sine_of_reducible(f32 x) {
  // Adding 1.5·2^23 rounds to a whole number, whose low bits are the quadrant.
  const f32 shifted = fmaf(x, 0.63661977236758134308f, 12582912.0f);
  const u32 quadrant = bits_of(shifted);
  const f32 n = shifted - 12582912.0f;
  // The first step is exact: both are multiples of 2^-23 less than 2 apart.
  f32 r = fmaf(n, -0x1.921fb6p+0f, x);
  r = fmaf(n, 0x1.777a5cp-25f, r);
  r = fmaf(n, 0x1.ee59dap-50f, r);
  const f32 square = r * r;
  // Least maximum relative error on [-pi/4, pi/4]: 4e-9 and 1.2e-10.
  const bool odd = quadrant & 1u;
  f32 p = odd ? 0x1.99ea02p-16f : -0x1.994222p-13f;
  p = fmaf(p, square, odd ? -0x1.6c0c2ep-10f : 0x1.110736p-7f);
  p = fmaf(p, square, odd ? 0x1.55554ap-5f : -0x1.555546p-3f);
  const f32 low = odd ? square : r;
  const f32 head = odd ? fmaf(-0.5f, square, 1.0f) : r;
  const f32 y = fmaf(p * square, low, head);
  return f32_of(bits_of(y) ^ (quadrant & 2u) << 30);
}

ISOMER_DEVICE f32 sine(f32 x) {
  if (absolute(x) > kReducible) return sinf(x);
  return sine_of_reducible(x);
}

}  // namespace isomer::device
