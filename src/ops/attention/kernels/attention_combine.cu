// Joins the partial results of an entry's parts, in their order: 64 threads for each row of one head, four
// columns each. Behind a decode launch it begins while that ends.
#include "gpu/device/overlap.cuh"
#include "gpu/device/portable.cuh"
#include "ops/attention/kernels/attention_entry.cuh"
#include "ops/attention/kernels/attention_result.cuh"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kLanes = 64, kKeys = ISOMER_BLOCK_N;
constexpr int kRows = kThreads / kLanes;
using Element = ISOMER_ELEMENT_OUT;

extern "C" __global__ void __launch_bounds__(kThreads) isomer_attention_combine(const AttentionParameters p) {
  const int column = static_cast<int>(threadIdx.x) % kLanes * 4;
  const i64 all = p.batch * p.seqlen_q * p.heads;
  wait_for_previous();
  for (i64 n = static_cast<i64>(blockIdx.x) * kRows + threadIdx.x / kLanes; n < all;
       n += static_cast<i64>(gridDim.x) * kRows) {
    const i64 head = n % p.heads, i = n / p.heads % p.seqlen_q, b = n / p.heads / p.seqlen_q;
    const AttentionEntry e = attention::entry_of(p, b);
    if (i >= e.q_len) continue;
    const i64 size = attention::part_keys(p, e, kKeys);
    const i64 parts = size > 0 ? least((e.k_len + size - 1) / size, p.parts) : 0;
    const i64 row = e.q_outer * p.q.rows + e.q_row + i, step = p.heads * p.partial_rows;
    const i64 first = head * p.partial_rows + row;
    f32 max = -infinity();
    for (i64 s = 0; s < parts; ++s) max = fmaxf(max, p.partial_state[(first + s * step) * 2]);
    const f32 base = max == -infinity() ? 0.0f : max;
    f32 sum = 0, o[4] = {};
    for (i64 s = 0; s < parts; ++s) {
      const f32* state = p.partial_state + (first + s * step) * 2;
      if (state[1] == 0.0f) continue;
      const f32 weight = exp2_fast(state[0] - base);
      sum += state[1] * weight;
      if (column >= p.head_dim_v) continue;
      const Vector<f32, 4> part = load<4>(p.partial_out + (first + s * step) * p.head_dim_v + column);
#pragma unroll
      for (int c = 0; c < 4; ++c) o[c] += part.of[c] * weight;
    }
    const attention::Result result = attention::result_of(p, b, head, max, sum);
    if (column < p.head_dim_v)
      attention::write<Element>(p, attention::at<Element>(p.out, e.q_outer, e.q_row + i, head) + column, o,
                                result.factor);
    if (column == 0 && p.lse.data) *attention::at<f32>(p.lse, e.q_outer, e.q_row + i, head) = result.lse;
  }
}

}  // namespace isomer::device
