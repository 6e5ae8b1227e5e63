#pragma once

#include "gpu/device/types.h"

namespace isomer::device {

/// Rows are strides apart, in elements of their tensor; a row of x and y is contiguous.
struct WeightQuantParameters {
  const void* x;
  void* y;
  f32* s;
  i64 rows, columns;
  i64 x_row, y_row, s_row, s_column;
  i64 block_size;
  i64 across, blocks;  ///< blocks of a row of blocks, and of the whole matrix
  f32 amax_floor;
  i32 power_of_two;      ///< the scale is rounded up to one
  i32 row_threads_log2;  ///< threads side by side; the others take rows below
};

}  // namespace isomer::device
