// Attention of few query rows, 16-bit, by tensor cores, at the speed of memory: a block has up to kRows rows
// of one unit (a group's heads of a query or of a few) and the keys of one part, whose rows of K and V it
// reads once for all of them, each lane 16 bytes where they lie. Fragments: gpu/device/row_fragments.cuh, g =
// lane / 4 and t = lane % 4. Keys and values are of q's type or e4m3fn: attention_decode_rows.cuh.
//
// Warps take tiles of 16 keys in turn, or of 32 where they are bytes and that pays, each with a running
// maximum of its own; they meet in shared memory.
//
//   pages of tile i+3 | places of tile i+2 | K of tile i+1, loaded once Sᵀ of tile i is made | V of tile i+1,
//   once Oᵀ has i
//
// A tile is 8 KB of a warp under way at 128, or 4 KB of one of more warps. A block has one task after the
// other; memory does not wait between them: the next task and the places of its first tiles are found while
// the first tile of this one is under way, and its first tile is asked for before this one's result is put
// together.
#include "gpu/device/async_copy.cuh"
#include "gpu/device/overlap.cuh"
#include "gpu/device/portable.cuh"
#include "ops/attention/kernels/attention_decode_rows.cuh"
#include "ops/attention/kernels/attention_entry.cuh"
#include "ops/attention/kernels/attention_result.cuh"
#include "ops/attention/kernels/attention_stream_k.cuh"
#include "ops/attention/kernels/attention_tile.cuh"

namespace isomer::device {

using Element = ISOMER_ELEMENT;
#ifdef ISOMER_ELEMENT_KV
using Key = ISOMER_ELEMENT_KV;
using Weight = f16;  // holds every e4m3fn, and more digits of a weight than bf16
#else
using Key = Element;
using Weight = Element;
#endif
constexpr bool kBytes = sizeof(Key) == 1;
constexpr int kThreads = ISOMER_THREADS, kRows = ISOMER_BLOCK_M, kResident = ISOMER_RESIDENT;
constexpr int kDim = ISOMER_HEAD_DIM, kDimV = ISOMER_HEAD_DIM_V;  // rounded up
constexpr int kKeys = ISOMER_BLOCK_N, kWarps = kThreads / 32, kTile = kKeys / kWarps, kGroups = kTile / 16;
constexpr int kColumns = kRows / 8, kSteps = kDim / 32, kChunks = kDimV / 64;
constexpr int kPitch = kDim + 8;  // 16 bytes more than a row: eight rows of 16 bytes meet different banks
// Whether a lane has registers for K and V of a tile at once; else V is loaded when K has been used.
constexpr bool kAhead = kBytes || kDim + kDimV <= 256;
static_assert(kWarpSize == 32 && kRows % 8 == 0 && kDim % 64 == 0 && kDimV % 64 == 0 &&
              kGroups * 16 * kWarps == kKeys && kGroups <= 2);

using KeyRows = attention::KeyRows<Key, kDim>;
using ValueRows = attention::ValueRows<Key, kDimV>;
using Place = attention::RowPlace<kBytes>;

/// Of each warp's keys: the largest logit of a row, Σ P and Σ P·v. Logits carry the factor log2(e).
struct Shared {
  attention::Task task, last, next_one;  // the one in work, the one before it and the one behind it
  alignas(16) Element q[kRows * kPitch];
  int lo[kRows], hi[kRows];                          // keys that a row sees
  alignas(16) Place places[kWarps][2][kTile];        // of two tiles
  alignas(16) Place first_places[kWarps][2][kTile];  // of the first two of the task behind it
  f32 max[kWarps][kRows], sum[kWarps][kRows];
  alignas(16) f32 out[kWarps][kRows][kDimV];
  attention::Division<kThreads> division;
  attention::RowsOfBlock rows;  // where a worker has a share
  int worker;
  bool works, done, more;  // there is a task in work, a result of the one before it, a task behind it
  i64 next;  // task, where each entry's keys are divided by itself; entry, where a worker has a share
};
static_assert(sizeof(Shared) <= 48 << 10);

/// A number that what follows is computed from here, and not before the loop over tasks, where it would take
/// registers for as long as that runs.
ISOMER_DEVICE int from_here(u32 number) {
#if ISOMER_CUDA_ARCH
  asm volatile("" : "+r"(number));
#endif
  return static_cast<int>(number);
}

using Out = f32[kColumns][kChunks][4][4];
using Scores = f32[kGroups][kColumns][4];

/// Adds what elements of V that are not finite make of the sums, and takes them out of V: one that meets a
/// weight of 0 counts for nothing, any other makes the sum what it is.
ISOMER_DEVICE void add_non_finite(Out& out, ValueRows& v, const u32 (&weights)[kColumns][2]) {
  const u32 one = pack<Weight>(1.0f, 0.0f);
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
          Words ones = v.factor(i, w);
#pragma unroll
          for (int r = 0; r < 4; ++r)
            ones.of[r] = attention::non_finite_ones<Weight>(ones.of[r], negative != 0);
          f32 count[4] = {};
          multiply_add<Weight>(count, ones.of, weighed);
#pragma unroll
          for (int c = 0; c < 4; ++c)
            if (count[c] != 0.0f) out[n][i][w][c] += sign;
        }
    }
  }
  v.make_finite<Weight>();
}

