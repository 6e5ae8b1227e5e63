// The way out of a tile: Σ P·v divided by the sums of its rows, lse, and what is not finite, summed again.
#pragma once

#include "gpu/device/async_copy.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "gpu/device/vector.cuh"
#include "ops/attention/kernels/attention_sm90_blocks.cuh"
#include "ops/attention/kernels/attention_sm90_repair.cuh"

namespace isomer::device::attention_sm90 {

/// A warpgroup at the end of its tile.
struct WayOut : BlockWork {
  using BlockWork::BlockWork;

  /// The sums of a tile's rows as factors for Σ P·v; writes lse.
  ISOMER_DEVICE void finish_rows(u32 slot, const Tile& tile, int first, bool writes, const Rows& done,
                                 f32 (&factor)[2]) {
    Factors its{};
    if constexpr (kScaled) its = get_factors(slot, p);
    f32 sink = p.sink && !kPieces ? attention::read(p.sink, p.sink_type, tile.head) * kLog2E : -infinity();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (kPieces && p.sink) {
        const int head = clamp(tile.head_of(p, first + 8 * r), 0, p.heads - 1);
        sink = attention::read(p.sink, p.sink_type, head) * kLog2E;
      }
      f32 sum = done.sum[r] + shuffle_xor(done.sum[r], 1);
      sum += shuffle_xor(sum, 2);
      f32 base = done.reference[r] * (kScaled ? its.scale_log2 : p.scale_log2), decay = 1.0f;
      if constexpr (kFp8) base -= kShift;
      if (sum == 0.0f) base = -infinity();  // sees no key
      if (p.sink) {
        const f32 joined = fmaxf(base, sink);
        decay = exp2_fast(base - joined);
        sum = sum * decay + exp2_fast(sink - joined);
        base = joined;
      }
      factor[r] = base == -infinity() ? 0.0f : decay * reciprocal_fast(sum);
      if constexpr (kScaled) factor[r] *= its.of_values;
      const int row = first + 8 * r;
      if (p.lse.data && writes && row < tile.end(p))
        *attention::at<f32>(p.lse, tile.q_outer, tile.q_row + Tile::query_of(p, row), tile.head_of(p, row)) =
            base == -infinity() ? base : (base + log2_fast(sum)) * kLn2;
    }
  }
  /// Not finite where an element of the lane's row is not, or where they are huge.
  ISOMER_DEVICE f32 sum_of_out(int r) const {
    f32 sums[4] = {};
#pragma unroll
    for (int j = 0; j < kDimV / 8; ++j) sums[j % 4] += o[4 * j + 2 * r] + o[4 * j + 2 * r + 1];
    return sums[0] + sums[1] + (sums[2] + sums[3]);
  }
  /// What scores of the tile at `slot` are multiplied by.
  ISOMER_DEVICE decltype(auto) scale_at(u32 slot) const {
    if constexpr (kScaled)
      return get_factors(slot, p);
    else
      return (p);
  }
  /// With where its keys lie, which tile_of() does not pass on to all lanes.
  ISOMER_DEVICE Tile placed(u32 slot, Tile tile) const {
    if constexpr (kAllRead) return tile;
    Tile its{};
    if (first_lane()) its = get_tile(slot);
    tile.kv_outer = shuffle(its.kv_outer, 0);
    tile.first_slot = shuffle(its.first_slot, 0);
    return tile;
  }
  template <class Put>
  ISOMER_DEVICE void repair_rows(u32 slot, const Tile& tile, int row, const bool (&broken)[2],
                                 const f32 (&max)[2], const f32 (&factor)[2], int first, int columns,
                                 Put put) const {
    repair<Element, kKeys, kSoftcap, KvElement>(p, scale_at(slot), kFp8 ? kShift : 0.0f, placed(slot, tile),
                                                row, broken, max, factor, first, columns, put);
  }
  ISOMER_DEVICE void count_rows_again(u32 slot, const Tile& tile, int row, Rows& rows) const {
    count_again<Element, kKeys, kSoftcap, KvElement>(p, scale_at(slot), kFp8 ? kShift : 0.0f,
                                                     placed(slot, tile), row, rows.reference, rows.sum);
  }
  /// Of a tile that is done: out through shared memory, 128 columns at a time; each warpgroup stores its own
  /// rows.
  template <bool kFree = false>
  ISOMER_DEVICE void store_tile(int its_turn, Rows& done) {
    const Tile tile = tile_of(its_turn);
    // Pinned, like the row above.
    u32 thread[1] = {threadIdx.x & 127};
    pin(thread);
    const u32 warp = thread[0] / 32, lane = thread[0] % 32, line = warp * 16 + lane / 4;
    const int query = tile.row0 + group * 64 + static_cast<int>(line);
    // Where powers take the place of S a row may have risen out of f32's range.
    const bool lost =
        (kFp8 || kOneP) && any_lane(done.reference[0] == infinity() || done.reference[1] == infinity());
    if (lost || lost_page(slot_of(its_turn))) {
      count_rows_again(slot_of(its_turn), tile, query, done);
      o[0] = o[2] = nan();  // so that Σ P·v of both rows is summed again, too
    }
    if constexpr (kPieces) {
      if (p.pieces.parts > 1 && tile.part != kAllKeys) {
        store_part(slot_of(its_turn), tile, query, static_cast<int>(lane), done);
        return;
      }
    }
    f32 factor[2];
    finish_rows(slot_of(its_turn), tile, query, lane % 4 == 0, done, factor);
    const bool wild = any_lane(!is_finite(sum_of_out(0)) || !is_finite(sum_of_out(1)));
    const int row0 = tile.row0 + group * 64, count = least(tile.end(p) - row0, 64);
    // Without lengths of its own the tensor ends where the queries do, and the copy engine stops there.
    const bool whole = (!kPieces || (kFp8 && p.pieces.pack == 1)) &&
                       (count == 64 || (!p.lengths && tile.end(p) == tile.q_len));
    const u32 slab = shared.out(group);
#pragma unroll
    for (int first = 0; first < kDimV; first += kOutColumns) {
      const int columns = kDimV - first < kOutColumns ? kDimV - first : kOutColumns;
      if (first != 0 || !kFree) {
        if (first_thread()) wait_stores_read<0>();
        sync_threads<128>(1 + kGroups + group);
      }
#pragma unroll
      for (int c = 0; c < columns; c += 16) {
        const int j = (first + c) / 8;
        if constexpr (kFp8) {  // turned: four adjacent columns
#pragma unroll
          for (int r = 0; r < 2; ++r)
            store_shared(
                swizzled_128(slab + static_cast<u32>(c / 64 * 64 * 128), line + static_cast<u32>(8 * r),
                             static_cast<u32>(c % 64 * 2) + lane % 4 * 8),
                pack<OutElement>(o[4 * j + 2 * r] * factor[r], o[4 * j + 4 + 2 * r] * factor[r]),
                pack<OutElement>(o[4 * j + 1 + 2 * r] * factor[r], o[4 * j + 5 + 2 * r] * factor[r]));
          continue;
        }
        const u32 at = swizzled_128(slab + static_cast<u32>(c / 64 * 64 * 128), warp * 16 + lane % 16,
                                    static_cast<u32>(c % 64 * 2) + lane / 16 * 16);
        const u32 words[4] = {pack<OutElement>(o[4 * j] * factor[0], o[4 * j + 1] * factor[0]),
                              pack<OutElement>(o[4 * j + 2] * factor[1], o[4 * j + 3] * factor[1]),
                              pack<OutElement>(o[4 * j + 4] * factor[0], o[4 * j + 5] * factor[0]),
                              pack<OutElement>(o[4 * j + 6] * factor[1], o[4 * j + 7] * factor[1])};
        store_matrices(at, words);
      }
      if (wild) {
        warp_barrier();  // other lanes have written these rows
        bool broken[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          f32 all = sum_of_out(r);
          all += shuffle_xor(all, 1);
          all += shuffle_xor(all, 2);
          broken[r] = static_cast<int>(line) + 8 * r < count && !is_finite(all) && is_finite(factor[r]) &&
                      is_finite(done.reference[r]);
        }
        repair_rows(slot_of(its_turn), tile, query, broken, done.reference, factor, first, columns,
                    [&](int r, int c, f32 a, f32 b) {
                      store_shared(swizzled_128(slab + static_cast<u32>(c / 64 * 64 * 128),
                                                line + static_cast<u32>(8 * r), static_cast<u32>(c % 64 * 2)),
                                   pack<OutElement>(a, b));
                    });
      }
      fence_async_shared();
      sync_threads<128>(1 + kGroups + group);
      if (whole) {
        if (first_thread()) {
#pragma unroll
          for (int c = 0; c < columns; c += 64)
            store<4>(p.out_map, {{first + c, tile.q_row + row0, tile.head, tile.q_outer}},
                     slab + static_cast<u32>(c * 128));
          end_stores();
        }
      } else {
        store_rows(tile, thread[0], row0, count, first, columns, slab);
      }
    }
  }
  /// The first `count` rows of a slab, 16 bytes at a time.
  ISOMER_DEVICE void store_rows(const Tile& tile, u32 thread, int row0, int count, int first, int columns,
                                u32 slab) {
    const int chunks = columns / 8;
#pragma unroll 1
    for (int i = static_cast<int>(thread); i < count * chunks; i += 128) {
      const int r = i / chunks, c = i - r * chunks;
      if (first + c * 8 >= p.head_dim_v) continue;
      u32 words[4];
      load_shared(swizzled_128(slab + static_cast<u32>(c / 8 * 64 * 128), static_cast<u32>(r),
                               static_cast<u32>(c % 8 * 16)),
                  words);
      Vector<u32, 4> vector{{words[0], words[1], words[2], words[3]}};
      OutElement* to =
          attention::at<OutElement>(p.out, tile.q_outer, tile.q_row + Tile::query_of(p, row0 + r),
                                    tile.head_of(p, row0 + r)) +
          first + c * 8;
      isomer::device::store<4>(reinterpret_cast<u32*>(to), vector);
    }
  }

