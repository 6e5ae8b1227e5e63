// Rows whose Σ P·v is not finite although their weights are: a value that is not finite met a weight of 0,
// which the product makes NaN and which counts for nothing, or a sum ran over before it was divided. They are
// summed again, one key after the other.
#pragma once

#include "gpu/device/exponential.cuh"
#include "gpu/device/mma.cuh"
#include "gpu/device/sm90/shared.cuh"
#include "ops/attention/kernels/attention_entry.cuh"
#include "ops/attention/kernels/attention_sm90_tiles.cuh"

namespace isomer::device::attention_sm90 {

ISOMER_DEVICE bool is_finite(f32 x) { return (bits_of(x) & 0x7f800000u) != 0x7f800000u; }

/// The keys of a tile's blocks. From a shuffle the compiler knows that a warp stays together in a loop over
/// them. Where it does not know that, it takes the warp for parted in the loop over tiles, too: the places of
/// products then lie in registers of each thread, and every product waits until they are copied.
template <int kKeys>
ISOMER_DEVICE Blocks keys_of(const Parameters& p, const Tile& tile) {
  const Blocks blocks = blocks_of<kKeys>(p, tile);
  return {shuffle(blocks.begin * kKeys, 0), shuffle(least(blocks.end * kKeys, tile.k_len), 0)};
}

/// Of a kernel that has no queries of v.
struct NoQueriesOfV {};

/// A row's query of K, and of V where there is one.
template <class T>
struct Query {
  const T *of_k, *of_v;

  ISOMER_DEVICE Query(const Parameters& p, NoQueriesOfV, const Tile& tile, int row)
      : of_k(attention::at<const T>(p.q, tile.q_outer, tile.q_row + Tile::query_of(p, row),
                                    tile.head_of(p, row))),
        of_v(nullptr) {}
  ISOMER_DEVICE Query(const Parameters& p, const AttentionRows& qv, const Tile& tile, int row)
      : Query(p, NoQueriesOfV{}, tile, row) {
    if (qv.data)
      of_v =
          attention::at<const T>(qv, tile.q_outer, tile.q_row + Tile::query_of(p, row), tile.head_of(p, row));
  }

