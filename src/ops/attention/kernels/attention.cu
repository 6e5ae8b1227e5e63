// Attention by tiles: a block owns up to kRows query rows and takes their keys kKeys at a time, with the
// softmax's maximum, sum and Σ P·v carried in f32 registers. 16 lanes share kR rows: of the scores each lane
// has every 16th key, of out four columns in every 64. q, k, v and P lie in shared memory as f32, k and v one
// after the other in one place. Any type, any chip: plain multiply-adds.
#include "gpu/device/portable.cuh"
#include "ops/attention/kernels/attention_entry.cuh"
#include "ops/attention/kernels/attention_int8.cuh"
#include "ops/attention/kernels/attention_result.cuh"
#include "ops/attention/kernels/attention_tile.cuh"

namespace isomer::device {

using Query = ISOMER_ELEMENT;
using Key = ISOMER_ELEMENT_KV;
constexpr int kDim = ISOMER_HEAD_DIM, kDimV = ISOMER_HEAD_DIM_V;
constexpr int kRows = ISOMER_BLOCK_M, kKeys = ISOMER_BLOCK_N, kThreads = ISOMER_THREADS;

constexpr int kLanes = 16;
constexpr int kR = kRows * kLanes / kThreads;  // rows of a thread
constexpr int kN = kKeys / kLanes;             // keys of a thread
constexpr int kChunks = kDimV / (4 * kLanes);  // of four columns of out
static_assert(kR * kThreads == kRows * kLanes && kN * kLanes == kKeys && kChunks * 4 * kLanes == kDimV);

// Four floats more than a row: lanes that read four floats each of neighbouring rows meet different banks.
constexpr int kPitchQ = kDim + 4, kPitchK = kDim + 4, kPitchV = kDimV + 4, kPitchP = kKeys + 4;
constexpr int kPitchMost = kPitchK > kPitchV ? kPitchK : kPitchV;

struct Shared {
  alignas(16) f32 q[kRows * kPitchQ];
#ifdef ISOMER_QV
  alignas(16) f32 qv[kRows * kPitchV];
#endif
  alignas(16) f32 kv[kKeys * kPitchMost];
  alignas(16) f32 p[kRows * kPitchP];
  attention::KeyPlace places[2][kKeys];
  attention::Task task;
};
static_assert(sizeof(Shared) == ISOMER_SHARED_BYTES);

struct State {
  f32 max[kR];  // times log2 e
  f32 sum[kR];  // of this lane's keys
  f32 o[kR][kChunks][4];
};

using Four = Vector<f32, 4>;

/// Adds the products of this thread's rows and keys over `columns` of both.
template <int kPitchRows, int kPitchKeys>
ISOMER_DEVICE void multiply(const f32* rows, const f32* keys, int columns, f32 (&s)[kR][kN]) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes, row = static_cast<int>(threadIdx.x) / kLanes * kR;
#pragma unroll 1
  for (int d = 0; d < columns; d += 4) {
    Four q[kR], k[kN];
#pragma unroll
    for (int r = 0; r < kR; ++r) q[r] = load<4>(rows + (row + r) * kPitchRows + d);
#pragma unroll
    for (int n = 0; n < kN; ++n) k[n] = load<4>(keys + (lane + n * kLanes) * kPitchKeys + d);
#pragma unroll
    for (int c = 0; c < 4; ++c)
#pragma unroll
      for (int r = 0; r < kR; ++r)
#pragma unroll
        for (int n = 0; n < kN; ++n) s[r][n] += q[r].of[c] * k[n].of[c];
  }
}

/// Products as the exponents that exp2 takes.
ISOMER_DEVICE void score(const AttentionParameters& p, const attention::Task& t, const int (&lo)[kR],
                         const int (&hi)[kR], int begin, const attention::KeyPlace* places,
                         f32 (&s)[kR][kN]) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
#pragma unroll
  for (int n = 0; n < kN; ++n) {
    const int key = lane + n * kLanes;
    const bool nowhere = places[key].k == attention::kNowhere;
#pragma unroll
    for (int r = 0; r < kR; ++r) {
      const int j = begin + key;
      f32 x = s[r][n] * t.factor;
      if (p.softcap > 0) x = p.softcap * kLog2E * tanhf(x);
      s[r][n] = nowhere || j < lo[r] || j >= hi[r] ? -infinity() : x;
    }
  }
}

