#pragma once

#include "gpu/device/divisor.h"
#include "gpu/device/types.h"

namespace isomer::device {

/// Vectors lie along rows under up to 7 outer dimensions, innermost first; a row's last vector may be cut
/// off. Strides are in elements, the first ones from one vector to the next.
struct SinParameters {
  static constexpr int kDims = 8;
  const void* x;
  void* y;
  i64 vectors;  ///< of the whole tensor
  i64 length;   ///< elements of a row
  Divisor size[kDims];
  i64 x_stride[kDims], y_stride[kDims];
};

}  // namespace isomer::device
