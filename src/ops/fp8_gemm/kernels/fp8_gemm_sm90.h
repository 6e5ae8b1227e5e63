#pragma once

#include "gpu/device/tensor_map.h"
#include "ops/fp8_gemm/kernels/fp8_gemm.h"

namespace isomer::device {

/// Division of numbers below 2^31 by one that the host knows: a product and a shift in place of some fifty
/// instructions between two tiles.
struct TileDivisor {
  u32 number, multiplier, shift;
};

/// A product of either op for Hopper. The rows of a, a_s, c and addend are one dimension: only stride[0] of
/// each is used.
struct Fp8GemmSm90Parameters {
  TensorMap a, b, c;       ///< c only where it is stored by bulk copies
  Fp8GemmParameters gemm;  ///< `row_tiles` counts what a cluster owns
  u32 tiles;               ///< of all rows and columns; not masked
  u32 together;            ///< tiles of rows that run through the columns together
  i32 b_once;              ///< nothing of b is read twice
  u32 rows_brought;        ///< of a tile of a by a copy: not all where there are fewer
  TileDivisor group;       ///< tiles that do so
  TileDivisor high, last;  ///< `together`, and the tiles of rows of the last group
};

}  // namespace isomer::device
