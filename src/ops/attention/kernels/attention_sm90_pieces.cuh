// The producer of tiles of pieces is a warp: each lane looks up pages and copies boxes that lie in one of
// them.
#pragma once

#include "gpu/device/sm90/scheduler.cuh"
#include "ops/attention/kernels/attention_entry.cuh"
#include "ops/attention/kernels/attention_sm90_factors.cuh"
#include "ops/attention/kernels/attention_sm90_piece_tiles.cuh"

namespace isomer::device::attention_sm90 {

/// What get_factors() reads again.
ISOMER_DEVICE void put_factors(u32 slot, const Parameters& p, const Tile& tile) {
  const int head = tile.head_kv(p);
  const f32 descale = attention::factor(p.pieces.q_descale, tile.entry, head) *
                      attention::factor(p.pieces.k_descale, tile.entry, head);
  const f32 scale = p.scale_log2 * descale;
  // Part of the scale where that leaves it within what f32 has room for.
  const bool fits = !kSoftcap && scale > 0x1p-60f && scale < 0x1p60f;
  const u32 words[4] = {
      bits_of(fits ? scale : p.scale_log2), bits_of(fits ? -0x1p126f / fmaxf(scale, 1.0f) : p.lowest),
      bits_of(fits ? 1.0f : descale), bits_of(attention::factor(p.pieces.v_descale, tile.entry, head))};
  sm90::store_shared(slot + 48, words);
}

/// Block n of a column-major V, which lies in one page.
ISOMER_DEVICE void load_columns(const Parameters& p, u32 tile_slot, int n, u32 to, Barrier full,
                                Barrier empty, u32 parity) {
  if (threadIdx.x == 0) {
    const Tile tile = get_tile(tile_slot);
    const Spot spot = spot_of(p, tile, tile.first_slot + n * kKeys);
    empty.wait(parity);
    full.arrive_expect(static_cast<u32>(kDimV * kKeys));
    load<4>(p.v_map, {{spot.row, 0, tile.head_kv(p), spot.outer}}, to, full, Keep::normal);
  }
  warp_barrier();
}

/// Where copies of K go, and who says that they have come and that they may.
ISOMER_DEVICE u32 k_place(const Shared& shared, int stage) {
  return kConverts ? shared.k_rows(stage) : shared.k(stage);
}
ISOMER_DEVICE Barrier k_filled(const Shared& shared) {
  return kConverts ? shared.k_rows_full() : shared.k_full();
}
ISOMER_DEVICE Barrier k_freed(const Shared& shared) {
  return kConverts ? shared.k_rows_empty() : shared.k_empty();
}

/// All blocks of a tile of e4m3 whose keys lie one behind the other: one thread, which knows where. Claims
/// the next tile.
template <int kPanels, int kPanelsV>
ISOMER_DEVICE u32 load_blocks(const Parameters& p, const Shared& shared, const TileCounter& counter, int slot,
                              const Blocks& blocks, u32 index) {
  const Tile tile = get_tile(shared.tile(slot));
  const int head = tile.head_kv(p), outer = tile.kv_outer;
  u32 number = 0;
#pragma unroll 1
  for (int n = blocks.end - 1; n >= blocks.begin; --n, ++index) {
    const int stage = static_cast<int>(index % kStages), rows = static_cast<int>(index & 1),
              row = tile.first_slot + n * kKeys;
    k_freed(shared)[stage].wait((index / kStages & 1) ^ 1);
    k_filled(shared)[stage].arrive_expect(kPanels * kPanelKeys);
#pragma unroll
    for (int i = 0; i < kPanels; ++i)
      load<4>(p.k_map, {{i * kKvPanelColumns, row, head, outer}},
              k_place(shared, stage) + static_cast<u32>(i * kPanelKeys), k_filled(shared)[stage],
              Keep::normal);
    if (n == blocks.begin) number = counter.claim();
    shared.v_rows_empty()[rows].wait((index >> 1 & 1) ^ 1);
    shared.v_rows_full()[rows].arrive_expect(kPanelsV * kPanelKeys);
#pragma unroll
    for (int i = 0; i < kPanelsV; ++i)
      load<4>(p.v_map, {{i * kKvPanelColumns, row, head, outer}},
              shared.v_rows(rows) + static_cast<u32>(i * kPanelKeys), shared.v_rows_full()[rows],
              Keep::normal);
  }
  return number;
}

/// The producer's warp. It has 40 registers: what it knows of a tile it reads again where that is described,
/// and places in rings follow from how many tiles and blocks there were.
ISOMER_DEVICE void produce_pieces(const Parameters& p, const Shared& shared) {
  constexpr int kBytes = static_cast<int>(sizeof(KvElement));
  constexpr int kPanels = AttentionSm90Layout::panels(kDim, kBytes),
                kPanelsV = AttentionSm90Layout::panels(kDimV, kBytes),
                kPanelsQuery = AttentionSm90Layout::panels(kDim, static_cast<int>(sizeof(Element)));
  constexpr int kSlots = AttentionSm90Layout::kTileSlots;
  const bool leads = threadIdx.x == 0;
  PieceTiles<kKeys, Shared> tiles(shared);
  const TileCounter counter{p.next_tile};
  u32 done = 0;  // 4 · blocks of K that were asked for + the slot of the tile
  // V of 16 bits runs one block behind K: the block, and the slot of its tile. A barrier of the warp lies
  // between.
  const auto pending = [&]() { return static_cast<int>(load_shared(shared.notes() + 8)); };
  const auto load_v = [&](u32 index, int v_block) {
    const int stage = static_cast<int>(index & 1);
    if constexpr (kFp8) {
      if (p.pieces.v_colmajor) {
        load_columns(p, shared.tile(v_block % kSlots), v_block / kSlots, shared.v_rows(stage),
                     shared.v_rows_full()[stage], shared.v_rows_empty()[stage], (index >> 1 & 1) ^ 1);
        return;
      }
    }
    load_block<KvElement, kKeys, kPanelsV, false>(
        p, p.v_map, shared.tile(v_block % kSlots), v_block / kSlots,
        kScaled ? shared.v_rows(stage) : shared.v(stage),
        kScaled ? shared.v_rows_full()[stage] : shared.v_full()[stage],
        kScaled ? shared.v_rows_empty()[stage] : shared.v_empty()[stage], (index >> 1 & 1) ^ 1);
  };
  u32 number = TileCounter::first();
#pragma unroll 1
  for (;;) {
    if (leads) store_shared(shared.notes() + 12, done);
    bool more = true;
    {
      Tile tile;
      while ((more = tiles.find(p, number, tile)) && tile.part < 0) {
        if (leads) number = counter.claim();
        number = TileCounter::tile_of(shuffle(number, 0));
      }
      if (!more) tile.row0 = -1;
      warp_barrier();
      done = load_shared(shared.notes() + 12);
      const int slot = static_cast<int>(done % kSlots), buffer = slot % kQueries;
      shared.q_empty()[buffer].wait(static_cast<u32>(slot / kQueries & 1) ^ 1);
      if (leads) {  // seen by whoever has waited for q_full
        put_tile(shared.tile(slot), tile);
        if constexpr (kScaled) {
          if (more) put_factors(shared.tile(slot), p, tile);
        }
      }
      warp_barrier();
    }
    const int slot = static_cast<int>(done % kSlots), buffer = slot % kQueries;
    if (leads) {
      const Barrier q_full = shared.q_full()[buffer];
      if (!more) {
        q_full.arrive();
      } else {
        const Tile tile = get_tile(shared.tile(slot));
        q_full.arrive_expect(static_cast<u32>(kPanelsQuery * 128 * p.pieces.tile_rows));
#pragma unroll
        for (int i = 0; i < kPanelsQuery; ++i)
          load<5>(
              p.q_map,
              {{i * kPanelColumns, 0, tile.q_row + Tile::query_of(p, tile.row0), tile.head, tile.q_outer}},
              shared.q(buffer) + static_cast<u32>(i * kPanelQ), q_full, Keep::briefly);
      }
    }
    if (!more) break;
    const Blocks blocks = blocks_of<kKeys>(p, get_tile(shared.tile(slot)));
    bool lies_together = false;
    if constexpr (kScaled) {
      lies_together = !p.pieces.page_table && !p.pieces.v_colmajor;
      if (lies_together) {
        if (leads) number = load_blocks<kPanels, kPanelsV>(p, shared, counter, slot, blocks, done / kSlots);
        warp_barrier();
        done += static_cast<u32>(blocks.end - blocks.begin) * kSlots;
      }
    }
#pragma unroll 1
    for (int n = blocks.end - 1; n >= blocks.begin && !lies_together; --n) {
      const int stage = static_cast<int>(done / kSlots % kStages);
      const u32 parity = (done / kSlots / kStages & 1) ^ 1;
      load_block<KvElement, kKeys, kPanels, true>(p, p.k_map, shared.tile(slot), n, k_place(shared, stage),
                                                  k_filled(shared)[stage], k_freed(shared)[stage], parity);
      // Late: a block at the head of a long tile must not claim one of the few that are left.
      if (n == blocks.begin && leads) number = counter.claim();
      if constexpr (kScaled) {  // it is turned or converted before anybody asks for it, so not behind the
                                // next K
        load_v(done / kSlots, n * kSlots + slot);
      } else if constexpr (kQueries == 1) {
        if (n + 1 < blocks.end) load_v(done / kSlots - 1, (n + 1) * kSlots + slot);
      } else {
        if (done >= kSlots) load_v(done / kSlots - 1, pending());
        if (leads) store_shared(shared.notes() + 8, static_cast<u32>(n * kSlots + slot));
      }
      done += kSlots;
    }
    if constexpr (kQueries == 1 &&
                  !kScaled)  // the next Q waits for the end of this tile, which waits for its last V
      load_v(done / kSlots - 1, blocks.begin * kSlots + slot);
    number = TileCounter::tile_of(shuffle(number, 0));
    done = done / kSlots * kSlots + (done + 1) % kSlots;
  }
  if (kQueries == 2 && !kScaled && done >= kSlots) load_v(done / kSlots - 1, pending());
  if (leads) counter.end(number, tiles.all(p));
}

/// Rows of Q that no copy brings, where a tile is no whole number of queries: zeros, once. Every thread of
/// the block takes part, in front of its barrier.
ISOMER_DEVICE void clear_spare_rows(const Parameters& p, const Shared& shared) {
  constexpr int kPanels = AttentionSm90Layout::panels(kDim, static_cast<int>(sizeof(Element)));
  const int spare = (kRows - p.pieces.tile_rows) * 8;  // 16 bytes each
  const u32 zeros[4] = {};
  for (int i = static_cast<int>(threadIdx.x); i < spare * kPanels * kQueries; i += kThreads) {
    const int panel = i / spare;
    store_shared(shared.q(panel / kPanels) +
                     static_cast<u32>(panel % kPanels * kPanelQ + p.pieces.tile_rows * 128 + i % spare * 16),
                 zeros);
  }
  fence_async_shared();
}

}  // namespace isomer::device::attention_sm90
