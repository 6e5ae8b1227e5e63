// Attention of few query rows, 16-bit, by tensor cores, at the speed of memory: a block has up to kRows rows
// of one unit (a group's heads of a query or of a few) and the keys of one part, whose rows of K and V it
// reads once for all of them, each lane 16 bytes where they lie. Fragments: gpu/device/row_fragments.cuh, g =
// lane / 4 and t = lane % 4.
//
// Warps take tiles of 16 keys in turn, each with a running maximum of its own; they meet in shared memory.
//
//   pages of tile i+3 | places of tile i+2 | K of tile i+1, loaded once Sᵀ of tile i is made | V of tile i+1,
//   once Oᵀ has i
//
// A tile is 32·(D + Dv) bytes: 8 KB of a warp under way at 128.
#include "gpu/device/async_copy.cuh"
#include "gpu/device/overlap.cuh"
#include "gpu/device/portable.cuh"
#include "gpu/device/row_fragments.cuh"
#include "ops/attention/kernels/attention_entry.cuh"
#include "ops/attention/kernels/attention_non_finite.cuh"
#include "ops/attention/kernels/attention_result.cuh"
#include "ops/attention/kernels/attention_stream_k.cuh"
#include "ops/attention/kernels/attention_tile.cuh"

namespace isomer::device {

using Element = ISOMER_ELEMENT;
constexpr int kThreads = ISOMER_THREADS, kRows = ISOMER_BLOCK_M, kResident = ISOMER_RESIDENT;
constexpr int kDim = ISOMER_HEAD_DIM, kDimV = ISOMER_HEAD_DIM_V;  // rounded up
constexpr int kWarps = kThreads / 32, kTile = 16, kKeys = kWarps * kTile;
constexpr int kColumns = kRows / 8, kSteps = kDim / 32, kChunks = kDimV / 64;
constexpr int kPitch = kDim + 8;  // 16 bytes more than a row: eight rows of 16 bytes meet different banks
// Whether a lane has registers for K and V of a tile at once; else V is loaded when K has been used.
constexpr bool kAhead = kDim + kDimV <= 256;
static_assert(kWarpSize == 32 && kRows % 8 == 0 && kDim % 64 == 0 && kDimV % 64 == 0 &&
              kKeys == ISOMER_BLOCK_N);

/// Of each warp's keys: the largest logit of a row, Σ P and Σ P·v. Logits carry the factor log2(e).
struct Shared {
  attention::Task task;
  alignas(16) Element q[kRows * kPitch];
  int lo[kRows], hi[kRows];                      // keys that a row sees
  attention::KeyPlace places[kWarps][2][kTile];  // of two tiles
  f32 max[kWarps][kRows], sum[kWarps][kRows];
  alignas(16) f32 out[kWarps][kRows][kDimV];
  attention::Division<kThreads> division;
  i64 next;   // task, where each entry's keys are divided by itself; entry, where a worker has a share
  bool more;  // there is a task
};
static_assert(sizeof(Shared) <= 48 << 10);

using Out = f32[kColumns][kChunks][4][4];

/// Adds what elements of V that are not finite make of the sums, and takes them out of V: one that meets a
/// weight of 0 counts for nothing, any other makes the sum what it is.
ISOMER_DEVICE void add_non_finite(Out& out, Words (&v)[4][kChunks], const u32 (&weights)[kColumns][2]) {
  const u32 one = pack<Element>(1.0f, 0.0f);
#pragma unroll 1
  for (int negative = 0; negative < 2; ++negative) {
    const f32 sign = negative ? -infinity() : infinity();
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
      u32 weighed[2];
#pragma unroll
      for (int half = 0; half < 2; ++half)
        weighed[half] = ((weights[n][half] & 0x7fffu) != 0 ? one : 0u) |
                        ((weights[n][half] & 0x7fff0000u) != 0 ? one << 16 : 0u);
#pragma unroll
      for (int i = 0; i < kChunks; ++i)
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          Words ones = columns_of(v, i, w);
#pragma unroll
          for (int r = 0; r < 4; ++r)
            ones.of[r] = attention::non_finite_ones<Element>(ones.of[r], negative != 0);
          f32 count[4] = {};
          multiply_add<Element>(count, ones.of, weighed);
#pragma unroll
          for (int c = 0; c < 4; ++c)
            if (count[c] != 0.0f) out[n][i][w][c] += sign;
        }
    }
  }
