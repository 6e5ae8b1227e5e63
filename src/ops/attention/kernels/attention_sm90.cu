// Attention forward on Hopper, f16, bf16 and e4m3. A block stays on its multiprocessor and takes tiles of 128
// queries of one head, the longest first.
//
//   warpgroup 0, 40 registers: one thread asks the copy engine for Q, K and V, and finds the next tile
//
//   warpgroups 1 and 2, 232 registers: 64 queries each; S, P and Σ P·v stay in registers
//
// Where e4m3 and heads of 64 dimensions have tiles enough they are 192 queries, and three warpgroups of 152
// or 160 registers work on them, or 256 of 64 dimensions and four of 112, each by itself.
//
// Shared memory: 1 or 2 buffers of Q, 2 stages of K, 2 of V, 64 or 128 columns of out. `full` barriers count
// one arrival and bytes, `empty` barriers the warps that work (or, Q's, all their lanes). One
// pipeline runs over all blocks of all tiles, from the last keys to the first: S of the block ahead is issued
// together with P·V of the block behind, and the softmax of the block ahead runs beside P·V, also over the
// border between two tiles. Warpgroups issue in turn.
//
// The producer: attention_sm90_producer.cuh, or _pieces.cuh with _turn.cuh or _convert.cuh. The others, in
// three steps each of which adds to the one before: _warpgroup.cuh (registers, stages, the next tile),
// _blocks.cuh (products and softmax), _way_out.cuh (what a tile leaves). Here: how they follow one another.
#include "gpu/device/overlap.cuh"
#include "gpu/device/sm90/barrier.cuh"
#include "gpu/device/sm90/registers.cuh"
#include "ops/attention/kernels/attention_sm90_convert.cuh"
#include "ops/attention/kernels/attention_sm90_pieces.cuh"
#include "ops/attention/kernels/attention_sm90_producer.cuh"
#include "ops/attention/kernels/attention_sm90_turn.cuh"
#include "ops/attention/kernels/attention_sm90_way_out.cuh"

namespace isomer::device::attention_sm90 {

/// A warpgroup over all its tiles, one pipeline from the first block to the last.
struct Work : WayOut {
  using WayOut::WayOut;

  /// S of a tile's first block, by itself, and its P into `front`.
  ISOMER_DEVICE void begin_tile() {
    if constexpr (kAlone && !kFp8)
      begun = false;
    else
      clear_out();
    wait_k();
    by_width([&](auto& x) {
      issue_s(x);
      warpgroup_wait<0>();
      pin(x);
      free_k();
      look_ahead(0);
      first_block(x);
      round_weights<Element>(x, front);
    });
  }
  /// Σ P·v of its last block, by itself.
  ISOMER_DEVICE void end_tile(int its_turn, bool its_narrow, Rows& its_rows, int its_last) {
    bool waited = false;
    if constexpr (kClearsHere) {
      sync_threads<256>(1 + group);
      waited = clear_unused_values(its_turn, its_last);
    }
    if (!waited) wait_v();
    issue_o(front, its_narrow);
    if constexpr (kClearsHere) end_turn();
    warpgroup_wait<0>();
    pin(o);
    free_v(key.stage ^ 1);
    if constexpr (kAlone) pass_over(behind);
    store_tile(its_turn, its_rows);
  }

  ISOMER_DEVICE void all_tiles() {
    if (kInTurn && group == kGroups - 1) arrive_threads<256>(1);  // the first warpgroup begins
    if constexpr (kQueries == 1 || kAlone) {
      const auto one_tile = [&] {
        if constexpr (kAlone) pass_over(ahead);
        begin_tile();
        other_blocks();
        end_tile(turn, narrow, rows, begin);
      };
      // A loop that fetches at its head hides from the compiler that stages are the same in the whole warp;
      // one that does not spills where registers are fewest.
      constexpr bool kAtHead = kDim == 192 && (kDimV == 192 || kClearsHere || (kSoftcap && !kPieces));
      if constexpr (kAtHead) {
        while (fetch()) one_tile();
      } else if (fetch()) {
        do one_tile();
        while (fetch());
      }
    } else if (fetch()) {
      begin_tile();
      for (;;) {
        other_blocks();
        const bool done_narrow = narrow;
        Rows done = rows;
        const int last = begin;
        if (!fetch()) {
          end_tile(turn - 1, done_narrow, done, last);
          break;
        }
        // The border: S of the next tile's first block with Σ P·v of this one's last.
        // Out's room is free once the turn has come, which all threads wait for.
        if (kInTurn && first_thread()) wait_stores_read<0>();
        by_width([&](auto& x) {
          issue_both(x, front, done_narrow, turn - 1, last);
          look_ahead(1);
          first_block(x);
          warpgroup_wait<0>();
          pin(o);
          free_v(key.stage);
          store_tile<kInTurn>(turn - 1, done);
          if constexpr (kFp8)
            clear_out();
          else
            begun = false;
          round_weights<Element>(x, front);
        });
      }
    }
    if (kInTurn && group == 0)
      sync_threads<256>(1);  // both have had as many turns: the one that is left over
    if (first_thread()) wait_stores<0>();
  }
};

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    isomer_attention_sm90(const __grid_constant__ AttentionSm90Parameters p) {
  extern __shared__ char memory[];
  const Shared shared{(shared_address(memory) + 1023) & ~1023u};
  const int role = shuffle(static_cast<int>(threadIdx.x) / 128, 0);
  if (threadIdx.x == 0) {
    prefetch(p.q_map);
    prefetch(p.k_map);
    prefetch(p.v_map);
    for (int i = 0; i < 2; ++i) {
      shared.q_full()[i].init(1);
      shared.q_empty()[i].init((kAllRead ? 128 : 4) * kGroups);
      if constexpr (kScaled) {
        shared.v_rows_full()[i].init(1);
        shared.v_rows_empty()[i].init(kTurners);
      }
      if constexpr (kConverts) {
        shared.k_rows_full()[i].init(1);
        shared.k_rows_empty()[i].init(kTurners);
      }
    }
    for (int i = 0; i < kStages; ++i) {
      shared.k_full()[i].init(kConverts ? kTurners : 1);
      shared.k_empty()[i].init(4 * kGroups);
      shared.v_full()[i].init(kScaled ? kTurners : 1);
      shared.v_empty()[i].init(4 * kGroups);
    }
    fence_barriers();
  }
  if constexpr (kPieces) {
    if (p.pieces.tile_rows < kRows) clear_spare_rows(p, shared);
  }
  __syncthreads();
  // Lengths and pages are read to find a tile; elsewhere the thread that copies waits when it has one.
  if (kPieces || p.lengths) wait_for_previous();
  let_next_begin();
  if (role == 0) {
    keep_registers<kProducerRegisters>();
    if constexpr (kPieces) {
      if (threadIdx.x < 32) {
        produce_pieces(p, shared);
      } else if constexpr (kConverts) {
        convert_blocks(p, shared, static_cast<int>(threadIdx.x / 32) - 1);
      } else if constexpr (kFp8) {
        turn_values(p, shared, static_cast<int>(threadIdx.x / 32) - 1);
      }
    } else {
      if (threadIdx.x == 0) {
        produce(p, shared);
      } else if constexpr (kQueries == 2 && kGroups == 2) {  // elsewhere it spills
        if (threadIdx.x >= 32 && !p.lengths) fetch_first<96>(p, static_cast<int>(threadIdx.x) - 32);
      }
    }
  } else {
    take_registers<kWorkRegisters>();
    Work work(p, shared, role - 1);
    work.all_tiles();
  }
}

}  // namespace isomer::device::attention_sm90
