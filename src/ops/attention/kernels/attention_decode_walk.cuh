// A warp's way through the keys of one task after the other, and the queries on their way to it.
#pragma once

#include "gpu/device/async_copy.cuh"
#include "gpu/device/softmax_state.cuh"
#include "ops/attention/kernels/attention_decode_room.cuh"

namespace isomer::device {

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
/// copies 16 bytes at a time. Where they cannot be copied so they are read when they are put down. The append
/// step has rotated them.
struct Queries {
  static constexpr int kPieces = kDim / 8, kCopies = (kRows * kPieces + kThreads - 1) / kThreads;
  AsyncCopies<kCopies> copies;

  ISOMER_DEVICE void ask(const AttentionParameters& p, const attention::Task& task, Element* to) {
    if (!p.q_vectors) return;
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
    if (p.q_vectors)
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
        base[e] -= kRoom;
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
        shared.sum[warp()][row] = sum[n][e] * kUnit;
      }
#pragma unroll
      for (int i = 0; i < kChunks; ++i)
#pragma unroll
        for (int w = 0; w < 4; ++w) {
          const int d = ValueRows::column(i, g) + 2 * w;
          shared.out[warp()][row][d] = out[n][i][w][e] * kUnit;
          shared.out[warp()][row][d + 1] = out[n][i][w][e + 2] * kUnit;
        }
    }
}

}  // namespace isomer::device
