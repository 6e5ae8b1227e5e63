// A block of threads takes one block of the matrix at a time, twice: its maximum, by lanes and then by warps,
// and its quotients, which are read again from the cache. Vectors are 16 bytes of x where every row of every
// block is aligned for them, else single elements.
#include "gpu/device/pairs.cuh"
#include "gpu/device/portable.cuh"
#include "gpu/device/power_of_two.cuh"
#include "ops/weight_quant/kernels/weight_quant.h"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kVector = ISOMER_VECTOR;
using Element = ISOMER_ELEMENT;

extern "C" __global__ void __launch_bounds__(kThreads) isomer_weight_quant(const WeightQuantParameters p) {
  __shared__ f32 most_of_warp[kThreads / kWarpSize];
  const i64 row_threads = i64{1} << p.row_threads_log2, down = kThreads >> p.row_threads_log2;
  const i64 across = static_cast<i64>(threadIdx.x) & (row_threads - 1);
  const i64 below = static_cast<i64>(threadIdx.x) >> p.row_threads_log2;
  for (i64 block = blockIdx.x; block < p.blocks; block += gridDim.x) {
    const i64 i = block / p.across, j = block - i * p.across;
    const i64 first_row = i * p.block_size, first = j * p.block_size;
    const i64 end_row = first_row + p.block_size < p.rows ? first_row + p.block_size : p.rows;
    const i64 end = first + p.block_size < p.columns ? first + p.block_size : p.columns;
    const Element* x = static_cast<const Element*>(p.x);
    e4m3fn* y = static_cast<e4m3fn*>(p.y);

    f32 most = 0;
    for (i64 row = first_row + below; row < end_row; row += down)
      for (i64 column = first + across * kVector; column < end; column += row_threads * kVector) {
        f32 values[kVector];
        to_f32(load<kVector>(x + row * p.x_row + column), values);
#pragma unroll
        for (int k = 0; k < kVector; ++k) most = max_with_nan(most, fabsf(values[k]));
      }
    most = max_with_nan_lanes<kWarpSize>(most);
    if (threadIdx.x % kWarpSize == 0) most_of_warp[threadIdx.x / kWarpSize] = most;
    __syncthreads();
    most = most_of_warp[0];
    for (int warp = 1; warp < kThreads / kWarpSize; ++warp) most = max_with_nan(most, most_of_warp[warp]);

    const f32 amax = most < p.amax_floor ? p.amax_floor : most;  // NaN stays
    f32 scale = amax / 448.0f;
    if (p.power_of_two) scale = power_of_two_above(scale);
    if (threadIdx.x == 0) p.s[i * p.s_row + j * p.s_column] = scale;
    for (i64 row = first_row + below; row < end_row; row += down)
      for (i64 column = first + across * kVector; column < end; column += row_threads * kVector) {
        f32 values[kVector];
        to_f32(load<kVector>(x + row * p.x_row + column), values);
#pragma unroll
        for (int k = 0; k < kVector; ++k) values[k] = values[k] / scale;
        store<kVector>(y + row * p.y_row + column, from_f32<e4m3fn>(values));
      }
    __syncthreads();  // the maxima are read before the next block's are written
  }
}

}  // namespace isomer::device
