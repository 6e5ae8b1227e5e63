// Division of many numbers by one, for results that are rounded to few bits afterwards.
#pragma once

#include "gpu/device/numeric.cuh"

namespace isomer::device {

/// x / divisor in three instructions. Not always the correctly rounded quotient, but on the same side of (or
/// equal to) every number of at most 8 significant bits as the correctly rounded one is: rounding it to e4m3
/// or truncating it to an int8 gives the same bits. tests/gpu/test_quotient.cpp holds the formula against
/// every divisor; powers of two scale it exactly within the bounds of suits(). A zero keeps its sign; a
/// divisor that is 0 or NaN gives NaN.
class Quotient {
 public:
  ISOMER_DEVICE explicit Quotient(f32 divisor) : divisor_(divisor), reciprocal_(reciprocal_of(divisor)) {}

  static ISOMER_DEVICE bool suits(f32 divisor) {
    const f32 size = absolute(divisor);
    return size >= 0x1p-80f && size <= 0x1p100f;
  }

  /// x is finite, and x / divisor at most 2^24.
  ISOMER_DEVICE f32 of(f32 x) const { return correct(x, x * reciprocal_, divisor_, reciprocal_); }

  /// The first estimate x · (1 / divisor) corrected by its remainder. In this order of signs −0 stays −0.
  static ISOMER_DEVICE f32 correct(f32 x, f32 estimate, f32 divisor, f32 reciprocal) {
    return fmaf(-fmaf(estimate, divisor, -x), reciprocal, estimate);
  }

 private:
  f32 divisor_, reciprocal_;

  /// Correctly rounded for what suits().
  static ISOMER_DEVICE f32 reciprocal_of(f32 divisor) {
#if ISOMER_CUDA_ARCH
    // What rcp.rn does for numbers of ordinary size, without its test for the others.
    f32 estimate;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(estimate) : "f"(divisor));
    return fmaf(estimate, -fmaf(estimate, divisor, -1.0f), estimate);
#else
    return 1.0f / divisor;
#endif
  }
};

}  // namespace isomer::device
