#pragma once

#include "gpu/device/divisor.h"
#include "gpu/device/types.h"

namespace isomer::device {

/// Rows are strides apart, in elements of their tensor; a row is contiguous.
struct WeightDequantParameters {
  const void* x;
  const f32* s;
  void* y;
  i64 rows, columns;
  i64 x_row, s_row, y_row;
  Divisor block_size;
  i32 row_threads_log2;  ///< threads of a block side by side; the others take rows below
};

}  // namespace isomer::device
