// Joins the partial results of an entry's parts. Where parts are few, 16 lanes have a row (32 or 64 a wide
// one), eight columns each, and go through its parts four at a time. Where rows are few and parts many, all
// warps of a block share a row: they take its parts in turn, the lanes of a warp read the states of as many
// parts at once, and a lane has four adjacent columns, or eight. Behind a decode launch it begins while that
// ends.
#include "gpu/device/overlap.cuh"
#include "gpu/device/portable.cuh"
#include "gpu/device/softmax_state.cuh"
#include "ops/attention/kernels/attention_entry.cuh"
#include "ops/attention/kernels/attention_result.cuh"
#include "ops/attention/kernels/attention_stream_k.cuh"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kKeys = ISOMER_BLOCK_N, kColumns = ISOMER_COLUMNS;
constexpr bool kTogether = ISOMER_TOGETHER;  // a block for each row
constexpr int kWarps = kThreads / kWarpSize, kLanes = kTogether ? kWarpSize : kColumns / 8;  // of a row
constexpr int kRows = kTogether ? 1 : kThreads / kLanes;                                     // of a block
constexpr int kVectors = kTogether ? (kColumns + kWarpSize * 4 - 1) / (kWarpSize * 4) : 2;   // of a lane
constexpr int kUnroll = kVectors > 2 ? 2 : 4;  // parts whose values are under way: registers
using Element = ISOMER_ELEMENT_OUT;
using Out = f32[kVectors][4];

ISOMER_DEVICE int column(int vector) {
  return (vector * kLanes + static_cast<int>(threadIdx.x) % kLanes) * 4;
}

/// All parts of the row whose first partial row is `row`, as one.
ISOMER_DEVICE SoftmaxState gather_few(const AttentionParameters& p, i64 row, int parts, Out& o) {
  const i64 step = p.heads * p.partial_rows, step_out = step * p.head_dim_v;
  const f32* state = p.partial_state + row * 2;
  const f32* out = p.partial_out + row * p.head_dim_v;
  SoftmaxState all{-infinity(), 0.0f};
  for (int begin = 0; begin < parts; begin += kUnroll) {
    Vector<f32, 2> states[kUnroll];
    Vector<f32, 4> some[kUnroll][kVectors];
    f32 now = all.max;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      states[u] = {{-infinity(), 0.0f}};
      if (begin + u >= parts) continue;
      states[u] = load<2>(state);
      state += step * 2;
#pragma unroll
      for (int v = 0; v < kVectors; ++v)
        if (column(v) < p.head_dim_v) some[u][v] = load<4>(out + column(v));
      out += step_out;
    }
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) now = fmaxf(now, states[u].of[0]);
    const f32 decay = share_of(all.max, now);
    all = {now, all.sum * decay};
#pragma unroll
    for (int c = 0; c < kVectors * 4; ++c) o[c / 4][c % 4] *= decay;
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const f32 weight = share_of(states[u].of[0], now);
      all.sum += weight * states[u].of[1];  // NaN where all logits are, although the weight is 0
      if (weight == 0.0f) continue;         // a part of no keys, whose Σ P·v may be anything
#pragma unroll
      for (int c = 0; c < kVectors * 4; ++c) o[c / 4][c % 4] += some[u][c / 4].of[c % 4] * weight;
    }
  }
  return all;
}

