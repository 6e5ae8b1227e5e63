// The way out of a tile: Σ P·v divided by the sums of its rows, lse, and what is not finite, summed again.
#pragma once

#include "gpu/device/async_copy.cuh"
#include "gpu/device/vector.cuh"
#include "ops/attention/kernels/attention_sm90_repair.cuh"
#include "ops/attention/kernels/attention_sm90_wide_blocks.cuh"

namespace isomer::device::attention_sm90 {

/// A warpgroup at the end of its tile.
struct WayOut : BlockWork {
  using BlockWork::BlockWork;

  /// Σ P·v of columns `first`… of the call are this warpgroup's.
  ISOMER_DEVICE int first_column() const { return group * kHalf; }

  /// The rows' sums over the blocks of both warpgroups. Behind it Q is read no more.
  ISOMER_DEVICE void join_sums(const Tile& tile, int row) {
    const u32 at = static_cast<u32>(line() * 4);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      rows.sum[r] += shuffle_xor(rows.sum[r], 1);
      rows.sum[r] += shuffle_xor(rows.sum[r], 2);
      if (lane % 4 == 0) store_shared(shared.sums(group) + at + static_cast<u32>(r * 32), rows.sum[r]);
    }
    sync_threads<256>(kBoth);
#pragma unroll
    for (int r = 0; r < 2; ++r)
      rows.sum[r] += load_shared_f32(shared.sums(group ^ 1) + at + static_cast<u32>(r * 32));
    if (!lost_page(slot)) return;
    count_again<Element, kKeys, kSoftcap>(p, p, 0.0f, tile, row, rows.reference, rows.sum, wide.qv);
#pragma unroll
    for (int r = 0; r < 2; ++r) rows.sum[r] = shuffle(rows.sum[r], lane & ~3);
    o[0] = o[2] = nan();  // so that Σ P·v of both rows is summed again, too
  }
  /// The sums as factors for Σ P·v; writes lse.
  ISOMER_DEVICE void finish_rows(const Tile& tile, int first, f32 (&factor)[2]) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first + 8 * r;
      f32 sum = rows.sum[r], base = rows.reference[r] * p.scale_log2, decay = 1.0f;
      if (sum == 0.0f) base = -infinity();  // sees no key
      if (p.sink) {
        const int head = clamp(tile.head_of(p, row), 0, p.heads - 1);
        const f32 sink = attention::read(p.sink, p.sink_type, head) * kLog2E, joined = fmaxf(base, sink);
        decay = exp2_fast(base - joined);
        sum = sum * decay + exp2_fast(sink - joined);
        base = joined;
      }
      factor[r] = base == -infinity() ? 0.0f : decay * reciprocal_fast(sum);
      if (group == 0 && lane % 4 == 0 && row < tile.end(p) && p.lse.data)
        *attention::at<f32>(p.lse, tile.q_outer, tile.q_row + Tile::query_of(p, row), tile.head_of(p, row)) =
            base == -infinity() ? base : (base + log2_fast(sum)) * kLn2;
    }
  }
  /// Not finite where an element of the lane's row is not, or where they are huge.
  ISOMER_DEVICE f32 sum_of_out(int r) const {
    f32 sums[4] = {};
#pragma unroll
    for (int j = 0; j < kHalf / 8; ++j) sums[j % 4] += o[4 * j + 2 * r] + o[4 * j + 2 * r + 1];
    return sums[0] + sums[1] + (sums[2] + sums[3]);
  }
  /// Rows in use whose Σ P·v is not finite although their weights are.
  ISOMER_DEVICE void find_broken(const Tile& tile, int row, bool (&broken)[2]) const {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      f32 all = sum_of_out(r);
      all += shuffle_xor(all, 1);
      all += shuffle_xor(all, 2);
      broken[r] = row + 8 * r < tile.end(p) && !is_finite(all) && is_finite(rows.sum[r]) &&
                  is_finite(rows.reference[r]);
    }
  }

  ISOMER_DEVICE void store_tile() {
    const Tile tile = get_tile(slot);
    // Pinned: what comes of it is computed here and does not stay in registers while blocks go by.
    u32 thread[1] = {threadIdx.x & 127};
    pin(thread);
    const int row = tile.row0 + static_cast<int>(thread[0] / 32 * 16 + thread[0] % 32 / 4);
    join_sums(tile, row);
    if (p.pieces.parts > 1) {
      free_q();
      store_part(tile, row);
      return;
    }
    f32 factor[2];
    finish_rows(tile, row, factor);
    clear_spare_sums(tile, row);
    const u32 slab = shared.q(1 + group * kHalfPanels);
#pragma unroll
    for (int c = 0; c < kHalf; c += 16) {
      const int j = c / 8;
      const u32 words[4] = {pack<Element>(o[4 * j] * factor[0], o[4 * j + 1] * factor[0]),
                            pack<Element>(o[4 * j + 2] * factor[1], o[4 * j + 3] * factor[1]),
                            pack<Element>(o[4 * j + 4] * factor[0], o[4 * j + 5] * factor[0]),
                            pack<Element>(o[4 * j + 6] * factor[1], o[4 * j + 7] * factor[1])};
      store_matrices(
          swizzled_128(slab + static_cast<u32>(c / 64 * kPanel), static_cast<u32>(warp * 16 + lane % 16),
                       static_cast<u32>(c % 64 * 2 + lane / 16 * 16)),
          words);
    }
    bool broken[2];
    find_broken(tile, row, broken);
    if (any_lane(broken[0] || broken[1])) {
      warp_barrier();  // other lanes have written these rows
      repair<Element, kKeys, kSoftcap>(
          p, p, 0.0f, tile, row, broken, rows.reference, factor, first_column(), kHalf,
          [&](int r, int c, f32 a, f32 b) {
            store_shared(swizzled_128(slab + static_cast<u32>(c / 64 * kPanel),
                                      static_cast<u32>(line() + 8 * r), static_cast<u32>(c % 64 * 2)),
                         pack<Element>(a, b));
          },
          wide.qv);
    }
    fence_async_shared();  // the next Q is copied over it
    sync_threads<128>(kOne + group);
    store_rows(tile, thread[0], slab);
    free_q();
  }

 private:
  /// Rows of Q that no copy brings stay zeros: what a row looks like must not depend on tiles before it.
  ISOMER_DEVICE void clear_spare_sums(const Tile& tile, int row) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (!any_lane(row + 8 * r >= tile.end(p))) continue;