/// The queries of a task on their way to shared.q, which begins before its keys are asked for: a thread
/// copies 16 bytes at a time. Where they cannot be copied so, or are to be rotated, they are read when they
/// are put down.
struct Queries {
  static constexpr int kPieces = kDim / 8, kCopies = (kRows * kPieces + kThreads - 1) / kThreads;
  AsyncCopies<kCopies> copies;

  static ISOMER_DEVICE bool by_pieces(const AttentionParameters& p) { return p.q_vectors && !p.rotary_cos; }
  ISOMER_DEVICE void ask(const AttentionParameters& p, const attention::Task& task, Element* to) {
    if (!by_pieces(p)) return;
#pragma unroll
    for (int i = from_here(threadIdx.x); i < kRows * kPieces; i += kThreads) {
      const int r = i / kPieces, d = i % kPieces * 8;
      const bool is = r < task.tile.rows && d < p.head_dim;
      const Element* from = static_cast<const Element*>(p.q.data);
      if (is)
        from = attention::at<const Element>(p.q, task.entry.q_outer, task.entry.q_row + task.tile.query(r),
                                            task.tile.head(r)) +
               d;
      copies.template copy<16>(to + r * kPitch + d, from,
                               is ? static_cast<int>(least(p.head_dim - d, 8)) * 2 : 0);
    }
    copies.end_group();
  }
  ISOMER_DEVICE void put(const AttentionParameters& p, const attention::Task& task, Element* to) {
    if (by_pieces(p))
      copies.template wait<0>();
    else
      attention::put_queries<Element, Element, kRows, kThreads, kPitch>(p, task.entry, task.tile, kDim, to);
  }
};

/// A warp's way through the keys of one task after the other.
struct Walk {
  const AttentionParameters& p;
  Shared& shared;
  const int g = lane() / 4, t = lane() % 4;
  const int key_pieces = KeyRows::pieces(p.head_dim, t), value_pieces = ValueRows::pieces(p.head_dim_v, g);
  KeyRows k[kGroups];
  ValueRows v[kGroups];
  bool exists[2] = {};  // where registers hold it
  // A lane looks after one key of a tile: `page` is its cache row or what the page table says, which nobody
  // looks at before it is wanted: until then it is on its way. −1 where there is no such key.
  int page = -1, row = 0;

  ISOMER_DEVICE Walk(const AttentionParameters& parameters, Shared& memory) : p(parameters), shared(memory) {}