#pragma unroll
  for (int i = 0; i < 16 * kChunks; ++i) {
    u32& pair = v[i / (4 * kChunks)][i / 4 % kChunks].of[i % 4];
    pair = attention::finite_only<Element>(pair);
  }
}

/// A warp's share of the task, into shared.max, shared.sum and shared.out. The first keys are asked for
/// before the queries.
ISOMER_DEVICE void attend(const AttentionParameters& p, Shared& shared) {
  const attention::Task& task = shared.task;
  const int g = lane() / 4, t = lane() % 4;
  const Element* keys = attention::at<const Element>(p.k, 0, 0, task.head_kv) + 8 * t;
  const Element* values = attention::at<const Element>(p.v, 0, 0, task.head_kv) + 8 * g;
  // How many pieces of a row this lane has.
  const int key_pieces = (p.head_dim - 8 * t + 31) / 32, value_pieces = (p.head_dim_v - 8 * g + 63) / 64;

  // Lane l looks after key l % 16 of a tile: `page` is its cache row or page, −1 where there is no such key.
  int begin = static_cast<int>(task.begin) + warp() * kTile;
  const int end = static_cast<int>(task.keys.hi);
  int page, row;
  const auto find_page = [&](int tile) {
    const int j = tile + lane() % kTile;
    page = -1;
    if (j < static_cast<int>(task.keys.lo) || j >= end) return;
    const AttentionPlace place = attention::place_of(p, task.entry, j);
    page = static_cast<int>(place.outer);
    row = static_cast<int>(place.row);
  };
  const auto put_places = [&](int turn) {
    attention::KeyPlace place{attention::kNowhere, attention::kNowhere};
    if (page >= 0)
      place = {page * p.k.outer_stride + row * p.k.row_stride,
               page * p.v.outer_stride + row * p.v.row_stride};
    if (lane() < kTile) shared.places[warp()][turn][lane()] = place;
    warp_barrier();
  };
  find_page(begin);
  put_places(0);
  find_page(begin + kKeys);
  put_places(1);
  find_page(begin + 2 * kKeys);

  Words k[2][kSteps] = {}, v[4][kChunks] = {};  // zero beyond D and Dv, for good
  bool exists[2];
  const auto load_keys = [&](int turn) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const i64 place = shared.places[warp()][turn][g + 8 * r].k;
      exists[r] = place != attention::kNowhere;
#pragma unroll
      for (int i = 0; i < kSteps; ++i) {
        if constexpr (!kAhead) k[r][i] = Words{};
        load_words_below(k[r][i], keys + place + 32 * i, i, exists[r] ? key_pieces : 0);
      }
    }
  };
  const auto load_values = [&](int turn) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const i64 place = shared.places[warp()][turn][2 * t + r % 2 + r / 2 * 8].v;
      const bool is = place != attention::kNowhere;
      // A weight of 0 does not undo an infinity that an earlier tile left here.
      if (!kAhead || !is) {
#pragma unroll
        for (int i = 0; i < kChunks; ++i) v[r][i] = Words{};
      }
#pragma unroll
      for (int i = 0; i < kChunks; ++i)
        load_words_below(v[r][i], values + place + 64 * i, i, is ? value_pieces : 0);
    }
  };
  load_keys(0);
  if constexpr (kAhead) load_values(0);

  attention::put_queries<Element, Element, kRows, kThreads, kPitch>(p, task.entry, task.tile, kDim, shared.q);
  if (threadIdx.x < kRows)
    task.seen_by(p, static_cast<int>(threadIdx.x), shared.lo[threadIdx.x], shared.hi[threadIdx.x]);
  __syncthreads();
  f32 max[kColumns][2], sum[kColumns][2];
  Words q[kColumns][kSteps];
  Out out;
