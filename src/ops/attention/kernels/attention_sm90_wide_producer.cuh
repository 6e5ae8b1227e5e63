// The warp that asks for Q, K and V: a lane copies boxes of keys that lie in one page.
#pragma once

#include "gpu/device/sm90/scheduler.cuh"
#include "ops/attention/kernels/attention_sm90_piece_tiles.cuh"
#include "ops/attention/kernels/attention_sm90_wide_room.cuh"

namespace isomer::device::attention_sm90 {

/// Q of a tile, and its queries of v.
ISOMER_DEVICE void load_queries(const WideParameters& wide, const Shared& shared, const Tile& tile) {
  const Parameters& p = wide.call;
  constexpr int kPanels = kQv ? kLayout.panels : 0;
  const int query = tile.q_row + Tile::query_of(p, tile.row0);
  shared.q_full().arrive_expect(static_cast<u32>((1 + kPanels) * 128 * p.pieces.tile_rows));
  load<5>(p.q_map, {{0, 0, query, tile.head, tile.q_outer}}, shared.q(), shared.q_full(), Keep::briefly);
#pragma unroll 1
  for (int i = 0; i < kPanels; ++i)
    load<5>(wide.qv_map, {{i * Layout::kPanelColumns, 0, query, tile.head, tile.q_outer}}, shared.q(1 + i),
            shared.q_full(), Keep::briefly);
}

/// The producer's warp.
ISOMER_DEVICE void produce(const WideParameters& wide, const Shared& shared) {
  const Parameters& p = wide.call;
  const bool leads = threadIdx.x == 0;
  PieceTiles<kKeys, Shared> tiles(shared);
  const TileCounter counter{p.next_tile};
  Turn turn;
  const auto load_half = [&](u32 slot, int n, int half) {
    load_block<Element, kKeys, kHalfPanels, false>(
        p, p.v_map, slot, n, shared.keys(turn.stage(), 1 + half * kHalfPanels),
        shared.v_full(turn.stage(), half), shared.v_empty(turn.stage(), half), turn.parity() ^ 1,
        half * kHalfPanels);
  };
  u32 number = TileCounter::first();
#pragma unroll 1
  for (u32 count = 0;; ++count) {
    const u32 slot = shared.tile(static_cast<int>(count % Layout::kTileSlots));
    Tile tile;
    bool more = true;
    while ((more = tiles.find(p, number, tile)) && tile.part < 0) {
      if (leads) number = counter.claim();
      number = TileCounter::tile_of(shuffle(number, 0));
    }
    if (!more) tile.row0 = -1;
    shared.q_empty().wait((count & 1) ^ 1);
    if (leads) {  // seen by whoever has waited for q_full
      put_tile(slot, tile);
      if (more)
        load_queries(wide, shared, tile);
      else
        shared.q_full().arrive();
    }
    warp_barrier();
    if (!more) break;
    const Blocks blocks = blocks_of<kKeys>(p, get_tile(slot));
#pragma unroll 1
    for (int n = blocks.end - 1; n >= blocks.begin; --n, ++turn.block) {
      // In the order in which they are asked for: blocks go in turn, the tile's first to warpgroup 0, and S
      // begins with the half of V that is the owner's.
      const int owner = blocks.end - 1 - n & 1;
      load_half(slot, n, owner);
      load_block<Element, kKeys, 1, true>(p, p.k_map, slot, n, shared.keys(turn.stage()),
                                          shared.k_full()[turn.stage()], shared.k_empty()[turn.stage()],
                                          turn.parity() ^ 1);
      load_half(slot, n, owner ^ 1);
      // Late: a block at the head of a long tile must not claim one of the few that are left.
      if (n == blocks.begin && leads) number = counter.claim();
    }
    number = TileCounter::tile_of(shuffle(number, 0));
  }
  if (leads) counter.end(number, tiles.all(p));
}

/// Rows of Q that no copy brings, where a tile is no whole number of queries: zeros, once. Every thread of
/// the block takes part, in front of its barrier.
ISOMER_DEVICE void clear_spare_rows(const Parameters& p, const Shared& shared) {
  const int spare = (kTileRows - p.pieces.tile_rows) * 8;  // 16 bytes each
  const u32 zeros[4] = {};
  for (int i = static_cast<int>(threadIdx.x); i < spare * (kQv ? 1 + kLayout.panels : 1); i += 384)
    store_shared(shared.q(i / spare) + static_cast<u32>(p.pieces.tile_rows * 128 + i % spare * 16), zeros);
  fence_async_shared();
}

}  // namespace isomer::device::attention_sm90
