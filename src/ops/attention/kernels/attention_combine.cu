// Joins the partial results of an entry's parts. Where parts are few, 16 lanes have a row (32 or 64 a wide
// one), eight columns each, and go through its parts four at a time. Where rows are few and parts many, all
// warps of a block share a row: they take its parts in turn, the lanes of a warp read the states of as many
// parts at once, and a lane has four adjacent columns, or eight. It begins while the launch that made the
// parts ends, and finds its first row before it waits for them: that launch has waited for all in front of
// it.
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
// Parts whose values are under way: registers.
constexpr int kUnroll = kVectors > 2 ? 2 : kTogether&& kVectors == 1 ? 16 : 4;
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
        const i64 part = row + (begin + (from + u) * kWarps) * step;
#pragma unroll
        for (int v = 0; v < kVectors; ++v)
          if (from + u < count && column(v) < p.head_dim_v)
            some[u][v] = load<4>(p.partial_out + part * p.head_dim_v + column(v));
      }
    };
    // States first: they say what the values count, which come one behind the other.
    SoftmaxState mine{-infinity(), 0.0f};
    if (lane() < count) {
      const i64 part = row + (begin + lane() * kWarps) * step;
      const Vector<f32, 2> state = load<2>(p.partial_state + part * 2);
      mine = {state.of[0], state.of[1]};
    }
    fetch(0);
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

/// One of the rows that a thread, or the block, joins.
struct Row {
  i64 b, i, head;
  AttentionEntry entry;
  bool exists;

  ISOMER_DEVICE Row(const AttentionParameters& p, i64 begin) {
    const i64 n = begin + (kTogether ? 0 : static_cast<int>(threadIdx.x) / kLanes);
    const i64 query = quotient_of(n, p.of_heads);
    b = quotient_of(query, p.of_seqlen_q);
    head = n - query * p.heads;
    i = query - b * p.seqlen_q;
    entry = {};
    if (n < p.batch * p.seqlen_q * p.heads) entry = attention::entry_of(p, b);
    exists = i < entry.q_len;
  }
  ISOMER_DEVICE int parts(const AttentionParameters& p) const {
    if (!exists) return 0;
    if (p.workers > 0) {
      const u32 before = static_cast<u32>(p.division[b]), behind = static_cast<u32>(p.division[b + 1]),
                share = static_cast<u32>(p.division[p.batch + 1]);
      return behind > before ? static_cast<int>((behind - 1) / share - before / share) + 1 : 0;
    }
    const i64 size = attention::part_keys(p, entry, kKeys);
    if (size <= 0 || entry.k_len <= 0) return 0;
    const i64 parts =
        size >= entry.k_len ? 1 : (static_cast<int>(entry.k_len) - 1) / static_cast<int>(size) + 1;
    return static_cast<int>(least(parts, p.parts));
  }
};

ISOMER_DEVICE void write_row(const AttentionParameters& p, const Row& row, const Out& o,
                             const SoftmaxState& state) {
  const attention::Result result = attention::result_of(p, row.b, row.head, state);
  const i64 outer = row.entry.q_outer, at = row.entry.q_row + row.i;
  Element* to = attention::at<Element>(p.out, outer, at, row.head);
#pragma unroll
  for (int v = 0; v < kVectors; ++v)
    if (column(v) < p.head_dim_v) attention::write<Element>(p, to + column(v), o[v], result.factor);
  if (column(0) == 0 && p.lse.data) *attention::at<f32>(p.lse, outer, at, row.head) = result.lse;
}

extern "C" __global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, 640 / kThreads))
    isomer_attention_combine(const AttentionParameters p) {
  __shared__ SoftmaxState states[kWarps];
  __shared__ Vector<f32, 4> outs[kTogether ? kWarps : 1][kVectors][kWarpSize];
  const i64 all = p.batch * p.seqlen_q * p.heads;
  i64 begin = static_cast<i64>(blockIdx.x) * kRows;
  Row at(p, begin);
  wait_for_previous();
  for (;;) {
    const int parts = at.parts(p);
    Out o = {};
    SoftmaxState state;
    const i64 row = at.head * p.partial_rows + at.entry.q_outer * p.q.rows + at.entry.q_row + at.i;
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
    if (at.exists && !(kTogether && warp() > 0)) write_row(p, at, o, state);
    begin += static_cast<i64>(gridDim.x) * kRows;
    if (begin >= all) break;
    at = Row(p, begin);
  }
}

}  // namespace isomer::device
