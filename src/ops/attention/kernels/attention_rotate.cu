// Writes the queries, rotated, into a buffer of the call's own, where a kernel that copies whole tiles of
// them reads them: a group of lanes for each row of one head. Rows behind an entry's queries become zeros.
#include "gpu/device/portable.cuh"
#include "ops/attention/kernels/attention_entry.cuh"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kLanes = 16;
constexpr int kGroups = kThreads / kLanes;
using Element = ISOMER_ELEMENT;

extern "C" __global__ void __launch_bounds__(kThreads)
    isomer_attention_rotate(const AttentionRotateParameters p) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const bool masked = p.window_left >= 0 || p.window_right >= 0 || p.chunk > 0;
  const i64 all = p.batch * p.seqlen_q * p.heads;
  for (i64 n = static_cast<i64>(blockIdx.x) * kGroups + threadIdx.x / kLanes; n < all;
       n += static_cast<i64>(gridDim.x) * kGroups) {
    const i64 row_of_all = quotient_of(n, p.of_heads), head = n - row_of_all * p.heads;
    const i64 b = quotient_of(row_of_all, p.of_seqlen_q), i = row_of_all - b * p.seqlen_q;
    const AttentionEntry e = attention::entry_of(p, b);
    if (i >= e.q_len && p.cu_seqlens_q) continue;  // another entry's, perhaps
    const Element* from = attention::at<const Element>(p.q, e.q_outer, e.q_row + i, head);
    Element* to = attention::at<Element>(p.turned, e.q_outer, e.q_row + i, head);
    for (int d = lane; d < p.head_dim; d += kLanes)
      to[d] = from_f32<Element>(i < e.q_len ? attention::turned(p, from, d, e.position + (masked ? i : 0))
                                            : 0.0f);
  }
}

}  // namespace isomer::device
