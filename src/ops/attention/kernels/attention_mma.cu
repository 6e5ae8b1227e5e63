// Attention by tiles on tensor cores: a block owns up to kRows query rows, 16 to a group of 32 lanes, and
// takes their keys kKeys at a time, with the softmax's maximum, sum and Σ P·v carried in f32 registers. q, k
// and v lie in shared memory in a 16-bit type that holds them exactly, k and v one after the other in one
// place; P is rounded to that type and stays in registers.
#include "gpu/device/mma.cuh"
#include "gpu/device/pairs.cuh"
#include "gpu/device/portable.cuh"
#include "ops/attention/kernels/attention_entry.cuh"
#include "ops/attention/kernels/attention_non_finite.cuh"
#include "ops/attention/kernels/attention_result.cuh"
#include "ops/attention/kernels/attention_tile.cuh"

namespace isomer::device {

using Query = ISOMER_ELEMENT;
using Key = ISOMER_ELEMENT_KV;
using Factor = ISOMER_ELEMENT_MMA;

template <class T>
constexpr bool kIsHalf = false;
template <>
constexpr bool kIsHalf<f16> = true;
constexpr bool kIsF16 = kIsHalf<Factor>;
constexpr int kDim = ISOMER_HEAD_DIM, kDimV = ISOMER_HEAD_DIM_V;
constexpr int kRows = ISOMER_BLOCK_M, kKeys = ISOMER_BLOCK_N, kThreads = ISOMER_THREADS;

constexpr int kN = kKeys / 8;         // score fragments of a lane
constexpr int kColumns = kDimV / 16;  // pairs of fragments of out
static_assert(kWarpSize == 32 && kRows == kThreads / kWarpSize * 16 && kKeys % 16 == 0);

// 16 bytes more than a row: eight rows of 16 bytes meet different banks.
constexpr int kPitchQ = kDim + 8, kPitchK = kDim + 8, kPitchV = kDimV + 8;
constexpr int kPitchMost = kPitchK > kPitchV ? kPitchK : kPitchV;
constexpr int kHeld = kPitchMost > 136 ? 2 : kPitchMost > 72 ? 4 : 8;  // loads of a thread

struct Shared {
  alignas(16) Factor q[kRows * kPitchQ];
  alignas(16) Factor kv[kKeys * kPitchMost];
  attention::KeyPlace places[2][kKeys];
  attention::Task task;
};
static_assert(sizeof(Shared) == ISOMER_SHARED_BYTES);

/// A lane has rows g and g + 8 of its group's 16, g = lane / 4.
struct State {
  f32 max[2];  // times log2 e
  f32 sum[2];  // of this lane's keys
  f32 o[kColumns][2][4];
};

ISOMER_DEVICE int first_row() { return static_cast<int>(threadIdx.x) / kWarpSize * 16; }
/// Row r of the lane's two, in the tile.
ISOMER_DEVICE int row_of(int r) { return first_row() + lane() / 4 + 8 * r; }
/// First of the two columns that the lane has of a fragment.
ISOMER_DEVICE int column_of() { return lane() % 4 * 2; }

/// 16 rows of q or 16×16 of P: what the tensor core takes for a.
struct Rows16 {
  u32 of[4];
};
/// 16 keys or values by 8 columns of the product: what it takes for b.
struct Columns8 {
  u32 of[2];
};

ISOMER_DEVICE void multiply_add(f32 (&d)[4], const Rows16& a, const Columns8& b) {
  multiply_add<Factor>(d, a.of, b.of);
}
ISOMER_DEVICE Rows16 load_rows(const Factor* at) {
  Rows16 a;
  load_matrices(a.of, at + lane() % 16 * kPitchQ + lane() / 16 * 8);
  return a;
}
/// 16 elements of each of 16 keys, which are the product's columns.
ISOMER_DEVICE void load_keys(const Factor* at, Columns8 (&b)[2]) {
  u32 words[4];
  load_matrices(words, at + (lane() % 8 + lane() / 16 * 8) * kPitchK + lane() / 8 % 2 * 8);
  b[0] = {{words[0], words[1]}};
  b[1] = {{words[2], words[3]}};
}
/// 16 columns of 16 values.
ISOMER_DEVICE void load_values(const Factor* at, Columns8 (&b)[2]) {
  u32 words[4];
  load_matrices_transposed(words, at + lane() % 16 * kPitchV + lane() / 16 * 8);
  b[0] = {{words[0], words[1]}};
  b[1] = {{words[2], words[3]}};
}

/// Two adjacent elements, the first in the low half.
ISOMER_DEVICE u32 pair_of(f32 first, f32 second) {
  const f32 both[2] = {first, second};
  return bit_cast<u32>(from_f32<Factor, 2>(both));
}

ISOMER_DEVICE int padded(int columns) { return (columns + 15) / 16 * 16; }

/// Scores of this lane's rows and keys, as the exponents that exp2 takes.
ISOMER_DEVICE void score(const AttentionParameters& p, const attention::Task& t, const Shared& shared,
                         const int (&lo)[2], const int (&hi)[2], int begin, const attention::KeyPlace* places,
                         f32 (&s)[kN][4]) {
#pragma unroll
  for (int n = 0; n < kN; ++n)
#pragma unroll
    for (int c = 0; c < 4; ++c) s[n][c] = 0.0f;
#pragma unroll 2
  for (int d = 0; d < p.head_dim; d += 16) {
    const Rows16 q = load_rows(shared.q + first_row() * kPitchQ + d);
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      Columns8 k[2];
      load_keys(shared.kv + n * 8 * kPitchK + d, k);
      multiply_add(s[n], q, k[0]);
      multiply_add(s[n + 1], q, k[1]);
    }
  }
#pragma unroll
  for (int n = 0; n < kN; ++n)
#pragma unroll
    for (int c = 0; c < 4; ++c) s[n][c] *= t.factor;
  if (p.softcap > 0) {
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int c = 0; c < 4; ++c) s[n][c] = p.softcap * kLog2E * tanhf(s[n][c]);
  }
  bool whole = !p.page_table;