  static ISOMER_DEVICE int first_of(const attention::Task& task) {
    return static_cast<int>(task.begin) + warp() * kTile;
  }
  /// Where the places of a tile are, which are put down for two at a time.
  static ISOMER_DEVICE int turn_of(int tile) { return tile / kKeys & 1; }
  ISOMER_DEVICE void find_page(const attention::Task& task, int tile, int& its_page, int& its_row) const {
    const int j = tile + lane() % kTile;
    its_page = -1;
    if (j < static_cast<int>(task.keys.lo) || j >= static_cast<int>(task.keys.hi)) return;
    const AttentionPlace place = attention::entry_place_of(p, task.entry, j);
    its_page = static_cast<int>(place.outer);
    its_row = static_cast<int>(place.row);
  }
  /// With the head's offset.
  ISOMER_DEVICE void put_places(const attention::Task& task, Place* to, int its_page, int its_row) const {
    Place place{Place::kNone, Place::kNone};
    if (its_page >= 0 && its_page < p.k.outers)
      place = {
          Place::of(its_page * p.k.outer_stride + its_row * p.k.row_stride + task.head_kv * p.k.head_stride),
          Place::of(its_page * p.v.outer_stride + its_row * p.v.row_stride + task.head_kv * p.v.head_stride)};
    if (lane() < kTile) to[lane()] = place;
    warp_barrier();
  }
  ISOMER_DEVICE void load_keys(const Place* places) {
#pragma unroll
    for (int r = 0; r < 2 * kGroups; ++r) {
      const auto place = places[g + 8 * r].k;
      const bool is = place != Place::kNone;
      if constexpr (kGroups == 1) exists[r] = is;
      if constexpr (!kAhead) k[r / 2].clear(r % 2);
      k[r / 2].load(r % 2,
                    static_cast<const Key*>(p.k.data) + Place::elements(place) + KeyRows::kElements * t,
                    is ? key_pieces : 0);
    }
  }
  ISOMER_DEVICE void load_values(const Place* places) {
#pragma unroll
    for (int r = 0; r < 4 * kGroups; ++r) {
      const auto place = places[2 * t + r % 2 + r / 2 * 8].v;
      const bool is = place != Place::kNone;
      // A weight of 0 does not undo what is not finite and an earlier tile left here.
      if (!kAhead || !is) v[r / 4].clear(r % 4);
      v[r / 4].load(r % 4,
                    static_cast<const Key*>(p.v.data) + Place::elements(place) + ValueRows::kElements * g,
                    is ? value_pieces : 0);
    }
  }

  /// Whether row g + 8r of 16 keys of the tile in work is one.
  ISOMER_DEVICE bool is_key(int turn, int sixteen, int r) const {
    if constexpr (kGroups == 1) return exists[r];
    return shared.places[warp()][turn][sixteen * 16 + g + 8 * r].k != Place::kNone;
  }

  /// Products become exponents of 2.
  ISOMER_DEVICE void score(f32 factor, Scores& s) const {
    constexpr int kAll = kGroups * kColumns * 4;
    if (p.softcap > 0) {
#pragma unroll
      for (int i = 0; i < kAll; ++i) {
        f32& x = s[i / (kColumns * 4)][i / 4 % kColumns][i % 4];
        x = p.softcap * kLog2E * tanhf(x * factor);
      }
    } else {
#pragma unroll
      for (int i = 0; i < kAll; ++i) s[i / (kColumns * 4)][i / 4 % kColumns][i % 4] *= factor;
    }
  }
  /// Keys that a row of the tile at `begin` does not see count for nothing.
  ISOMER_DEVICE void mask(int begin, int turn, Scores& s) const {
#pragma unroll
    for (int n = 0; n < kColumns; ++n)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int lo = shared.lo[n * 8 + 2 * t + e] - begin - g,
                  hi = shared.hi[n * 8 + 2 * t + e] - begin - g;
#pragma unroll
        for (int r = 0; r < 2 * kGroups; ++r) {
          f32& x = s[r / 2][n][r % 2 * 2 + e];
          const bool seen = is_key(turn, r / 2, r % 2) & (8 * r >= lo) & (8 * r < hi);
          x = seen ? x : -infinity();
        }
      }
  }

  /// Finds the first two tiles of the next task.
  ISOMER_DEVICE void prepare() const {
    int pages[2], rows[2];
#pragma unroll
    for (int i = 0; i < 2; ++i)
      find_page(shared.next_one, first_of(shared.next_one) + i * kKeys, pages[i], rows[i]);
#pragma unroll
    for (int i = 0; i < 2; ++i)
      put_places(shared.next_one, shared.first_places[warp()][turn_of(first_of(shared.next_one)) ^ i],
                 pages[i], rows[i]);
  }
  /// Asks for the first tile of a task whose first tiles are found.
  ISOMER_DEVICE void begin() {
    using Share = attention::PieceOf<sizeof shared.places[0] / 32>::Type;  // of a lane
    const Share share = reinterpret_cast<const Share*>(shared.first_places[warp()])[lane()];
    reinterpret_cast<Share*>(shared.places[warp()])[lane()] = share;
    warp_barrier();
    const Place* const first = shared.places[warp()][turn_of(first_of(shared.task))];
    load_keys(first);
    if constexpr (kAhead) load_values(first);
    find_page(shared.task, first_of(shared.task) + 2 * kKeys, page, row);
  }
  ISOMER_DEVICE void attend();
};