  /// Of a part of an entry's keys: Σ P·v as it is, and the reference and sum of each row, for the combine.
  ISOMER_DEVICE void store_part(u32 slot, const Tile& tile, int row, int lane, const Rows& done) {
    const f32 undivided[2] = {1.0f, 1.0f};
    f32 scale_log2 = p.scale_log2;
    if constexpr (kScaled) scale_log2 = get_factors(slot, p).scale_log2;
    bool broken[2];
    i64 to[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      f32 sum = done.sum[r] + shuffle_xor(done.sum[r], 1);
      sum += shuffle_xor(sum, 2);
      const bool mine = row + 8 * r < tile.end(p);
      const int query = Tile::query_of(p, row + 8 * r), head = tile.head_of(p, row + 8 * r);
      to[r] = (static_cast<i64>(tile.part) * p.pieces.partial_heads + head) * p.pieces.partial_rows +
              tile.q_outer * p.q.rows + tile.q_row + query - p.pieces.partial_first;
      f32 all = sum_of_out(r);
      all += shuffle_xor(all, 1);
      all += shuffle_xor(all, 2);
      broken[r] = mine && !is_finite(all) && is_finite(sum) && is_finite(done.reference[r]);
      if (!mine) continue;
      if (lane % 4 == 0) {
        const Vector<f32, 2> state{
            {sum == 0.0f ? -infinity() : done.reference[r] * scale_log2 - (kFp8 ? kShift : 0.0f), sum}};
        isomer::device::store<2>(p.pieces.partial_state + to[r] * 2, state);
      }
      if constexpr (kFp8) {
#pragma unroll
        for (int j = 0; j < kDimV / 8; j += 2) {
          const int column = 8 * j + lane % 4 * 4, i = 4 * j + 2 * r;
          if (column < p.head_dim_v)
            isomer::device::store<4>(p.pieces.partial_out + to[r] * p.head_dim_v + column,
                                     Vector<f32, 4>{{o[i], o[i + 4], o[i + 1], o[i + 5]}});
        }
        continue;
      }
#pragma unroll
      for (int j = 0; j < kDimV / 8; ++j) {
        const int column = 8 * j + lane % 4 * 2;
        if (column < p.head_dim_v)
          isomer::device::store<2>(p.pieces.partial_out + to[r] * p.head_dim_v + column,
                                   Vector<f32, 2>{{o[4 * j + 2 * r], o[4 * j + 2 * r + 1]}});
      }
    }
    if (!any_lane(broken[0] || broken[1])) return;
    warp_barrier();  // other lanes have written these rows
    repair_rows(
        slot, tile, row, broken, done.reference, undivided, 0, kDimV, [&](int r, int c, f32 a, f32 b) {
          if (c < p.head_dim_v)
            isomer::device::store<2>(p.pieces.partial_out + (r == 0 ? to[0] : to[1]) * p.head_dim_v + c,
                                     Vector<f32, 2>{{a, b}});
        });
  }
};

}  // namespace isomer::device::attention_sm90