#pragma unroll
  for (int r = 0; r < 2; ++r) whole = whole && lo[r] <= begin && begin + kKeys <= hi[r];
  if (whole) return;
#pragma unroll
  for (int n = 0; n < kN; ++n)
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int key = n * 8 + column_of() + c % 2, j = begin + key;
      if (j < lo[c / 2] || j >= hi[c / 2] || places[key].k == attention::kNowhere) s[n][c] = -infinity();
    }
}

/// Takes the scores into the running softmax; they become P.
ISOMER_DEVICE void weigh(f32 (&s)[kN][4], State& state) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    f32 max = fmaxf(s[0][2 * r], s[0][2 * r + 1]);
#pragma unroll
    for (int n = 1; n < kN; ++n) max = fmaxf(max, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
    max = fmaxf(reduce_lanes<4>(max, [](f32 a, f32 b) { return fmaxf(a, b); }), state.max[r]);
    // A row that has seen no key keeps −inf.
    const f32 base = origin_of(max);
    const f32 decay = exp2_fast(state.max[r] - base);
    state.max[r] = max;
    f32 sum = 0.0f;
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int c = 2 * r; c < 2 * r + 2; ++c) {
        s[n][c] = exp2_fast(s[n][c] - base);
        sum += s[n][c];
      }
    state.sum[r] = state.sum[r] * decay + sum;
#pragma unroll
    for (int u = 0; u < kColumns; ++u)
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int c = 2 * r; c < 2 * r + 2; ++c) state.o[u][half][c] *= decay;
  }
}

/// c += a·b where elements of b are not finite: one that meets a weight of 0 counts for nothing, any other
/// makes the sum what it is. `weighed` is 1 where a is not 0.
ISOMER_DEVICE void multiply_add_non_finite(f32 (&c)[4], const Rows16& a, const Rows16& weighed,
                                           const Columns8& b) {
  multiply_add(c, a, {{attention::finite_only<Factor>(b.of[0]), attention::finite_only<Factor>(b.of[1])}});
#pragma unroll
  for (int negative = 0; negative < 2; ++negative) {
    f32 count[4] = {};
    multiply_add(count, weighed,
                 {{attention::non_finite_ones<Factor>(b.of[0], negative),
                   attention::non_finite_ones<Factor>(b.of[1], negative)}});
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (count[i] != 0.0f) c[i] += negative ? -infinity() : infinity();
  }
}

/// Σ P·v over the first `count` keys of the block.
template <bool kNonFinite>
ISOMER_DEVICE void gather(const AttentionParameters& p, const Shared& shared, int count,
                          const f32 (&s)[kN][4], State& state) {
#pragma unroll
  for (int n = 0; n < kN; n += 2) {
    if (n * 8 >= count) break;
    // The scores' fragments lie as the columns of a.
    Rows16 weight, weighed;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const f32 x = s[n + i / 2][i % 2 * 2], y = s[n + i / 2][i % 2 * 2 + 1];
      weight.of[i] = pair_of(x, y);
      weighed.of[i] = kNonFinite ? pair_of(x == 0.0f ? 0.0f : 1.0f, y == 0.0f ? 0.0f : 1.0f) : 0;
    }
#pragma unroll
    for (int u = 0; u < kColumns; ++u) {
      if (u * 16 >= p.head_dim_v) break;
      Columns8 v[2];
      load_values(shared.kv + n * 8 * kPitchV + u * 16, v);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if constexpr (kNonFinite)
          multiply_add_non_finite(state.o[u][half], weight, weighed, v[half]);
        else
          multiply_add(state.o[u][half], weight, v[half]);
      }
    }
  }
}

template <class Out>
ISOMER_DEVICE void finish(const AttentionParameters& p, const attention::Task& t, const State& state) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const f32 sum = sum_lanes<4>(state.sum[r]);
    if (row_of(r) >= t.tile.rows) continue;
    const i64 i = t.entry.q_row + t.tile.query(row_of(r)), head = t.tile.head(row_of(r));
    const attention::Result result = attention::result_of(p, t.b, head, {state.max[r], sum});
    Out* out = attention::at<Out>(p.out, t.entry.q_outer, i, head);