#pragma unroll
      for (int j = 0; j < kHalf / 8; ++j)
        if (row + 8 * r >= tile.end(p)) o[4 * j + 2 * r] = o[4 * j + 2 * r + 1] = 0.0f;
    }
  }
  ISOMER_DEVICE void free_q() const {
    warp_barrier();
    if (first_lane()) shared.q_empty().arrive();
  }
  /// This warpgroup's columns of the tile's rows, 16 bytes at a time.
  ISOMER_DEVICE void store_rows(const Tile& tile, u32 thread, u32 slab) const {
    constexpr int kChunks = kHalf / 8;
    const int count = tile.end(p) - tile.row0;
#pragma unroll 1
    for (int i = static_cast<int>(thread); i < count * kChunks; i += 128) {
      const int r = i / kChunks, c = i % kChunks;
      if (first_column() + c * 8 >= p.head_dim_v) continue;
      u32 words[4];
      load_shared(swizzled_128(slab + static_cast<u32>(c / 8 * kPanel), static_cast<u32>(r),
                               static_cast<u32>(c % 8 * 16)),
                  words);
      const Vector<u32, 4> vector{{words[0], words[1], words[2], words[3]}};
      Element* to = attention::at<Element>(p.out, tile.q_outer, tile.q_row + Tile::query_of(p, tile.row0 + r),
                                           tile.head_of(p, tile.row0 + r)) +
                    first_column() + c * 8;
      isomer::device::store<4>(reinterpret_cast<u32*>(to), vector);
    }
  }
  /// Of a part of an entry's keys: Σ P·v as it is, and the reference and sum of each row, for the combine.
  ISOMER_DEVICE void store_part(const Tile& tile, int row) {
    const f32 undivided[2] = {1.0f, 1.0f};
    bool broken[2];
    find_broken(tile, row, broken);
    i64 to[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int query = Tile::query_of(p, row + 8 * r), head = tile.head_of(p, row + 8 * r);
      to[r] = (static_cast<i64>(tile.part) * p.heads + head) * p.pieces.partial_rows +
              tile.q_outer * p.q.rows + tile.q_row + query;
      if (row + 8 * r >= tile.end(p)) continue;
      if (group == 0 && lane % 4 == 0) {
        const Vector<f32, 2> state{
            {rows.sum[r] == 0.0f ? -infinity() : rows.reference[r] * p.scale_log2, rows.sum[r]}};
        isomer::device::store<2>(p.pieces.partial_state + to[r] * 2, state);
      }
#pragma unroll
      for (int j = 0; j < kHalf / 8; ++j) {
        const int column = first_column() + 8 * j + lane % 4 * 2;
        if (column < p.head_dim_v)
          isomer::device::store<2>(p.pieces.partial_out + to[r] * p.head_dim_v + column,
                                   Vector<f32, 2>{{o[4 * j + 2 * r], o[4 * j + 2 * r + 1]}});
      }
    }
    if (!any_lane(broken[0] || broken[1])) return;
    warp_barrier();  // other lanes have written these rows
    repair<Element, kKeys, kSoftcap>(
        p, p, 0.0f, tile, row, broken, rows.reference, undivided, first_column(), kHalf,
        [&](int r, int c, f32 a, f32 b) {
          if (first_column() + c < p.head_dim_v)
            isomer::device::store<2>(
                p.pieces.partial_out + (r == 0 ? to[0] : to[1]) * p.head_dim_v + first_column() + c,
                Vector<f32, 2>{{a, b}});
        },
        wide.qv);
  }
};

}  // namespace isomer::device::attention_sm90