/// The warp's share of a task that has begun and whose queries lie in shared.q, into shared.max, shared.sum
/// and shared.out.
ISOMER_DEVICE void Walk::attend() {
  const attention::Task& task = shared.task;
  int begin = first_of(task);
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
    for (int i = 0; i < kChunks * 16; ++i) out[n][i / 16][i / 4 % 4][i % 4] = 0.0f;
  }

  const auto load_queries = [&](int row) {
#pragma unroll
    for (int n = 0; n < kColumns; ++n)
#pragma unroll
      for (int i = 0; i < kSteps; ++i)
        q[n][i] = bit_cast<Words>(load<8>(shared.q + (n * 8 + row) * kPitch + KeyRows::column(i, t)));
  };
  constexpr bool kHeld = kGroups == 1;  // else queries have no registers for so long
  if constexpr (kHeld) load_queries(g);

  for (; begin < static_cast<int>(task.keys.hi); begin += kKeys) {
    const int turn = turn_of(begin);
    if constexpr (!kHeld) load_queries(from_here(static_cast<u32>(g)));
    Scores s = {};
#pragma unroll
    for (int u = 0; u < kGroups; ++u) k[u].template add_products<Element>(s[u], q);
    score(task.factor, s);
    mask(begin, turn, s);
    if constexpr (kAhead)
      load_keys(shared.places[warp()][turn ^ 1]);
    else
      load_values(shared.places[warp()][turn]);

    u32 weights[kGroups][kColumns][2];
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
      f32 base[2], decay[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        f32 now = max[n][e];
#pragma unroll
        for (int u = 0; u < kGroups; ++u) now = fmaxf(now, fmaxf(s[u][n][e], s[u][n][e + 2]));
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
      for (int u = 0; u < kGroups; ++u) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          s[u][n][c] = exp2_fast(s[u][n][c] - base[c % 2]);
          sum[n][c % 2] += s[u][n][c];
        }
        weights[u][n][0] = weights_of<Weight>(s[u][n][0], s[u][n][1]);
        weights[u][n][1] = weights_of<Weight>(s[u][n][2], s[u][n][3]);
      }
    }
    bool noted = false;
#pragma unroll
    for (int u = 0; u < kGroups; ++u) noted |= v[u].template any_non_finite<Weight>();
    if (any_lane(noted)) {
#pragma unroll
      for (int u = 0; u < kGroups; ++u) add_non_finite(out, v[u], weights[u]);
    }
#pragma unroll
    for (int u = 0; u < kGroups; ++u) v[u].template add_rows<Weight>(out, weights[u]);
    if constexpr (kAhead)
      load_values(shared.places[warp()][turn ^ 1]);
    else
      load_keys(shared.places[warp()][turn ^ 1]);
    warp_barrier();  // every lane has read the places that are put down again
    put_places(task, shared.places[warp()][turn], page, row);
    find_page(task, begin + 3 * kKeys, page, row);
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
          const int d = ValueRows::column(i, g) + 2 * w;
          shared.out[warp()][row][d] = out[n][i][w][e];
          shared.out[warp()][row][d + 1] = out[n][i][w][e + 2];
        }
    }
}

