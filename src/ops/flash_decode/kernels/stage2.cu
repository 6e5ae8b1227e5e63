// Merges the results of a row's blocks. A block of threads owns one row and kColumns of its elements: kLanes
// lanes share a block's result, 16 bytes each, and kGroups of them take the row's blocks in turn, kUnroll at
// a time with their lse. Each group has its own running maximum, sum and accumulators; they are added in
// shared memory. In one call with stage 1 the launch begins while that ends.
#include "gpu/device/overlap.cuh"
#include "gpu/device/portable.cuh"
#include "gpu/device/softmax_state.cuh"
#include "gpu/device/words.cuh"
#include "ops/flash_decode/kernels/stage2.h"
#include "ops/flash_decode/kernels/tables.cuh"

namespace isomer::device {

using Element = ISOMER_ELEMENT_MID;
using Out = ISOMER_ELEMENT_OUT;
constexpr int kThreads = ISOMER_THREADS_MERGE, kLanes = ISOMER_LANES_OF_ROW, kUnroll = ISOMER_UNROLL_MERGE;
constexpr bool kVectors =
    ISOMER_VECTORS_MID != 0;  // rows of mid_out are contiguous multiples of 16 bytes, and aligned so
constexpr int kVector = 16 / sizeof(Element);
constexpr int kColumns = kLanes * kVector;
constexpr int kGroups = kThreads / kLanes;

extern "C" __global__ void __launch_bounds__(kThreads)
    isomer_flash_decode_stage2(const FlashDecodeStage2Parameters p) {
  __shared__ f32 shared_largest[kGroups], shared_sum[kGroups];
  __shared__ f32 shared_out[kGroups][kColumns];
  const int sub = static_cast<int>(threadIdx.x) % kLanes, group = static_cast<int>(threadIdx.x) / kLanes;
  const i64 h = static_cast<int>(blockIdx.x) / p.chunks;
  const i64 first = (static_cast<int>(blockIdx.x) - h * p.chunks) * kColumns, d = first + sub * kVector;

  // Lanes beyond D read the row's first elements, for nothing.
  const i64 from = d < p.head_dim ? d : 0;
  const int columns = static_cast<int>(p.head_dim - from < kVector ? p.head_dim - from : kVector);

  wait_for_previous();
  for (i64 b = blockIdx.z; b < p.batch; b += gridDim.z) {
    const i64 length = length_of(p, b);
    const i64 blocks = length <= 0 ? 0 : (length - 1) / p.block_seq + 1;
    const Element* mid =
        static_cast<const Element*>(p.mid_out) + b * p.mid_batch + h * p.mid_head + from * p.mid_inner;
    const f32* lse = p.mid_lse + b * p.lse_batch + h * p.lse_head;

    f32 largest = -infinity(), sum = 0.0f, out[kVector];
#pragma unroll
    for (int i = 0; i < kVector; ++i) out[i] = 0.0f;
    for (i64 j = group; j < blocks; j += kUnroll * kGroups) {
      Words part[kUnroll];
      f32 weight[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        // Past the end the last block is read again: a branch here would make the compiler use each read
        // before the next.
        const i64 block = j + u * kGroups < blocks ? j + u * kGroups : blocks - 1;
        weight[u] = lse[block * p.lse_block] * kLog2E;
        if constexpr (kVectors)
          part[u] = *reinterpret_cast<const Words*>(mid + block * p.mid_block);
        else
          part[u] = gather_words(mid + block * p.mid_block, p.mid_inner, columns);
      }
#pragma unroll
      for (int u = 1; u < kUnroll; ++u)
        if (j + u * kGroups >= blocks) weight[u] = -infinity();
      f32 now = largest;
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) now = weight[u] > now ? weight[u] : now;
      const f32 factor = largest == now ? 1.0f : exp2_fast(largest - now);
      const f32 origin = origin_of(now);
      largest = now;
      sum *= factor;
#pragma unroll
      for (int i = 0; i < kVector; ++i) out[i] *= factor;
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const f32 w = exp2_fast(weight[u] - origin);
        f32 x[kVector];
        unpack<Element>(part[u], x);
        sum += w;
        // What a block without weight holds may be anything, NaN too.
#pragma unroll
        for (int i = 0; i < kVector; ++i) out[i] += w * (weight[u] == -infinity() ? 0.0f : x[i]);
      }
    }

    if (sub == 0) {
      shared_largest[group] = largest;
      shared_sum[group] = sum;
    }
#pragma unroll
    for (int i = 0; i < kVector; ++i) shared_out[group][sub * kVector + i] = out[i];
    __syncthreads();
    Out* to = static_cast<Out*>(p.out) + b * p.out_batch + h * p.out_head;
    for (int column = static_cast<int>(threadIdx.x); column < kColumns && first + column < p.head_dim;
         column += kThreads) {
      f32 value = 0.0f;
      const SoftmaxState all = join<kGroups>(
          [&](int g) {
            return SoftmaxState{shared_largest[g], shared_sum[g]};
          },
          [&](int g, f32 share) { value += share * shared_out[g][column]; });
      to[(first + column) * p.out_inner] = from_f32<Out>(all.sum == 0.0f ? 0.0f : value / all.sum);
    }
    __syncthreads();
  }
}

}  // namespace isomer::device
