// e4m3: products want the keys of a column of V adjacent, in the order in which a lane has them of P. Three
// warps of the producer's warpgroup make that of each block as it lies in memory.
//
// A row of a turned block is a column of V, and has kKeys bytes. Of its every 16 keys, bytes 4t…4t+3 are keys
// 2t, 2t + 1, 8 + 2t and 9 + 2t: what lane t of a quad has of S, so that P goes into its product as it lies.
// Of every 16 columns the even ones come first: eight successive rows of a turned block take eight different
// places in the banks, and a lane then has four adjacent columns of Σ P·v.
#pragma once

#include "gpu/device/async_copy.cuh"
#include "ops/attention/kernels/attention_sm90_room.cuh"

namespace isomer::device::attention_sm90 {

constexpr int kTurners = 3;  // warps

/// Bytes 0 and 2 of both words, or 1 and 3.
ISOMER_DEVICE u32 even_bytes(u32 low, u32 high) {
#if ISOMER_CUDA_ARCH
  return __byte_perm(low, high, 0x6420);
#else
  return (low & 0xff) | (low >> 8 & 0xff00) | (high & 0xff) << 16 | (high & 0xff0000) << 8;
#endif
}
ISOMER_DEVICE u32 odd_bytes(u32 low, u32 high) {
#if ISOMER_CUDA_ARCH
  return __byte_perm(low, high, 0x7531);
#else
  return even_bytes(low >> 8, high >> 8);
#endif
}

/// Keys [before, used) of a block are the tile's. Slots beside them may hold a NaN, which a weight of 0 does
/// not take away: they become 0.
struct Used {
  int before, used;
  ISOMER_DEVICE bool all() const { return before <= 0 && used >= kKeys; }
  /// Of bytes or pairs of bytes that belong to keys first, first + 1, …
  template <int kBytes>
  ISOMER_DEVICE u32 keep(u32 word, int first) const {
    constexpr u32 kOne = kBytes == 1 ? 0xff : 0xffff;
#pragma unroll
    for (int i = 0; i < 4 / kBytes; ++i)
      if (first + i < before || first + i >= used) word &= ~(kOne << (8 * kBytes * i));
    return word;
  }
};

/// Eight keys of eight times two columns, as ldmatrix gives them, become words of four keys of a column.
ISOMER_DEVICE void turn(const u32 (&words)[4], u32 (&turned)[4]) {
  const u32 all[4] = {even_bytes(words[0], words[1]), odd_bytes(words[0], words[1]),
                      even_bytes(words[2], words[3]), odd_bytes(words[2], words[3])};
#pragma unroll
  for (int i = 0; i < 4; ++i) turned[i] = all[i];
}

/// 32 keys and 16 columns of a block whose rows are keys.
ISOMER_DEVICE void turn_rows(u32 lane, u32 from, u32 to, int unit, const Used& used) {
  constexpr int kChunks = kDimV / 16;
  const u32 keys = static_cast<u32>(unit / kChunks * 32), column = static_cast<u32>(unit % kChunks * 16);
  u32 words[4];  // of eight keys each: two of them, of two columns
  load_matrices_transposed(
      swizzled_128(from + column / 128 * static_cast<u32>(kPanelKeys), keys + lane, column % 128), words);
#pragma unroll
  for (int i = 0; i < 4; ++i)
    words[i] = used.keep<2>(words[i], static_cast<int>(keys + lane % 4 * 2) + 8 * i);
  turn(words, words);
  // Lane l names row l % 8 of matrix l / 8: even or odd columns of the first or second 16 keys.
  store_matrices(swizzled<kTurnedRow>(to, column + lane % 16, keys + lane / 16 * 16), words);
}

/// The share of warp kWhich in a block that is the tile's in every row. Which units these are is known here,
/// so that a unit costs two accesses, four permutations and hardly an address: where it lies in the patterns
/// is an exclusive or and a sum with constants.
template <int kWhich>
ISOMER_DEVICE void turn_share(u32 lane, u32 from, u32 to) {
  constexpr int kChunks = kDimV / 16, kUnits = kKeys / 32 * kChunks, kAtOnce = 4;
  const u32 source = swizzled_128(from, lane, 0),
            target = swizzled<kTurnedRow>(to, lane % 16, lane / 16 * 16);
#pragma unroll
  for (int first = kWhich; first < kUnits; first += kAtOnce * kTurners) {
    u32 words[kAtOnce][4];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int unit = first + i * kTurners, column = unit % kChunks * 16;
      if (unit < kUnits)
        load_matrices_transposed((source ^ static_cast<u32>(column % 128)) +
                                     static_cast<u32>(column / 128 * kPanelKeys + unit / kChunks * 32 * 128),
                                 words[i]);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int unit = first + i * kTurners;
      if (unit >= kUnits) continue;
      turn(words[i], words[i]);
      store_matrices((target ^ static_cast<u32>(unit / kChunks * 32)) +
                         static_cast<u32>(unit % kChunks * 16 * kTurnedRow),
                     words[i]);
    }
  }
}

