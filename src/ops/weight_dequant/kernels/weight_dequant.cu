// A thread takes one vector's width of columns in a few adjacent rows, which mostly share their scale.
// Vectors are 16 bytes of y where the rows are aligned for them and no vector crosses a block, else single
// elements.
#include "gpu/device/pairs.cuh"
#include "gpu/device/portable.cuh"
#include "ops/weight_dequant/kernels/weight_dequant.h"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kVector = ISOMER_VECTOR, kRows = ISOMER_ROWS;
using Element = ISOMER_ELEMENT;

ISOMER_DEVICE void dequantize(const Vector<e4m3fn, kVector>& in, f32 scale, Element* y) {
  f32 values[kVector];
  to_f32(in, values);
#pragma unroll
  for (int i = 0; i < kVector; ++i) values[i] *= scale;
  store<kVector>(y, from_f32<Element>(values));
}

extern "C" __global__ void __launch_bounds__(kThreads)
    isomer_weight_dequant(const WeightDequantParameters p) {
  using Index = ISOMER_INDEX;
  const u32 column_thread = threadIdx.x & ((1u << p.row_threads_log2) - 1),
            row_thread = threadIdx.x >> p.row_threads_log2;
  const Index column = ((static_cast<Index>(blockIdx.x) << p.row_threads_log2) + column_thread) * kVector;
  const auto rows = static_cast<Index>(p.rows), columns = static_cast<Index>(p.columns);
  if (column >= columns) return;
  const bool whole = column + kVector <= columns;
  const f32* s = p.s + static_cast<i64>(quotient_of(column, p.block_size));
  const auto scale_of = [&](Index block) { return s[static_cast<i64>(block) * p.s_row]; };

  const Index tile = static_cast<Index>(kThreads >> p.row_threads_log2) * kRows;
  for (Index base = blockIdx.y * tile; base < rows; base += gridDim.y * tile) {
    const Index first = base + static_cast<Index>(row_thread) * kRows;
    if (first >= rows) return;
    const e4m3fn* x =
        static_cast<const e4m3fn*>(p.x) + static_cast<i64>(first) * p.x_row + static_cast<i64>(column);
    Element* y = static_cast<Element*>(p.y) + static_cast<i64>(first) * p.y_row + static_cast<i64>(column);
    if (whole && first + kRows <= rows) {
      Vector<e4m3fn, kVector> in[kRows];
#pragma unroll
      for (int r = 0; r < kRows; ++r) in[r] = load_once<kVector>(x + r * p.x_row);
      const Index block = quotient_of(first, p.block_size);
      f32 scale[kRows];
      scale[0] = scale_of(block);
#pragma unroll
      for (int r = 1; r < kRows; ++r) scale[r] = scale[0];
      if (quotient_of(first + (kRows - 1), p.block_size) != block) {
#pragma unroll
        for (int r = 1; r < kRows; ++r) scale[r] = scale_of(quotient_of(first + r, p.block_size));
      }
#pragma unroll
      for (int r = 0; r < kRows; ++r) dequantize(in[r], scale[r], y + r * p.y_row);
    } else {
#pragma unroll 1
      for (Index row = first; row < first + kRows && row < rows; ++row, x += p.x_row, y += p.y_row) {
        const f32 scale = scale_of(quotient_of(row, p.block_size));
        if (whole)
          dequantize(load_once<kVector>(x), scale, y);
        else
#pragma unroll 1
          for (int i = 0; i < static_cast<int>(columns - column); ++i)
            y[i] = from_f32<Element>(to_f32(x[i]) * scale);
      }
    }
  }
}

}  // namespace isomer::device