/// Takes the scores into the running softmax and lays P down for the lanes that share the rows.
ISOMER_DEVICE void weigh(const f32 (&s)[kR][kN], State& state, Shared& shared) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes, row = static_cast<int>(threadIdx.x) / kLanes * kR;
#pragma unroll
  for (int r = 0; r < kR; ++r) {
    f32 max = s[r][0];
#pragma unroll
    for (int n = 1; n < kN; ++n) max = fmaxf(max, s[r][n]);
    max = fmaxf(reduce_lanes<kLanes>(max, [](f32 a, f32 b) { return fmaxf(a, b); }), state.max[r]);
    // A row that has seen no key keeps −inf.
    const f32 base = origin_of(max);
    const f32 decay = exp2_fast(state.max[r] - base);
    state.max[r] = max;
    f32 sum = 0.0f;
#pragma unroll
    for (int n = 0; n < kN; ++n) {
      const f32 weight = exp2_fast(s[r][n] - base);
      sum += weight;
      shared.p[(row + r) * kPitchP + lane + n * kLanes] = weight;
    }
    state.sum[r] = state.sum[r] * decay + sum;
#pragma unroll
    for (int u = 0; u < kChunks; ++u)
#pragma unroll
      for (int c = 0; c < 4; ++c) state.o[r][u][c] *= decay;
  }
}

/// Σ P·v over the first `count` keys of the block. kNonFinite: a weight of 0 counts for nothing whatever the
/// value holds.
template <bool kNonFinite>
ISOMER_DEVICE void gather(const AttentionParameters& p, const Shared& shared, int count, State& state) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes, row = static_cast<int>(threadIdx.x) / kLanes * kR;
#pragma unroll 1
  for (int key = 0; key < count; key += 4) {
    Four weight[kR];
#pragma unroll
    for (int r = 0; r < kR; ++r) weight[r] = load<4>(shared.p + (row + r) * kPitchP + key);
#pragma unroll
    for (int u = 0; u < kChunks; ++u) {
      const int column = (lane + u * kLanes) * 4;
      if (column >= p.head_dim_v) break;
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        const Four v = load<4>(shared.kv + (key + n) * kPitchV + column);
#pragma unroll
        for (int r = 0; r < kR; ++r) {
          if (kNonFinite && weight[r].of[n] == 0.0f) continue;
#pragma unroll
          for (int c = 0; c < 4; ++c) state.o[r][u][c] += weight[r].of[n] * v.of[c];
        }
      }
    }
  }
}

/// Of the tile that begins at key `begin`.
ISOMER_DEVICE void gather(const AttentionParameters& p, const attention::Task& t, i64 begin, bool non_finite,
                          const Shared& shared, State& state) {
  const int count = static_cast<int>(least(kKeys, t.keys.hi - begin));
  if (non_finite)
    gather<true>(p, shared, count, state);
  else
    gather<false>(p, shared, count, state);
}

template <class Out>
ISOMER_DEVICE void finish(const AttentionParameters& p, const attention::Task& t, const State& state) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes, row = static_cast<int>(threadIdx.x) / kLanes * kR;
#pragma unroll
  for (int r = 0; r < kR; ++r) {
    const f32 sum = sum_lanes<kLanes>(state.sum[r]);
    if (row + r >= t.tile.rows) continue;
    const i64 i = t.entry.q_row + t.tile.query(row + r), head = t.tile.head(row + r);
    const attention::Result result = attention::result_of(p, t.b, head, {state.max[r], sum});
    Out* out = attention::at<Out>(p.out, t.entry.q_outer, i, head);
#pragma unroll
    for (int u = 0; u < kChunks; ++u) {
      const int column = (lane + u * kLanes) * 4;
      if (column < p.head_dim_v) attention::write(p, out + column, state.o[r][u], result.factor);
    }
    if (lane == 0 && p.lse.data) *attention::at<f32>(p.lse, t.entry.q_outer, i, head) = result.lse;
  }
}