/// 16 keys of 32 columns of a block whose rows are columns: only the order changes.
template <bool kAll>
ISOMER_DEVICE void order_columns(u32 lane, u32 from, u32 to, int unit, const Used& used) {
  constexpr int kChunks = kKeys / 16;
  const u32 row = static_cast<u32>(unit / kChunks * 32) + lane, keys = static_cast<u32>(unit % kChunks * 16);
  u32 words[4];
  load_shared(swizzled<kTurnedRow>(from, row, keys), words);
  if constexpr (!kAll) {
#pragma unroll
    for (int i = 0; i < 4; ++i) words[i] = used.keep<1>(words[i], static_cast<int>(keys) + 4 * i);
  }
  const u32 ordered[4] = {words[0] & 0xffff | words[2] << 16, words[0] >> 16 | words[2] & 0xffff0000,
                          words[1] & 0xffff | words[3] << 16, words[1] >> 16 | words[3] & 0xffff0000};
  store_shared(swizzled<kTurnedRow>(to, row / 16 * 16 + row % 2 * 8 + row % 16 / 2, keys), ordered);
}

/// The share of warp `which` in a block.
template <bool kAll>
ISOMER_DEVICE void turn_units(bool columns, u32 from, u32 to, int which, const Used& used) {
  constexpr int kUnits = kKeys / 16 * kDimV / 32;
  u32 thread[1] = {threadIdx.x & 31};
  pin(thread);  // what comes of it does not stay in registers from block to block
  if (columns) {
#pragma unroll 1
    for (int unit = which; unit < kUnits; unit += kTurners)
      order_columns<kAll>(thread[0], from, to, unit, used);
  } else if constexpr (kAll) {
    if (which == 0) turn_share<0>(thread[0], from, to);
    if (which == 1) turn_share<1>(thread[0], from, to);
    if (which == 2) turn_share<2>(thread[0], from, to);
  } else {
#pragma unroll 1
    for (int unit = which; unit < kUnits; unit += kTurners) turn_rows(thread[0], from, to, unit, used);
  }
}

/// Warp `which` of those that turn blocks.
ISOMER_DEVICE void turn_values(const Parameters& p, const Shared& shared, int which) {
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
      const int rows = static_cast<int>(blocks & 1), turned = static_cast<int>(blocks % kStages);
      shared.v_rows_full()[rows].wait(blocks >> 1 & 1);
      shared.v_empty()[turned].wait(blocks / kStages & 1 ^ 1);
      const Tile again = get_tile(slot);  // not kept in registers
      const Used used{again.first - n * kKeys, again.k_len - n * kKeys};
      if (used.all())
        turn_units<true>(p.pieces.v_colmajor, shared.v_rows(rows), shared.v(turned), which, used);
      else
        turn_units<false>(p.pieces.v_colmajor, shared.v_rows(rows), shared.v(turned), which, used);
      fence_async_shared();
      warp_barrier();
      if ((threadIdx.x & 31) == 0) {
        shared.v_full()[turned].arrive();
        shared.v_rows_empty()[rows].arrive();
      }
    }
  }
}

}  // namespace isomer::device::attention_sm90