/// What the warps found, together: the part's result for the combine, or out and lse.
ISOMER_DEVICE void finish(const AttentionParameters& p, const Shared& shared) {
  const attention::Task& t = shared.last;
  for (int at = from_here(threadIdx.x); at < t.tile.rows * (kDimV / 4); at += kThreads) {
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

/// Puts down the next task, whether there is work in it or not.
ISOMER_DEVICE bool next_task(const AttentionParameters& p, Shared& shared, attention::Task& task) {
  if (p.workers == 0) {
    if (shared.next >= p.tiles * p.units * p.batch * p.parts) return false;
    task = attention::task_of<kRows, kKeys>(p, shared.next);
    shared.next += gridDim.x;
    return true;
  }
  const attention::Division<kThreads>& d = shared.division;
  const i64 begin = static_cast<i64>(shared.worker) * d.share, end = begin + d.share;
  if (shared.next >= p.batch || d.before[shared.next] >= end) return false;
  const i64 b = shared.next++;
  const i64 before = d.before[b], after = d.before[b + 1];
  const AttentionEntry entry = attention::entry_of(p, b);
  const i64 shift = attention::seen_tiles<kKeys>(p, entry).first - before;
  const i64 from = (begin > before ? begin : before) + shift, to = least(end, after) + shift;
  const u32 first_worker = static_cast<u32>(d.before[b]) / static_cast<u32>(d.share);
  task = attention::task_between<kRows, kKeys>(p, shared.rows, b, entry, shared.worker - first_worker,
                                               from * kKeys, to * kKeys);
  return true;
}
/// The block's next task, and whether there is one. One thread does it.
ISOMER_DEVICE void find_task(const AttentionParameters& p, Shared& shared) {
  do shared.more = next_task(p, shared, shared.next_one);
  while (shared.more && !shared.next_one.exists);
}
/// Words of a task, with the gaps between its members.
constexpr int kTaskWords = static_cast<int>(sizeof(attention::Task) / sizeof(u32));
static_assert(kTaskWords <= kThreads && sizeof(attention::Task) % sizeof(u32) == 0);

/// The task in work, where there is one, becomes the last, and the next one the one in work.
ISOMER_DEVICE void go_on(Shared& shared, bool works) {
  const int i = from_here(threadIdx.x);
  if (i < kTaskWords) {
    u32* const task = reinterpret_cast<u32*>(&shared.task);
    if (works) reinterpret_cast<u32*>(&shared.last)[i] = task[i];
    if (shared.more) task[i] = reinterpret_cast<const u32*>(&shared.next_one)[i];
  }
  if (i == 0) {
    shared.done = works;
    shared.works = shared.more;
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, kResident)
    isomer_attention_decode(const AttentionParameters p) {
  __shared__ Shared shared;
  wait_for_previous();
  let_next_begin();
  if (threadIdx.x < kTaskWords) reinterpret_cast<u32*>(&shared.next_one)[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    shared.next = blockIdx.x;
    shared.works = shared.done = false;
  }
  if (p.workers > 0) {
    const u32 worker = quotient_of(quotient_of(blockIdx.x, p.of_tiles), p.of_units);
    if (threadIdx.x == kThreads - 1) {  // a warp that has the fewest entries to look at
      shared.worker = static_cast<int>(worker);
      shared.rows = attention::rows_of_block(p, blockIdx.x - worker * static_cast<u32>(p.tiles * p.units));
    }
    shared.division.template fill<kKeys>(p, static_cast<int>(worker));
    if (threadIdx.x == 0) shared.next = shared.division.first;
    if (blockIdx.x == 0) shared.division.note(p);
  } else {
    __syncthreads();
  }
  Walk walk(p, shared);
  // What is known of tasks stays in shared memory: registers are all taken.
  for (;;) {
    const attention::Task& task = shared.task;
    const bool works = shared.works;
    {
      Queries queries;
      if (works) {
        queries.ask(p, task, shared.q);
        walk.begin();
      }
      if (from_here(threadIdx.x) == 0) find_task(p, shared);
      if (shared.done) finish(p, shared);
      if (shared.done && !works) break;
      if (works) {
        queries.put(p, task, shared.q);
        // By a warp that finds no task.
        if (const int row = from_here(threadIdx.x) - (kThreads - 32); row >= 0 && row < kRows)
          task.seen_by(p, row, shared.lo[row], shared.hi[row]);
      }
    }
    __syncthreads();
    if (shared.more) walk.prepare();
    if (works) {
      walk.attend();
      __syncthreads();
      go_on(shared, true);
    } else {
      if (!shared.more) break;
      go_on(shared, false);
    }
    __syncthreads();
  }
}

}  // namespace isomer::device