/// Parts `first`, first + kWarps, … of it.
ISOMER_DEVICE SoftmaxState gather(const AttentionParameters& p, i64 row, int first, int parts, Out& o) {
  const i64 step = p.heads * p.partial_rows;
  SoftmaxState all{-infinity(), 0.0f};
  for (int begin = first; begin < parts; begin += kWarpSize * kWarps) {
    const int left = (parts - begin + kWarps - 1) / kWarps, count = left < kWarpSize ? left : kWarpSize;
    Vector<f32, 4> some[kUnroll][kVectors];
    const auto fetch = [&](int from) {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const i64 part = row + (begin + (from + u < count ? from + u : from) * kWarps) * step;
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
          if (column(v) < p.head_dim_v) some[u][v] = load<4>(p.partial_out + part * p.head_dim_v + column(v));
      }
    };
    fetch(0);
    SoftmaxState mine{-infinity(), 0.0f};
    if (lane() < count) {
      const i64 part = row + (begin + lane() * kWarps) * step;
      const Vector<f32, 2> state = load<2>(p.partial_state + part * 2);
      mine = {state.of[0], state.of[1]};
    }
    f32 now = fmaxf(all.max, mine.max);
#pragma unroll
    for (int mask = 1; mask < kWarpSize; mask *= 2) now = fmaxf(now, shuffle_xor(now, mask));
    const f32 decay = share_of(all.max, now), weight = share_of(mine.max, now);
    f32 sum = weight * mine.sum;  // NaN where all logits are, although the weight is 0
#pragma unroll
    for (int mask = 1; mask < kWarpSize; mask *= 2) sum += shuffle_xor(sum, mask);
    all = {now, all.sum * decay + sum};
#pragma unroll
    for (int c = 0; c < kVectors * 4; ++c) o[c / 4][c % 4] *= decay;
    for (int s = 0; s < count; s += kUnroll) {
      if (s > 0) fetch(s);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const f32 its = shuffle(weight, (s + u) % kWarpSize);
        if (s + u >= count || its == 0.0f) continue;  // a part of no keys, whose Σ P·v may be anything
#pragma unroll
        for (int c = 0; c < kVectors * 4; ++c) o[c / 4][c % 4] += some[u][c / 4].of[c % 4] * its;
      }
    }
  }
  return all;
}

extern "C" __global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, 640 / kThreads))
    isomer_attention_combine(const AttentionParameters p) {
  __shared__ SoftmaxState states[kWarps];
  __shared__ Vector<f32, 4> outs[kTogether ? kWarps : 1][kVectors][kWarpSize];
  const i64 all = p.batch * p.seqlen_q * p.heads;
  wait_for_previous();
  for (i64 begin = static_cast<i64>(blockIdx.x) * kRows; begin < all;
       begin += static_cast<i64>(gridDim.x) * kRows) {
    const i64 n = begin + (kTogether ? 0 : static_cast<int>(threadIdx.x) / kLanes);
    const i64 query = quotient_of(n, p.of_heads), b = quotient_of(query, p.of_seqlen_q);
    const i64 head = n - query * p.heads, i = query - b * p.seqlen_q;
    AttentionEntry e{};
    if (n < all) e = attention::entry_of(p, b);
    int parts = 0;
    if (i < e.q_len) {
      if (p.workers > 0) {
        const int before = p.division[b], behind = p.division[b + 1], share = p.division[p.batch + 1];
        if (behind > before) parts = (behind - 1) / share - before / share + 1;
      } else if (const i64 size = attention::part_keys(p, e, kKeys); size > 0) {
        parts = size >= e.k_len ? e.k_len > 0 : (static_cast<int>(e.k_len) - 1) / static_cast<int>(size) + 1;
        if (parts > p.parts) parts = static_cast<int>(p.parts);
      }
    }
    Out o = {};
    SoftmaxState state;
    const i64 row = head * p.partial_rows + e.q_outer * p.q.rows + e.q_row + i;
    if constexpr (kTogether) {
      state = gather(p, row, warp(), parts, o);
      if (lane() == 0) states[warp()] = state;
#pragma unroll
      for (int v = 0; v < kVectors; ++v) outs[warp()][v][lane()] = {{o[v][0], o[v][1], o[v][2], o[v][3]}};
      __syncthreads();
      if (warp() == 0) {
#pragma unroll
        for (int c = 0; c < kVectors * 4; ++c) o[c / 4][c % 4] = 0.0f;
        state = join<kWarps>([&](int w) { return states[w]; },
                             [&](int w, f32 share) {
#pragma unroll
                               for (int c = 0; c < kVectors * 4; ++c)
                                 o[c / 4][c % 4] += share * outs[w][c / 4][lane()].of[c % 4];
                             });
      }
      __syncthreads();
    } else {
      state = gather_few(p, row, parts, o);
    }
    if (i >= e.q_len || (kTogether && warp() > 0)) continue;
    const attention::Result result = attention::result_of(p, b, head, state);
    Element* to = attention::at<Element>(p.out, e.q_outer, e.q_row + i, head);
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      if (column(v) < p.head_dim_v) attention::write<Element>(p, to + column(v), o[v], result.factor);
    if (column(0) == 0 && p.lse.data) *attention::at<f32>(p.lse, e.q_outer, e.q_row + i, head) = result.lse;
  }
}

}  // namespace isomer::device