#pragma unroll
  for (int n = 0; n < kColumns; ++n) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      max[n][e] = -infinity();
      sum[n][e] = 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kSteps; ++i)
      q[n][i] = bit_cast<Words>(load<8>(shared.q + (n * 8 + g) * kPitch + 32 * i + 8 * t));
#pragma unroll
    for (int i = 0; i < kChunks * 16; ++i) out[n][i / 16][i / 4 % 4][i % 4] = 0.0f;
  }

  for (int turn = 0; begin < end; begin += kKeys, turn ^= 1) {
    f32 s[kColumns][4];
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
#pragma unroll
      for (int c = 0; c < 4; ++c) s[n][c] = 0.0f;
      add_products<Element>(s[n], k, q[n]);
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        s[n][c] *= task.factor;
        if (p.softcap > 0) s[n][c] = p.softcap * kLog2E * tanhf(s[n][c]);
        const int j = begin + g + c / 2 * 8, seen_by = n * 8 + 2 * t + c % 2;
        if (!exists[c / 2] || j < shared.lo[seen_by] || j >= shared.hi[seen_by]) s[n][c] = -infinity();
      }
    }
    if constexpr (kAhead)
      load_keys(turn ^ 1);
    else
      load_values(turn);

    u32 weights[kColumns][2];
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
      f32 base[2], decay[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        f32 now = fmaxf(max[n][e], fmaxf(s[n][e], s[n][e + 2]));
#pragma unroll
        for (int mask = 4; mask < 32; mask *= 2) now = fmaxf(now, shuffle_xor(now, mask));
        base[e] = origin_of(now);  // a row that has seen no key keeps −inf
        decay[e] = now == max[n][e] ? 1.0f : exp2_fast(max[n][e] - base[e]);
        max[n][e] = now;
        sum[n][e] *= decay[e];
      }
      // A new maximum is rare after the first keys.
      if (decay[0] != 1.0f || decay[1] != 1.0f) {
#pragma unroll
        for (int i = 0; i < kChunks * 16; ++i) out[n][i / 16][i / 4 % 4][i % 4] *= decay[i % 2];
      }
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        s[n][c] = exp2_fast(s[n][c] - base[c % 2]);
        sum[n][c % 2] += s[n][c];
      }
      weights[n][0] = weights_of<Element>(s[n][0], s[n][1]);
      weights[n][1] = weights_of<Element>(s[n][2], s[n][3]);
    }
    u32 noted = 0;
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
      for (int i = 0; i < kChunks * 4; ++i) attention::note_non_finite<Element>(noted, v[r][i / 4].of[i % 4]);
    if (any_lane((noted & 0x7fff7fffu) != 0)) add_non_finite(out, v, weights);
    add_rows<Element>(out, v, weights);
    if constexpr (kAhead)
      load_values(turn ^ 1);
    else
      load_keys(turn ^ 1);
    warp_barrier();  // every lane has read the places that are put down again
    put_places(turn);
    find_page(begin + 3 * kKeys);
  }

#pragma unroll
  for (int n = 0; n < kColumns; ++n)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int row = n * 8 + 2 * t + e;
#pragma unroll
      for (int mask = 4; mask < 32; mask *= 2) sum[n][e] += shuffle_xor(sum[n][e], mask);
      if (g == 0) {
        shared.max[warp()][row] = max[n][e];
        shared.sum[warp()][row] = sum[n][e];
      }
#pragma unroll
      for (int i = 0; i < kChunks; ++i)
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          const int d = 64 * i + 8 * g + 2 * w;
          shared.out[warp()][row][d] = out[n][i][w][e];
          shared.out[warp()][row][d + 1] = out[n][i][w][e + 2];
        }
    }
}