#pragma unroll
    for (int u = 0; u < 2 * kColumns; ++u) {
      const int column = u * 8 + column_of();
      if (column >= p.head_dim_v) break;
      const f32 two[2] = {state.o[u / 2][u % 2][2 * r], state.o[u / 2][u % 2][2 * r + 1]};
      attention::write(p, out + column, two, result.factor);
    }
    if (column_of() == 0 && p.lse.data) *attention::at<f32>(p.lse, t.entry.q_outer, i, head) = result.lse;
  }
}

/// The part's result, for the combine.
ISOMER_DEVICE void keep(const AttentionParameters& p, const attention::Task& t, const State& state) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const f32 sum = sum_lanes<4>(state.sum[r]);
    if (row_of(r) >= t.tile.rows) continue;
    const i64 at = attention::partial_row(p, t, row_of(r));
#pragma unroll
    for (int u = 0; u < 2 * kColumns; ++u) {
      const int column = u * 8 + column_of();
      if (column >= p.head_dim_v) break;
      store<2>(p.partial_out + at * p.head_dim_v + column,
               Vector<f32, 2>{{state.o[u / 2][u % 2][2 * r], state.o[u / 2][u % 2][2 * r + 1]}});
    }
    if (column_of() == 0) {
      p.partial_state[at * 2] = state.max[r];
      p.partial_state[at * 2 + 1] = sum;
    }
  }
}

ISOMER_DEVICE void attend(const AttentionParameters& p, Shared& shared) {
  const attention::Task& t = shared.task;
  State state;
  int lo[2], hi[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    t.seen_by(p, row_of(r), lo[r], hi[r]);
    state.max[r] = -infinity();
    state.sum[r] = 0.0f;
  }
#pragma unroll
  for (int u = 0; u < kColumns; ++u)
#pragma unroll
    for (int c = 0; c < 8; ++c) state.o[u][c / 4][c % 4] = 0.0f;

  if (t.keys.lo < t.keys.hi) {
    const Key* k = attention::at<const Key>(p.k, 0, 0, t.head_kv);
    const Key* v = attention::at<const Key>(p.v, 0, 0, t.head_kv);
    const auto k_of = [](const attention::KeyPlace& place) { return place.k; };
    const auto v_of = [](const attention::KeyPlace& place) { return place.v; };
    const int dim = padded(p.head_dim), dim_v = padded(p.head_dim_v);
    i64 begin = t.begin;
    attention::locate<kKeys, kThreads>(p, t.entry, t.keys, begin, shared.places[0]);
    attention::put_queries<Query, Factor, kRows, kThreads, kPitchQ>(p, t.entry, t.tile, dim, shared.q);
    __syncthreads();
    attention::KeyTile<Key, Factor, kKeys, kDim, kThreads, kPitchK, kHeld> k_tile;
    attention::KeyTile<Key, Factor, kKeys, kDimV, kThreads, kPitchV, kHeld> v_tile;
    k_tile.fetch(k, shared.places[0], p.head_dim, p.k_vectors, k_of);
    for (int turn = 0; begin < t.keys.hi; begin += kKeys, turn ^= 1) {
      const attention::KeyPlace* places = shared.places[turn];
      k_tile.put(shared.kv, k, places, p.head_dim, dim, p.k_vectors, 1, k_of);
      __syncthreads();
      v_tile.fetch(v, places, p.head_dim_v, p.v_vectors, v_of);
      attention::locate<kKeys, kThreads>(p, t.entry, t.keys, begin + kKeys, shared.places[turn ^ 1]);
      f32 s[kN][4];
      score(p, t, shared, lo, hi, static_cast<int>(begin), places, s);
      weigh(s, state);
      __syncthreads();
      const bool non_finite = __syncthreads_or(
          v_tile.put(shared.kv, v, places, p.head_dim_v, dim_v, p.v_vectors, p.v.d_stride, v_of));
      k_tile.fetch(k, shared.places[turn ^ 1], p.head_dim, p.k_vectors, k_of);
      const int count = static_cast<int>(least(kKeys, t.keys.hi - begin));
      if (non_finite)
        gather<true>(p, shared, count, s, state);
      else
        gather<false>(p, shared, count, s, state);
      __syncthreads();
    }
  }

  if (p.parts > 1) {
    keep(p, t, state);
  } else if constexpr (sizeof(Query) > 1) {
    finish<Query>(p, t, state);
  } else if (p.out_type == AttentionWide::f32) {
    finish<f32>(p, t, state);
  } else if (p.out_type == AttentionWide::f16) {
    finish<f16>(p, t, state);
  } else {
    finish<bf16>(p, t, state);
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2) isomer_attention_mma(const AttentionParameters p) {
  extern __shared__ Vector<f32, 4> memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  for (i64 work = blockIdx.x; work < p.tiles * p.units * p.batch * p.parts; work += gridDim.x) {
    if (threadIdx.x == 0) shared.task = attention::task_of<kRows, kKeys>(p, work);
    __syncthreads();
    if (shared.task.exists) attend(p, shared);
    __syncthreads();
  }
}

}  // namespace isomer::device
