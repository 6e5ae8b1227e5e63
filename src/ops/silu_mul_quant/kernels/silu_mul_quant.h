#pragma once

#include "gpu/device/divisor.h"
#include "gpu/device/types.h"

namespace isomer::device {

/// Strides are in elements of their tensor.
struct SiluMulQuantParameters {
  struct Strides {
    i64 entry, row, block;
  };
  const void* x;
  void* y;
  f32* s;
  const i32* row_counts;  ///< null where every row is there
  i64 blocks;             ///< of all rows of all entries
  i64 half;               ///< elements from a gate to what it multiplies
  i64 rows, count_step;
  Divisor blocks_of_row, rows_of_entry;
  Strides x_at, y_at, s_at;
  i32 power_of_two;  ///< the scale is rounded up to one
  f32 amax_floor;
};

}  // namespace isomer::device
