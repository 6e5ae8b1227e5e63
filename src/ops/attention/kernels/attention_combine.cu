// Joins the partial results of an entry's parts: a block for each row of one head. Groups of kLanes threads,
// four columns each, take the parts in turn, kUnroll at a time. Behind a decode launch it begins while that
// ends.
#include "gpu/device/overlap.cuh"
#include "gpu/device/portable.cuh"
#include "gpu/device/softmax_state.cuh"
#include "ops/attention/kernels/attention_entry.cuh"
#include "ops/attention/kernels/attention_result.cuh"
#include "ops/attention/kernels/attention_stream_k.cuh"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kLanes = ISOMER_LANES_OF_ROW, kKeys = ISOMER_BLOCK_N;
constexpr int kGroups = kThreads / kLanes, kUnroll = 4;
constexpr int kMost = 256;  // parts whose weights are known at once
using Element = ISOMER_ELEMENT_OUT;

extern "C" __global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, 5))
    isomer_attention_combine(const AttentionParameters p) {
  // Maximum and sum of a part; then its weight, and the weighed sum.
  __shared__ Vector<f32, 2> states[kMost];
  __shared__ Vector<f32, 4> outs[kGroups][kLanes];
  __shared__ attention::Division<kThreads> division;
  const int group = static_cast<int>(threadIdx.x) / kLanes, member = static_cast<int>(threadIdx.x) % kLanes;
  const int column = member * 4;
  const bool inside = column < p.head_dim_v;
  const i64 all = p.batch * p.seqlen_q * p.heads;
  if (p.workers > 0) division.template fill<kKeys>(p);
  wait_for_previous();
  for (i64 n = blockIdx.x; n < all; n += gridDim.x) {
    const i64 query = quotient_of(n, p.of_heads), b = quotient_of(query, p.of_seqlen_q);
    const i64 head = n - query * p.heads, i = query - b * p.seqlen_q;
    const AttentionEntry e = attention::entry_of(p, b);
    if (i >= e.q_len) continue;
    i64 parts = 0;
    if (p.workers > 0) {
      const int begin = division.before[b], end = division.before[b + 1];
      if (end > begin) parts = (end - 1) / division.share - begin / division.share + 1;
    } else if (const i64 size = attention::part_keys(p, e, kKeys); size > 0) {
      parts = least((e.k_len + size - 1) / size, p.parts);
    }
    const i64 row = e.q_outer * p.q.rows + e.q_row + i, step = p.heads * p.partial_rows;
    const i64 first = head * p.partial_rows + row;
    f32 max = -infinity(), sum = 0, o[4] = {};
    for (i64 begin = 0; begin < parts; begin += kMost) {
      const int count = static_cast<int>(least(kMost, parts - begin));
      for (int s = static_cast<int>(threadIdx.x); s < count; s += kThreads)
        states[s] = load<2>(p.partial_state + (first + (begin + s) * step) * 2);
      __syncthreads();
      f32 now = max;
      for (int s = 0; s < count; ++s) now = fmaxf(now, states[s].of[0]);
      const f32 decay = share_of(max, now);
      max = now;
      __syncthreads();
      for (int s = static_cast<int>(threadIdx.x); s < count; s += kThreads) {
        const Vector<f32, 2> state = states[s];
        const f32 weight = share_of(state.of[0], now);
        states[s] = {{weight, weight * state.of[1]}};
      }
      __syncthreads();
      sum *= decay;
      for (int s = 0; s < count; ++s) sum += states[s].of[1];
#pragma unroll
      for (int c = 0; c < 4; ++c) o[c] *= decay;
      for (int s = group; inside && s < count; s += kGroups * kUnroll) {
        Vector<f32, 4> part[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          const int of = s + u * kGroups < count ? s + u * kGroups : s;
          part[u] = load<4>(p.partial_out + (first + (begin + of) * step) * p.head_dim_v + column);
        }
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          if (s + u * kGroups >= count || states[s + u * kGroups].of[0] == 0.0f) continue;
#pragma unroll
          for (int c = 0; c < 4; ++c) o[c] += part[u].of[c] * states[s + u * kGroups].of[0];
        }
      }
      __syncthreads();
    }
    outs[group][member] = {{o[0], o[1], o[2], o[3]}};
    __syncthreads();
    if (group == 0) {
#pragma unroll
      for (int other = 1; other < kGroups; ++other)
#pragma unroll
        for (int c = 0; c < 4; ++c) o[c] += outs[other][member].of[c];
      const attention::Result result = attention::result_of(p, b, head, {max, sum});
      if (inside)
        attention::write<Element>(p, attention::at<Element>(p.out, e.q_outer, e.q_row + i, head) + column, o,
                                  result.factor);
      if (column == 0 && p.lse.data) *attention::at<f32>(p.lse, e.q_outer, e.q_row + i, head) = result.lse;
    }
    __syncthreads();
  }
}

}  // namespace isomer::device
