// What a warpgroup of the kernel for wide values does with blocks: those that it owns, whose P it makes, and
// those of the other one, whose P it takes.
#pragma once

#include "ops/attention/kernels/attention_sm90_softmax.cuh"
#include "ops/attention/kernels/attention_sm90_wide_room.cuh"

namespace isomer::device::attention_sm90 {

/// A warpgroup: all 64 rows of a tile and half of the columns of Σ P·v.
struct BlockWork {
  const WideParameters& wide;
  const Parameters& p;
  const Shared& shared;
  const int group;  ///< 0 or 1
  const int warp, lane;
  const SharedMatrix q_matrix, keys_matrix, values_matrix;

  // The tile in work: its blocks are turn.block … last, from key block n down. Those from clear_begin up to
  // clear_end need no mask.
  u32 slot = 0;
  Turn turn;
  u32 last = 0;
  int n = 0, clear_begin = 0, clear_end = 0;
  Rows rows;  ///< sums are over its own blocks
  f32 s[kKeys / 2], o[kHalf / 2];
  Weights<kKeys> weights;
  bool has_v = kQv;  ///< has waited for V of its own block

  ISOMER_DEVICE BlockWork(const WideParameters& parameters, const Shared& memory, int which)
      : wide(parameters),
        p(parameters.call),
        shared(memory),
        group(which),
        warp(static_cast<int>(threadIdx.x / 32 & 3)),
        lane(static_cast<int>(threadIdx.x & 31)),
        q_matrix(SharedMatrix::of(memory.q(), 16, 1024)),
        keys_matrix(SharedMatrix::of(memory.keys(0), 16, 1024)),
        values_matrix(SharedMatrix::of(memory.keys(0, 1 + which * kHalfPanels), kPanel, 1024)) {}

  ISOMER_DEVICE bool first_lane() const { return lane == 0; }
  ISOMER_DEVICE int line() const { return warp * 16 + lane / 4; }  ///< the lane's first row of the tile
  ISOMER_DEVICE int of_stage() const { return turn.stage() * kLayout.stage; }

  /// S += of one panel of 64 columns.
  ISOMER_DEVICE void multiply_panel(int panel, bool first) {
#pragma unroll
    for (int d = 0; d < 4; ++d)
      multiply_add<Element, kKeys>(s, q_matrix + static_cast<u32>(panel * kPanel + d * 32),
                                   keys_matrix + static_cast<u32>(of_stage() + panel * kPanel + d * 32),
                                   !(first && d == 0));
  }
  ISOMER_DEVICE void multiply_half(int half, bool first) {
    shared.v_full(turn.stage(), half).wait(turn.parity());
    warpgroup_fence();
#pragma unroll
    for (int i = 0; i < kHalfPanels; ++i) multiply_panel(1 + half * kHalfPanels + i, first && i == 0);
  }
  /// S = Q·Kᵀ + Qv·Vᵀ of the block in turn, in the order in which its parts arrive: first those of its own
  /// half of V, which are nothing without queries of v.
  ISOMER_DEVICE void issue_front() {
    if constexpr (kQv) {
      multiply_half(group, true);
      warpgroup_commit();
    }
  }
  ISOMER_DEVICE void issue_back() {
    shared.k_full()[turn.stage()].wait(turn.parity());
    warpgroup_fence();
    multiply_panel(0, !kQv);
    if constexpr (kQv) multiply_half(group ^ 1, false);
    warpgroup_commit();
  }
  /// Σ P·v += of the block in turn, whose P are this warpgroup's registers.
  ISOMER_DEVICE void issue_own() {
    if (!has_v) shared.v_full(turn.stage(), group).wait(turn.parity());
    warpgroup_fence();
#pragma unroll
    for (int k = 0; k < kKeys / 16; ++k)
      multiply_add<Element, kHalf, true>(o, weights.of[k],
                                         values_matrix + static_cast<u32>(of_stage() + k * 16 * 128), true);
    warpgroup_commit();
  }
  /// The same of the other warpgroup's block, whose P lies where its K lay.
  ISOMER_DEVICE void issue_other() {
    shared.v_full(turn.stage(), group).wait(turn.parity());
    warpgroup_fence();
#pragma unroll
    for (int k = 0; k < kKeys / 16; ++k)
      multiply_add<Element, kHalf, false, true>(o, keys_matrix + static_cast<u32>(of_stage() + k * 32),
                                                values_matrix + static_cast<u32>(of_stage() + k * 16 * 128),
                                                true);
    warpgroup_commit();
  }
  /// Its half of V of the block in turn may be overwritten.
  ISOMER_DEVICE void free_half() {
    if (first_lane()) shared.v_empty(turn.stage(), group).arrive();
  }

  ISOMER_DEVICE void scale_out(const f32 (&factor)[2]) {
#pragma unroll
    for (int j = 0; j < kHalf / 8; ++j) {
      o[4 * j] *= factor[0];
      o[4 * j + 1] *= factor[0];
      o[4 * j + 2] *= factor[1];
      o[4 * j + 3] *= factor[1];
    }
    pin(o);
  }
  /// Waits for P of the other warpgroup's block in turn and goes over to its references.
  ISOMER_DEVICE void take_references() {
    sync_threads<256>(kMade + (group ^ 1));
    const u32 at = shared.references(group ^ 1) + static_cast<u32>(line() * 4);
    const f32 its[2] = {load_shared_f32(at), load_shared_f32(at + 32)};
    if (!any_lane(its[0] != rows.reference[0] || its[1] != rows.reference[1])) return;
    f32 factor[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      factor[r] = its[r] == rows.reference[r] ? 1.0f : exp2_fast((rows.reference[r] - its[r]) * p.scale_log2);
      rows.sum[r] *= factor[r];
      rows.reference[r] = its[r];
    }
    scale_out(factor);
  }

