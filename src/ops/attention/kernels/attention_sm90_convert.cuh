// Keys and values of e4m3 under queries of 16 bits: products want both of one type. Three warps of the
// producer's warpgroup make 16 bits of each block as it lies in memory, exactly; where rows and columns stand
// does not change.
#pragma once

#include "gpu/device/mma.cuh"
#include "ops/attention/kernels/attention_sm90_turn.cuh"

namespace isomer::device::attention_sm90 {

/// 16 bytes become 32, the second half of which lies where the bit of 16 is the other.
ISOMER_DEVICE void put_wide(u32 first, u32 second, const u32 (&bytes)[4]) {
  u32 words[4];
  e4m3fn_to<Element>(bytes[0], words[0], words[1]);
  e4m3fn_to<Element>(bytes[1], words[2], words[3]);
  store_shared(first, words);
  e4m3fn_to<Element>(bytes[2], words[0], words[1]);
  e4m3fn_to<Element>(bytes[3], words[2], words[3]);
  store_shared(second, words);
}

/// The share of warp kWhich in a block of K or V of kColumns. A unit is eight rows and 64 columns: a lane has
/// 16 columns of a row. Eight lanes that access shared memory together have two rows, and of the odd one the
/// other half of its columns, so that what they read, 16 bytes each, and what they write, 32, lies in
/// different banks. Which units these are is known here: a unit costs three accesses and hardly an address.
/// Unless kAll, rows outside of `used` become zeros.
template <int kColumns, bool kAll, int kWhich>
ISOMER_DEVICE void convert_share(u32 lane, u32 from, u32 to, const Used& used) {
  constexpr int kChunks = kColumns / 16, kHalves = (kChunks + 3) / 4, kUnits = kKeys / 8 * kHalves,
                kAtOnce = kHalves == 2 ? 3 : 2;  // what registers hold
  const u32 row = lane / 4, place = lane % 4, odd = kHalves == 2 ? row & 1 : 0;
  const u32 source = swizzled_128(from, row, odd * 64 + place * 16);
  u32 target[kHalves][2];
  bool there[kHalves];
#pragma unroll
  for (int i = 0; i < kHalves; ++i) {
    const u32 half = static_cast<u32>(i) ^ odd;
#pragma unroll
    for (int k = 0; k < 2; ++k)
      target[i][k] =
          swizzled_128(to + half * static_cast<u32>(kPanelKeys), row, place * 32 + static_cast<u32>(k * 16));
    there[i] = kChunks % 4 == 0 || half * 4 + place < static_cast<u32>(kChunks);
  }
#pragma unroll
  for (int first = kWhich; first < kUnits; first += kAtOnce * kTurners) {
    u32 bytes[kAtOnce][4] = {};
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int unit = first + i * kTurners;
      if (unit < kUnits && there[unit % kHalves])
        load_shared(
            (source ^ static_cast<u32>(unit % kHalves * 64)) + static_cast<u32>(unit / kHalves * 1024),
            bytes[i]);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int unit = first + i * kTurners, its = unit / kHalves * 8 + static_cast<int>(row);
      if (unit >= kUnits || !there[unit % kHalves]) continue;
      if (!kAll && (its < used.before || its >= used.used))
        bytes[i][0] = bytes[i][1] = bytes[i][2] = bytes[i][3] = 0;
      const u32 rows = static_cast<u32>(unit / kHalves * 1024);
      put_wide(target[unit % kHalves][0] + rows, target[unit % kHalves][1] + rows, bytes[i]);
    }
  }
}
/// A panel of bytes after the other; each becomes two of 16 bits.
template <int kColumns, bool kAll>
ISOMER_DEVICE void convert(u32 from, u32 to, int which, const Used& used) {
  constexpr int kHere = kColumns < 128 ? kColumns : 128;
  u32 thread[1] = {threadIdx.x & 31};
  pin(thread);  // what comes of it does not stay in registers from block to block
  if (which == 0) convert_share<kHere, kAll, 0>(thread[0], from, to, used);
  if (which == 1) convert_share<kHere, kAll, 1>(thread[0], from, to, used);
  if (which == 2) convert_share<kHere, kAll, 2>(thread[0], from, to, used);
  if constexpr (kColumns > 128)
    convert<kColumns - 128, kAll>(from + static_cast<u32>(kPanelKeys), to + static_cast<u32>(2 * kPanelKeys),
                                  which, used);
}

/// Warp `which` of those that convert blocks.
ISOMER_DEVICE void convert_blocks(const Parameters& p, const Shared& shared, int which) {
  const auto pass_on = [](Barrier full, Barrier empty) {
    fence_async_shared();
    warp_barrier();
    if ((threadIdx.x & 31) == 0) {
      full.arrive();
      empty.arrive();
    }
  };
  u32 blocks = 0;
#pragma unroll 1
  for (u32 turn = 0;; ++turn) {
    shared.q_full()[static_cast<int>(turn % kQueries)].wait(turn / kQueries & 1);
    const u32 slot = shared.tile(static_cast<int>(turn % AttentionSm90Layout::kTileSlots));
    const Tile tile = get_tile(slot);
    if (tile.row0 < 0) break;
    const Blocks range = blocks_of<kKeys>(p, tile);
#pragma unroll 1
    for (int n = range.end - 1; n >= range.begin; --n, ++blocks) {
      const int stage = static_cast<int>(blocks & 1);
      const u32 parity = blocks >> 1 & 1;
      shared.k_rows_full()[stage].wait(parity);
      shared.k_empty()[stage].wait(parity ^ 1);
      convert<kDim, true>(shared.k_rows(stage), shared.k(stage), which, {0, kKeys});
      pass_on(shared.k_full()[stage], shared.k_rows_empty()[stage]);
      const Tile again = get_tile(slot);  // not kept in registers
      shared.v_rows_full()[stage].wait(parity);
      shared.v_empty()[stage].wait(parity ^ 1);
      const Used used{again.first - n * kKeys, again.k_len - n * kKeys};
      if (used.all())
        convert<kDimV, true>(shared.v_rows(stage), shared.v(stage), which, used);
      else
        convert<kDimV, false>(shared.v_rows(stage), shared.v(stage), which, used);
      pass_on(shared.v_full()[stage], shared.v_rows_empty()[stage]);
    }
  }
}

}  // namespace isomer::device::attention_sm90
