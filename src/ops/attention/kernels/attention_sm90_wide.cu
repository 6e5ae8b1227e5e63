// Attention forward on Hopper with values of 256 or 512 columns, f16 and bf16, and with queries of v
// (absorbed multi-head latent attention): S = Q·Kᵀ + Qv·Vᵀ. A block stays on its multiprocessor and takes
// tiles of 64 rows: queries of several heads that share keys.
//
//   warpgroup 0, 56 registers: one warp asks the copy engine for Q, K and V, and finds the next tile
//
//   warpgroups 1 and 2, 224 registers: each has half of the columns of Σ P·v in registers, of all 64 rows
//
// Shared memory: Q with its queries of v, and two stages of a block of 64 keys: K and V, which is read once
// for both products. Blocks go in turn to the warpgroups. The owner of a block computes all of its S and
// makes P; P goes into its own product from registers, and to the other warpgroup through shared memory,
// where K lay:
//
//   warpgroup 1  | S(0)  | softmax(0) | P(0)·V left             | S(2) ‖ P(1)·V left | softmax(2) | P(2)·V
//   left … warpgroup 2          | S(1) ‖ P(0)·V right | softmax(1) | P(1)·V right | S(3) ‖ P(2)·V right …
//
// so that one's softmax runs beside the other's products. K, and each half of V, has barriers of its own: it
// is given back as soon as the last of the three products that read it is done, and S begins with what is
// there. Of the tile's rows both have the same references; who raises one hands it over with P.
//
// attention_sm90_wide_room.cuh: constants and places. _producer.cuh: the warp that asks for copies.
// _blocks.cuh: products and softmax. _way_out.cuh: what a tile leaves. Here: how they follow one another.
#include "ops/attention/kernels/attention_sm90_wide_room.cuh"

#include "gpu/device/overlap.cuh"
#include "gpu/device/sm90/registers.cuh"
#include "ops/attention/kernels/attention_sm90_wide_producer.cuh"
#include "ops/attention/kernels/attention_sm90_wide_way_out.cuh"

namespace isomer::device::attention_sm90 {

/// A warpgroup over all its tiles.
struct Work : WayOut {
  using WayOut::WayOut;

  /// Waits for tile `count`; false where there is none.
  ISOMER_DEVICE bool fetch(u32 count) {
    slot = shared.tile(static_cast<int>(count % Layout::kTileSlots));
    shared.q_full().wait(count & 1);
    const Tile tile = get_tile(slot);
    // From a shuffle the compiler knows that loop bounds are the same in the whole warp.
    const int row0 = shuffle(tile.row0, 0);
    if (row0 < 0) return false;
    const Blocks range = blocks_of<kKeys>(p, tile);
    const int begin = shuffle(range.begin, 0), end = shuffle(range.end, 0);
    n = end - 1;
    last = turn.block + static_cast<u32>(n - begin);
    clear_end = shuffle(most(least(tile.high(p, row0), tile.k_len), 0) / kKeys, 0);
    clear_begin = shuffle(most((most(tile.low(p, row0 + kTileRows - 1), 0) + kKeys - 1) / kKeys, begin), 0);
    return true;
  }
  ISOMER_DEVICE void attend() {
#pragma unroll
    for (int i = 0; i < kHalf / 2; ++i) o[i] = 0.0f;
    pin(o);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      rows.reference[r] = p.lowest;
      rows.sum[r] = 0.0f;
    }
    if (group == 0) first_block();
    while (turn.block < last) later_block();
    if (turn.block == last) last_of_other();
  }
  ISOMER_DEVICE void all_tiles() {
#pragma unroll 1
    for (u32 count = 0; fetch(count); ++count) {
      attend();
      store_tile();
    }
  }
};

extern "C" __global__ void __launch_bounds__(384, 1)
    isomer_attention_sm90_wide(const __grid_constant__ AttentionSm90WideParameters wide) {
  extern __shared__ char memory[];
  const Shared shared{(shared_address(memory) + 1023) & ~1023u};
  const int role = shuffle(static_cast<int>(threadIdx.x) / 128, 0);
  if (threadIdx.x == 0) {
    shared.q_full().init(1);
    shared.q_empty().init(8);
    for (int stage = 0; stage < kStages; ++stage) {
      shared.k_full()[stage].init(1);
      shared.k_empty()[stage].init(4);
      for (int half = 0; half < 2; ++half) {
        shared.v_full(stage, half).init(1);
        shared.v_empty(stage, half).init(4);
      }
    }
    fence_barriers();
  }
  if (wide.call.pieces.tile_rows < kTileRows) clear_spare_rows(wide.call, shared);
  let_next_begin();
  __syncthreads();
  if (role == 0) {
    keep_registers<kProducerRegisters>();
    if (threadIdx.x < 32) produce(wide, shared);
  } else {
    take_registers<252 - kProducerRegisters / 2>();
    Work work(wide, shared, role - 1);
    work.all_tiles();
  }
}

}  // namespace isomer::device::attention_sm90
