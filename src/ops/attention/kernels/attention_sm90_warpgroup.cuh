// What a warpgroup that works has in registers: the tile in hand, the stages that it reads next, S, P and
// Σ P·v; and the barriers by which it takes tiles and stages and gives them back.
#pragma once

#include "gpu/device/sm90/barrier.cuh"
#include "gpu/device/sm90/pipeline.cuh"
#include "gpu/device/sm90/warpgroup_mma.cuh"
#include "ops/attention/kernels/attention_sm90_factors.cuh"
#include "ops/attention/kernels/attention_sm90_room.cuh"
#include "ops/attention/kernels/attention_sm90_softmax.cuh"

namespace isomer::device::attention_sm90 {

/// What a warpgroup of 64 queries has in registers.
struct Warpgroup {
  const Parameters& p;
  const Shared& shared;
  const int group;  ///< from 0 on
  const int warp, lane;
  Pipeline<kStages> key;               // of the block whose S is next; V is one block behind
  Pipeline<kStages> value;             // of V where kCountsValues
  u32 key_there = 0, value_there = 0;  ///< of e4m3; not 0: the next stage was full when it was looked at
  int turn = -1;                       // tiles so far: says the buffer of Q and the slot of the description
  const SharedMatrix q_matrix, k_matrix, v_matrix;

  // The tile in work: blocks from n down to begin. Those from clear_begin up to clear_end need no mask;
  // narrow: no key of the first block past kNarrow is seen.
  int n, begin, clear_begin, clear_end;
  int ahead = 0,
      behind = 0;  ///< blocks of the tile before the first one and after the last one, where kAlone
  bool narrow;
  int high = 0;  ///< key + 1 that the lane's first row sees, not cut to k_len
  int k_len = 0;
  Rows rows;
  f32 s[kKeys / 2], o[kDimV / 2];
  using P = Weights<kKeys, kDepth>;
  P front, back;  ///< P of two successive blocks
  u32 queries[kHoldsQueries ? kDim / kDepth : 1][4];
  bool begun = true;    ///< Σ P·v of the tile holds something
  Factors factors;      ///< of e4m3
  f32 own_scale;        ///< of 16 bits
  bool raised = false;  ///< references have risen, and Σ P·v is not multiplied yet; where kRaisesLate
  static constexpr u32 kDescaled = 1, kUnset = 2;
  u32 unusual = 0;  ///< is_descaled() and is_unset(), where they are remembered

  ISOMER_DEVICE Warpgroup(const Parameters& parameters, const Shared& memory, int which)
      : p(parameters),
        shared(memory),
        group(which),
        warp(static_cast<int>(threadIdx.x / 32 & 3)),
        lane(static_cast<int>(threadIdx.x & 31)),
        q_matrix(SharedMatrix::of(memory.q(0) + static_cast<u32>(which * 64 * 128), 16, 1024)),
        k_matrix(SharedMatrix::of(memory.k(0), 16, 1024)),
        v_matrix(kFp8 ? SharedMatrix::of(memory.v(0), 16, 8 * kTurnedRow, kTurnedSwizzle)
                      : SharedMatrix::of(memory.v(0), kPanelKeys, 1024)) {
    if constexpr (kScaleInEveryLane && !kScaled) own_scale = in_every_lane(p.scale_log2);
  }

  ISOMER_DEVICE decltype(auto) scale() const {
    if constexpr (kScaled)
      return (factors);
    else
      return Scale{kScaleInEveryLane ? own_scale : p.scale_log2, p.lowest};
  }
  /// The same in all lanes; so they stay together.
  ISOMER_DEVICE bool is_descaled() const { return any_lane(factors.descale != 1.0f); }
  /// Some row of the warp has seen no key.
  ISOMER_DEVICE bool is_unset() const {
    return any_lane(rows.reference[0] <= scale().lowest || rows.reference[1] <= scale().lowest);
  }
  ISOMER_DEVICE void note_unset() { unusual = (unusual & ~kUnset) | (is_unset() ? kUnset : 0u); }
  ISOMER_DEVICE bool first_lane() const { return lane == 0; }
  ISOMER_DEVICE bool first_thread() const { return warp == 0 && lane == 0; }

  ISOMER_DEVICE int query() const { return turn & (kQueries - 1); }
  ISOMER_DEVICE u32 slot_of(int its_turn) const {
    return shared.tile(its_turn & (AttentionSm90Layout::kTileSlots - 1));
  }

  ISOMER_DEVICE Tile tile_of(int its_turn) const {
    if constexpr (kAllRead) return get_tile(slot_of(its_turn));
    Tile tile{};
    if (first_lane()) tile = get_tile(slot_of(its_turn));
    tile.row0 = shuffle(tile.row0, 0);
    tile.q_len = shuffle(tile.q_len, 0);
    tile.k_len = shuffle(tile.k_len, 0);
    tile.head = shuffle(tile.head, 0);
    tile.q_outer = shuffle(tile.q_outer, 0);
    tile.q_row = shuffle(tile.q_row, 0);
    return tile;
  }
  /// The lane's first row. Pinned: what comes of it is computed here and does not stay in registers while
  /// blocks go by.
  ISOMER_DEVICE int first_row(const Tile& tile) const {
    u32 thread[1] = {threadIdx.x & 127};
    pin(thread);
    return tile.row0 + group * 64 + static_cast<int>(thread[0] / 32 * 16 + thread[0] % 32 / 4);
  }
  /// Key + 1 that it sees.
  ISOMER_DEVICE int first_high(const Tile& tile) const { return tile.high(p, first_row(tile)); }

