#pragma once

#include "gpu/device/divisor.h"
#include "gpu/device/types.h"

namespace isomer::device {

/// Quantisation blocks lie along an inner dimension under up to 7 outer ones, innermost first. Strides are in
/// elements of their tensor, from one block to the next.
struct ActQuantParameters {
  static constexpr int kDims = 8;
  const void* x;
  void* y;
  f32* s;
  i64 blocks;        ///< of the whole tensor
  i32 power_of_two;  ///< the scale is rounded up to one
  f32 amax_floor;
  Divisor size[kDims];  ///< innermost first
  i64 x_stride[kDims], y_stride[kDims], s_stride[kDims];
};

}  // namespace isomer::device