  /// Σ of a quad's products with the key at `spot`; every lane of the warp takes part.
  template <class Kv>
  ISOMER_DEVICE f32 score(const Parameters& p, const Spot& spot, i64 head_kv, bool seen) const {
    f32 sum = 0.0f;
    const Kv* k = attention::at<const Kv>(p.k, spot.outer, spot.row, head_kv);
    for (int d = lane() % 4 * 2; seen && d < p.head_dim; d += 8)
      sum = fmaf(to_f32(of_k[d]), to_f32(k[d]), fmaf(to_f32(of_k[d + 1]), to_f32(k[d + 1]), sum));
    if (of_v) {
      const Kv* v = attention::at<const Kv>(p.v, spot.outer, spot.row, head_kv);
      for (int d = lane() % 4 * 2; seen && d < p.head_dim_v; d += 8)
        sum = fmaf(to_f32(of_v[d]), to_f32(v[d]), fmaf(to_f32(of_v[d + 1]), to_f32(v[d + 1]), sum));
    }
    sum += shuffle_xor(sum, 1);
    return sum + shuffle_xor(sum, 2);
  }
};

/// References and sums of the lane's two rows, from the keys that have a page: one whose page does not exist
/// was copied as zeros, and weighed.
template <class T, int kKeys, bool kSoftcap, class Kv = T, class Scale, class Qv = NoQueriesOfV>
ISOMER_DEVICE void count_again(const Parameters& p, const Scale& scale, f32 shift, const Tile& tile, int row,
                               f32 (&references)[2], f32 (&sums)[2], const Qv& qv = {}) {
  const Blocks keys = keys_of<kKeys>(p, tile);
  const i64 head_kv = tile.head_kv(p);
#pragma unroll 1
  for (int r = 0; r < 2; ++r) {
    const int its = row + 8 * r;
    const int low = most(tile.low(p, its), 0), high = least(tile.high(p, its), tile.k_len);
    const Query<T> query(p, qv, tile, its);
    f32 reference = scale.lowest, sum = 0.0f;
#pragma unroll 1
    for (int key = keys.begin; key < keys.end; ++key) {
      const Spot spot = spot_of(p, tile, tile.first_slot + key);
      const bool seen = its < tile.end(p) && key >= low && key < high && spot.outer < p.k.outers;
      f32 s = query.template score<Kv>(p, spot, head_kv, seen);
      if constexpr (sizeof(Kv) == 1) s *= scale.descale;
      if constexpr (kSoftcap) s = tanhf(s * scale.cap);
      if (!seen) continue;
      const f32 top = fmaxf(reference, s);
      sum = sum * exp2_fast((reference - top) * scale.scale_log2) + exp2_fast((s - top) * scale.scale_log2);
      reference = top;
    }
    sum = lane() % 4 == 0 ? sum * exp2_fast(shift) : 0.0f;  // others add theirs
    if (r == 0) {
      references[0] = reference;
      sums[0] = sum;
    } else {
      references[1] = reference;
      sums[1] = sum;
    }
  }
}

/// Of the lane's two rows `row` and row + 8 of a tile those that are `broken`: Σ P·v·factor of columns first…
/// in pairs, handed to put(r, column − first, …).
template <class T, int kKeys, bool kSoftcap, class Kv = T, class Scale, class Put, class Qv = NoQueriesOfV>
ISOMER_DEVICE void repair(const Parameters& p, const Scale& scale, f32 shift, const Tile& tile, int row,
                          const bool (&broken)[2], const f32 (&max)[2], const f32 (&factor)[2], int first,
                          int columns, Put put, const Qv& qv = {}) {
  constexpr int kColumns = 8;  // of a lane at once
  const Blocks keys = keys_of<kKeys>(p, tile);
  const i64 head_kv = tile.head_kv(p);
#pragma unroll 1
  for (int r = 0; r < 2; ++r) {
    const bool mine = r == 0 ? broken[0] : broken[1];
    if (!any_lane(mine)) continue;
    const f32 base = r == 0 ? max[0] : max[1], share = r == 0 ? factor[0] : factor[1];
    const int its = row + 8 * r;
    const int low = most(tile.low(p, its), 0), high = least(tile.high(p, its), tile.k_len);
    const Query<T> query(p, qv, tile, its);
#pragma unroll 1
    for (int together = 0; together < columns; together += 4 * kColumns) {
      const int c = together + lane() % 4 * kColumns;
      f32 sum[kColumns] = {};
      const int count = clamp(p.head_dim_v - first - c, 0, kColumns);  // a multiple of 8
#pragma unroll 1
      for (int key = keys.begin; key < keys.end; ++key) {
        const Spot spot = spot_of(p, tile, tile.first_slot + key);
        const bool seen = mine && key >= low && key < high && (!kPieces || spot.outer < p.k.outers);
        f32 s = query.template score<Kv>(p, spot, head_kv, seen);
        if constexpr (sizeof(Kv) == 1) s *= scale.descale;
        if constexpr (kSoftcap) s = tanhf(s * scale.cap);
        const f32 weight = seen ? exp2_fast(sizeof(Kv) == 1 ? (s - base) * scale.scale_log2 + shift
                                                            : (s - base) * scale.scale_log2) *
                                      share
                                : 0.0f;
        const i64 step = sizeof(Kv) == 1 ? p.v.d_stride : 1;
        const Kv* v = attention::at<const Kv>(p.v, spot.outer, spot.row, head_kv) + (first + c) * step;
        if (weight != 0.0f) {
#pragma unroll
          for (int i = 0; i < kColumns; ++i)
            if (i < count) sum[i] = fmaf(weight, to_f32(v[i * step]), sum[i]);
        }
      }
      if (!mine || c >= columns) continue;
#pragma unroll
      for (int i = 0; i < kColumns; i += 2) put(r, c + i, sum[i], sum[i + 1]);
    }
  }
}

}  // namespace isomer::device::attention_sm90