  /// Waits for the next tile; false where there is none.
  ISOMER_DEVICE bool fetch() {
    ++turn;
    shared.q_full()[query()].wait(static_cast<u32>(turn / kQueries & 1));
    u32 front_words[4] = {};
    if (kAllRead || first_lane()) load_shared(slot_of(turn), front_words);
    Tile tile;
    // From a shuffle the compiler knows that loop bounds are the same in the whole warp.
    tile.row0 = shuffle(static_cast<int>(front_words[0]), 0);
    if (tile.row0 < 0) return false;
    tile.q_len = shuffle(static_cast<int>(front_words[1]), 0);
    tile.k_len = shuffle(static_cast<int>(front_words[2]), 0);
    if constexpr (kPieces) {
      u32 piece[4];
      load_shared(slot_of(turn) + 32, piece);
      tile.shift = shuffle(static_cast<int>(piece[0]), 0);
      tile.first = shuffle(static_cast<int>(piece[1]), 0);
      if constexpr (kChunked) tile.origin = shuffle(static_cast<int>(load_shared(slot_of(turn) + 68)), 0);
      if constexpr (kScaled) {
        factors = get_factors(slot_of(turn), p);
        if constexpr (kScaleInEveryLane) factors.scale_log2 = in_every_lane(factors.scale_log2);
        if constexpr (kRemembers) unusual = is_descaled() ? kDescaled : 0;
      }
    }
    if constexpr (kHoldsQueries) hold_queries();
    const Blocks range = blocks_of<kKeys>(p, tile);
    begin = range.begin;
    n = range.end - 1;
    if constexpr (kAlone) {
      const int first = tile.row0 + group * 64, last = least(first + 63, tile.end(p) - 1);
      const int high_end = first <= last ? least(tile.high(p, last), tile.k_len) : 0;
      const int own_end = clamp((high_end + kKeys - 1) / kKeys, begin + 1, range.end);
      const int own_begin = clamp(tile.low(p, first) / kKeys, begin, own_end - 1);
      ahead = shuffle(range.end - own_end, 0);
      behind = shuffle(own_begin - begin, 0);
      n -= ahead;
      begin += behind;
    }
    if constexpr (!kReread) {
      k_len = tile.k_len;
      high = first_high(tile);
    }
    const int row0 = tile.row0 + group * 64;
    clear_end = most(least(tile.high(p, row0), tile.k_len), 0) / kKeys;
    clear_begin = most((most(tile.low(p, row0 + 63), 0) + kKeys - 1) / kKeys, begin);
    narrow = kNarrow < kKeys && least(tile.high(p, row0 + 63), tile.k_len) - n * kKeys <= kNarrow;
    return true;
  }

  /// Q as products want it.
  ISOMER_DEVICE void hold_queries() {
    const u32 from = shared.q(query()) + static_cast<u32>(group * 64 * 128);
#pragma unroll
    for (int d = 0; d < kDim / kDepth; ++d) {
      load_matrices(swizzled_128(from, static_cast<u32>(warp * 16 + lane % 16),
                                 static_cast<u32>(d * 32 + lane / 16 * 16)),
                    queries[d]);
      pin(queries[d]);
    }
  }

  ISOMER_DEVICE void wait_k() {
    if constexpr (kFp8)
      shared.k_full()[key.stage].wait_unless(key_there, key.phase);
    else
      shared.k_full()[key.stage].wait(key.phase);
  }
  /// Of the block behind.
  ISOMER_DEVICE void wait_v() {
    if constexpr (kFp8)
      shared.v_full()[value.stage].wait_unless(value_there, value.phase);
    else if constexpr (kCountsValues)
      shared.v_full()[value.stage].wait(value.phase);
    else
      shared.v_full()[key.stage ^ 1].wait(key.phase ^ (key.stage == 0));
  }
  ISOMER_DEVICE void free_k() {
    if (first_lane()) shared.k_empty()[key.stage].arrive();
    key.advance();
  }
  ISOMER_DEVICE void free_v(int stage) {
    if (first_lane()) shared.v_empty()[kCountsValues ? value.stage : stage].arrive();
    if constexpr (kCountsValues) value.advance();
  }
  /// Gives blocks back that none of its rows has to do with, once they are there.
  ISOMER_DEVICE void pass_over(int blocks) {
#pragma unroll 1
    for (; blocks > 0; --blocks) {
      wait_k();
      free_k();
      wait_v();
      free_v(0);
      look_ahead(0);
    }
  }
  /// Behind free_k(): asks whether what comes next is there, so that the answer has come when it is wanted.
  /// `behind`: blocks of V that are in work and not given back.
  ISOMER_DEVICE void look_ahead(int behind) {
    if constexpr (kFp8) {
      key_there = shared.k_full()[key.stage].is_over(key.phase);
      Pipeline<kStages> next = value;
      if (behind == 1) next.advance();
      value_there = shared.v_full()[next.stage].is_over(next.phase);
    }
  }
  /// After the last S of the tile. With Q the description of an earlier tile is given back, by the lanes that
  /// have read it.
  ISOMER_DEVICE void free_q() {
    if (kAllRead || first_lane()) shared.q_empty()[query()].arrive();
  }
};

}  // namespace isomer::device::attention_sm90
