#pragma once

#include "gpu/device/types.h"

namespace isomer::device {

/// Rows of `length` elements under up to 7 outer dimensions, innermost first; unused ones have size 1.
struct SinParameters {
  static constexpr int kOuter = 7;
  const void* x;
  void* y;
  i64 length;
  i64 x_step, y_step;  ///< between the elements of a row
  i64 pieces;          ///< of a row
  i64 rows;
  i64 outer[kOuter], x_stride[kOuter], y_stride[kOuter];
};

}  // namespace isomer::device