/// What the warps found, together: the part's result for the combine, or out and lse.
ISOMER_DEVICE void finish(const AttentionParameters& p, const Shared& shared) {
  const attention::Task& t = shared.task;
  for (int at = static_cast<int>(threadIdx.x); at < t.tile.rows * (kDimV / 4); at += kThreads) {
    const int r = at / (kDimV / 4), column = at % (kDimV / 4) * 4;
    if (column >= p.head_dim_v) continue;
    f32 o[4] = {};
    const SoftmaxState all = join<kWarps>(
        [&](int w) {
          return SoftmaxState{shared.max[w][r], shared.sum[w][r]};
        },
        [&](int w, f32 share) {
          const Vector<f32, 4> some = load<4>(&shared.out[w][r][column]);
#pragma unroll
          for (int c = 0; c < 4; ++c) o[c] += share * some.of[c];
        });
    if (p.parts > 1) {
      const i64 row = attention::partial_row(p, t, r);
      store<4>(p.partial_out + row * p.head_dim_v + column, Vector<f32, 4>{{o[0], o[1], o[2], o[3]}});
      if (column == 0) {
        p.partial_state[row * 2] = all.max;
        p.partial_state[row * 2 + 1] = all.sum;
      }
      continue;
    }
    const i64 i = t.entry.q_row + t.tile.query(r), head = t.tile.head(r);
    const attention::Result result = attention::result_of(p, t.b, head, all);
    attention::write<Element>(p, attention::at<Element>(p.out, t.entry.q_outer, i, head) + column, o,
                              result.factor);
    if (column == 0 && p.lse.data) *attention::at<f32>(p.lse, t.entry.q_outer, i, head) = result.lse;
  }
}

ISOMER_DEVICE i64 worker_of(const AttentionParameters& p) {
  return quotient_of(quotient_of(static_cast<i64>(blockIdx.x), p.of_tiles), p.of_units);
}

/// Puts down the block's next task. One thread does it.
ISOMER_DEVICE bool next_task(const AttentionParameters& p, Shared& shared) {
  if (p.workers == 0) {
    if (shared.next >= p.tiles * p.units * p.batch * p.parts) return false;
    shared.task = attention::task_of<kRows, kKeys>(p, shared.next);
    shared.next += gridDim.x;
    return true;
  }
  const attention::Division<kThreads>& d = shared.division;
  const int blocks = static_cast<int>(p.tiles * p.units), worker = static_cast<int>(worker_of(p));
  const i64 begin = static_cast<i64>(worker) * d.share, end = begin + d.share;
  if (shared.next >= p.batch || d.before[shared.next] >= end) return false;
  const i64 b = shared.next++;
  const i64 before = d.before[b], after = d.before[b + 1];
  const AttentionEntry entry = attention::entry_of(p, b);
  const i64 shift = attention::seen_tiles<kKeys>(p, entry).first - before;
  const i64 from = (begin > before ? begin : before) + shift, to = least(end, after) + shift;
  shared.task =
      attention::task_between<kRows, kKeys>(p, static_cast<int>(blockIdx.x) - worker * blocks, b, entry,
                                            worker - d.before[b] / d.share, from * kKeys, to * kKeys);
  return true;
}

extern "C" __global__ void __launch_bounds__(kThreads, kResident)
    isomer_attention_decode(const AttentionParameters p) {
  __shared__ Shared shared;
  let_next_begin();
  if (p.workers > 0) shared.division.template fill<kKeys>(p);
  if (threadIdx.x == 0) {
    shared.next =
        p.workers > 0 ? shared.division.entry_at(p, worker_of(p) * shared.division.share) : blockIdx.x;
  }
  for (;;) {
    if (threadIdx.x == 0) shared.more = next_task(p, shared);
    __syncthreads();
    if (!shared.more) break;
    if (shared.task.exists) {
      attend(p, shared);
      __syncthreads();
      finish(p, shared);
    }
    __syncthreads();
  }
}

}  // namespace isomer::device