  ISOMER_DEVICE bool is_clear() const { return n >= clear_begin && n < clear_end; }
  ISOMER_DEVICE void cap_and_mask() {
    if constexpr (kSoftcap) {
#pragma unroll
      for (int i = 0; i < kKeys / 2; ++i) s[i] = tanhf(s[i] * p.cap);
    }
    if (is_clear()) return;
    const Tile tile = get_tile(slot);
    const int row = tile.row0 + line(), from = n * kKeys + lane % 4 * 2;
    mask_from(s, least(tile.high(p, row), tile.k_len) - from,
              least(tile.high(p, row + 8), tile.k_len) - from);
    if (n < clear_begin) mask_below(s, tile.low(p, row) - from, tile.low(p, row + 8) - from);
  }
  /// Zeros for those rows of V that hold none of the tile's keys: slots that are not used may hold a NaN, and
  /// a NaN times a weight of 0 is one.
  ISOMER_DEVICE void clear_unused_values() {
    const Tile tile = get_tile(slot);
    const int used = most(tile.k_len - n * kKeys, 0), before = tile.first - n * kKeys;
    if (used >= kKeys && before <= 0) return;
    if constexpr (!kQv) {
      shared.v_full(turn.stage(), 0).wait(turn.parity());
      shared.v_full(turn.stage(), 1).wait(turn.parity());
      has_v = true;
    }
    const u32 v = shared.keys(turn.stage(), 1), zeros[4] = {};
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x & 127); i < kKeys * 8; i += 128) {  // 16 bytes each
      if (i / 8 >= before && i / 8 < used) continue;
#pragma unroll
      for (int panel = 0; panel < kLayout.panels; ++panel)
        store_shared(v + static_cast<u32>(panel * kPanel + i * 16), zeros);
    }
    fence_async_shared();
    sync_threads<128>(kOne + group);
  }
  /// P and the references to the other warpgroup, once all warps have S: P takes the place of K.
  ISOMER_DEVICE void publish() {
    const u32 place = shared.keys(turn.stage());
#pragma unroll
    for (int k = 0; k < kKeys / 16; ++k)
      store_matrices(swizzled_128(place, static_cast<u32>(warp * 16 + lane % 16),
                                  static_cast<u32>(k * 32 + lane / 16 * 16)),
                     weights.of[k]);
    if (lane % 4 == 0) {
      const u32 at = shared.references(group) + static_cast<u32>(line() * 4);
      store_shared(at, rows.reference[0]);
      store_shared(at + 32, rows.reference[1]);
    }
    fence_async_shared();
    arrive_threads<256>(kMade + group);
  }
  ISOMER_DEVICE void next_block() {
    ++turn.block;
    --n;
  }

  /// The tile's first block, which is its own.
  ISOMER_DEVICE void first_block() {
    issue_front();
    issue_back();
    warpgroup_wait<0>();
    pin(s);
    prepare_scores();
    softmax_first(p, s, rows);
    round_weights<Element>(s, weights);
    publish();
    finish_own();
  }
  /// A block of its own, behind the other's, which is in turn. With queries of v S is the longest of the
  /// products: half of it, then Σ P·v of the other's block, whose stage is given back before the rest of S is
  /// waited for. Without, S goes first and its softmax runs beside Σ P·v.
  ISOMER_DEVICE void later_block() {
    ++turn.block;
    issue_front();
    if constexpr (!kQv) issue_back();
    --turn.block;
    take_references();
    issue_other();
    if constexpr (kQv) {
      free_other();
      ++turn.block;
      issue_back();
      warpgroup_wait<0>();
    } else {
      ++turn.block;
      warpgroup_wait<1>();
    }
    --n;
    pin(s);
    prepare_scores();
    const bool grown = softmax<Element>(p, s, rows, weights);
    weights.pin();
    publish();
    if constexpr (!kQv) {
      --turn.block;
      free_other();
      ++turn.block;
    }
    if (grown) scale_out(rows.factor);
    finish_own();
  }
  /// The block in turn is the other's and the tile's last.
  ISOMER_DEVICE void last_of_other() {
    take_references();
    issue_other();
    free_other();
    next_block();
  }

 private:
  /// Behind S of all warps, K is read no more.
  ISOMER_DEVICE void prepare_scores() {
    sync_threads<128>(kOne + group);
    has_v = kQv;
    if (!is_clear()) clear_unused_values();
    cap_and_mask();
  }
  /// When Σ P·v of the other's block in turn is done, K and its half of V may be overwritten.
  ISOMER_DEVICE void free_other() {
    warpgroup_wait<0>();
    pin(o);
    free_half();
    if (first_lane()) shared.k_empty()[turn.stage()].arrive();
  }
  ISOMER_DEVICE void finish_own() {
    issue_own();
    warpgroup_wait<0>();
    pin(o);
    free_half();
    next_block();
  }
};

}  // namespace isomer::device::attention_sm90