/// The part's result, for the combine.
ISOMER_DEVICE void keep(const AttentionParameters& p, const attention::Task& t, const State& state) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes, row = static_cast<int>(threadIdx.x) / kLanes * kR;
#pragma unroll
  for (int r = 0; r < kR; ++r) {
    const f32 sum = sum_lanes<kLanes>(state.sum[r]);
    if (row + r >= t.tile.rows) continue;
    const i64 at = attention::partial_row(p, t, row + r);
#pragma unroll
    for (int u = 0; u < kChunks; ++u) {
      const int column = (lane + u * kLanes) * 4;
      if (column >= p.head_dim_v) break;
      Four four;
#pragma unroll
      for (int c = 0; c < 4; ++c) four.of[c] = state.o[r][u][c];
      store<4>(p.partial_out + at * p.head_dim_v + column, four);
    }
    if (lane == 0) {
      p.partial_state[at * 2] = state.max[r];
      p.partial_state[at * 2 + 1] = sum;
    }
  }
}

#ifdef ISOMER_INT8
using Parameters = AttentionInt8Parameters;

/// The part's keys, rows of int8 that their scales make f32.
ISOMER_DEVICE void take_keys(const Parameters& p, const attention::Task& t, const int (&lo)[kR],
                             const int (&hi)[kR], Shared& shared, State& state) {
  attention::put_queries<Query, f32, kRows, kThreads, kPitchQ>(p, t.entry, t.tile, p.head_dim, shared.q);
  for (i64 begin = t.begin; begin < t.keys.hi; begin += kKeys) {
    const attention::KeyPlace* rows = shared.places[0];
    attention::locate_rows<kKeys, kThreads>(p, t.entry, t.keys, begin, shared.places[0]);
    __syncthreads();
    attention::put_int8<kKeys, kThreads, kPitchK>(p.k, p.k_scale, p.scale_type, t.head_kv, rows, p.head_dim,
                                                  shared.kv);
    __syncthreads();
    f32 s[kR][kN] = {};
    multiply<kPitchQ, kPitchK>(shared.q, shared.kv, p.head_dim, s);
    score(p, t, lo, hi, static_cast<int>(begin), rows, s);
    weigh(s, state, shared);
    __syncthreads();
    const bool non_finite = __syncthreads_or(attention::put_int8<kKeys, kThreads, kPitchV>(
        p.v, p.v_scale, p.scale_type, t.head_kv, rows, p.head_dim_v, shared.kv));
    gather(p, t, begin, non_finite, shared, state);
    __syncthreads();
  }
}
#elif defined(ISOMER_QV)
using Parameters = AttentionQvParameters;

/// The part's keys. Values are read once, for the logits and for out.
ISOMER_DEVICE void take_keys(const Parameters& p, const attention::Task& t, const int (&lo)[kR],
                             const int (&hi)[kR], Shared& shared, State& state) {
  const Key* k = attention::at<const Key>(p.k, 0, 0, t.head_kv);
  const Key* v = attention::at<const Key>(p.v, 0, 0, t.head_kv);
  const auto k_of = [](const attention::KeyPlace& place) { return place.k; };
  const auto v_of = [](const attention::KeyPlace& place) { return place.v; };
  attention::put_queries<Query, f32, kRows, kThreads, kPitchQ>(p, t.entry, t.tile, p.head_dim, shared.q);
  attention::put_qv<Query, f32, kRows, kThreads, kPitchV>(p.qv, t.entry, t.tile, p.head_dim_v, shared.qv);
  attention::KeyTile<Key, f32, kKeys, kDim, kThreads, kPitchK, 4> k_tile;
  attention::KeyTile<Key, f32, kKeys, kDimV, kThreads, kPitchV, 4> v_tile;
  for (i64 begin = t.begin; begin < t.keys.hi; begin += kKeys) {
    const attention::KeyPlace* places = shared.places[0];
    attention::locate<kKeys, kThreads>(p, t.entry, t.keys, begin, shared.places[0]);
    __syncthreads();
    k_tile.fetch(k, places, p.head_dim, p.k_vectors, k_of);
    k_tile.put(shared.kv, k, places, p.head_dim, p.head_dim, p.k_vectors, 1, k_of);
    v_tile.fetch(v, places, p.head_dim_v, p.v_vectors, v_of);
    __syncthreads();
    f32 s[kR][kN] = {};
    multiply<kPitchQ, kPitchK>(shared.q, shared.kv, p.head_dim, s);
    __syncthreads();
    const bool non_finite =
        __syncthreads_or(v_tile.put(shared.kv, v, places, p.head_dim_v, p.head_dim_v, p.v_vectors, 1, v_of));
    multiply<kPitchV, kPitchV>(shared.qv, shared.kv, p.head_dim_v, s);
    score(p, t, lo, hi, static_cast<int>(begin), places, s);
    weigh(s, state, shared);
    __syncthreads();
    gather(p, t, begin, non_finite, shared, state);
    __syncthreads();
  }
}
#else
using Parameters = AttentionParameters;

ISOMER_DEVICE void take_keys(const Parameters& p, const attention::Task& t, const int (&lo)[kR],
                             const int (&hi)[kR], Shared& shared, State& state) {
  const Key* k = attention::at<const Key>(p.k, 0, 0, t.head_kv);
  const Key* v = attention::at<const Key>(p.v, 0, 0, t.head_kv);
  const auto k_of = [](const attention::KeyPlace& place) { return place.k; };
  const auto v_of = [](const attention::KeyPlace& place) { return place.v; };
  i64 begin = t.begin;
  attention::locate<kKeys, kThreads>(p, t.entry, t.keys, begin, shared.places[0]);
  attention::put_queries<Query, f32, kRows, kThreads, kPitchQ>(p, t.entry, t.tile, p.head_dim, shared.q);
  __syncthreads();
  attention::KeyTile<Key, f32, kKeys, kDim, kThreads, kPitchK, 4> k_tile;
  attention::KeyTile<Key, f32, kKeys, kDimV, kThreads, kPitchV, 4> v_tile;
  k_tile.fetch(k, shared.places[0], p.head_dim, p.k_vectors, k_of);
  for (int turn = 0; begin < t.keys.hi; begin += kKeys, turn ^= 1) {
    const attention::KeyPlace* places = shared.places[turn];
    k_tile.put(shared.kv, k, places, p.head_dim, p.head_dim, p.k_vectors, 1, k_of);
    __syncthreads();
    v_tile.fetch(v, places, p.head_dim_v, p.v_vectors, v_of);
    attention::locate<kKeys, kThreads>(p, t.entry, t.keys, begin + kKeys, shared.places[turn ^ 1]);
    f32 s[kR][kN] = {};
    multiply<kPitchQ, kPitchK>(shared.q, shared.kv, p.head_dim, s);
    score(p, t, lo, hi, static_cast<int>(begin), places, s);
    weigh(s, state, shared);
    __syncthreads();
    const bool non_finite = __syncthreads_or(
        v_tile.put(shared.kv, v, places, p.head_dim_v, p.head_dim_v, p.v_vectors, p.v.d_stride, v_of));
    k_tile.fetch(k, shared.places[turn ^ 1], p.head_dim, p.k_vectors, k_of);
    gather(p, t, begin, non_finite, shared, state);
    __syncthreads();
  }
}
#endif

ISOMER_DEVICE void attend(const Parameters& p, Shared& shared) {
  const attention::Task& t = shared.task;
  State state;
  int lo[kR], hi[kR];
  const int row = static_cast<int>(threadIdx.x) / kLanes * kR;
#pragma unroll
  for (int r = 0; r < kR; ++r) {
    t.seen_by(p, row + r, lo[r], hi[r]);
    state.max[r] = -infinity();
    state.sum[r] = 0.0f;
#pragma unroll
    for (int u = 0; u < kChunks; ++u)
#pragma unroll
      for (int c = 0; c < 4; ++c) state.o[r][u][c] = 0.0f;
  }

  if (t.keys.lo < t.keys.hi) take_keys(p, t, lo, hi, shared, state);

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

extern "C" __global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, 2))
    isomer_attention(const Parameters p) {
  extern __shared__ Four memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  for (i64 work = blockIdx.x; work < p.tiles * p.units * p.batch * p.parts; work += gridDim.x) {
    if (threadIdx.x == 0) shared.task = attention::task_of<kRows, kKeys>(p, work);
    __syncthreads();
    if (shared.task.exists) attend(p, shared);
    __syncthreads();
  }
}

}  // namespace isomer::device
