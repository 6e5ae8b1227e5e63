// The thread that fills shared memory.
#pragma once

#include "gpu/device/overlap.cuh"
#include "gpu/device/sm90/pipeline.cuh"
#include "gpu/device/sm90/scheduler.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "ops/attention/kernels/attention_sm90_room.cuh"

namespace isomer::device::attention_sm90 {

/// A tile of rows from `row` on, panel by panel.
template <int kPanels>
ISOMER_DEVICE void load_panels(const TensorMap& map, int row, int head, int outer, u32 to, int panel_bytes,
                               Barrier full, Keep keep) {
#pragma unroll
  for (int i = 0; i < kPanels; ++i)
    load<4>(map, {{i * 64, row, head, outer}}, to + static_cast<u32>(i * panel_bytes), full, keep);
}

/// Has the block's first tile of queries and the keys that it begins with brought into the L2 cache, by
/// threads that have nothing else to do: 0 to kFetching − 1. Nothing is read, so the launch ahead need not
/// have ended; the copies behind the wait for it find them near.
template <int kFetching>
ISOMER_DEVICE void fetch_first(const Parameters& p, int thread) {
  Tiles tiles(p);
  Tile tile;
  if (!tiles.find(p, TileCounter::first(), tile)) return;
  const auto fetch = [&](const AttentionRows& of, int columns, int outer, int head, int first, int end) {
    constexpr int kBytes = static_cast<int>(sizeof(Element)), kLine = 128;
    const int lines = (columns * kBytes + kLine - 1) / kLine;
    const char* const from =
        static_cast<const char*>(of.data) + (outer * of.outer_stride + head * of.head_stride) * kBytes;
#pragma unroll 1
    for (int i = thread; i < (end - first) * lines; i += kFetching) {
      const int row = i / lines;
      fetch_ahead(from + (first + row) * of.row_stride * kBytes + (i - row * lines) * kLine);
    }
  };
  fetch(p.q, p.head_dim, tile.q_outer, tile.head, tile.row0, least(tile.row0 + kRows, tile.q_len));
  const int first = (blocks_of<kKeys>(p, tile).end - 1) * kKeys;
  fetch(p.k, p.head_dim, tile.kv_outer, tile.head_kv(p), first, least(first + kKeys, tile.k_len));
}

/// The producer's one thread.
ISOMER_DEVICE void produce(const Parameters& p, const Shared& shared) {
  constexpr int kPanels = AttentionSm90Layout::panels(kDim), kPanelsV = AttentionSm90Layout::panels(kDimV);
  Tiles tiles(p);
  const TileCounter counter{p.next_tile};
  Pipeline<kQueries> query;
  Pipeline<kStages> key, value;
  // V runs one block behind K, the order in which they are asked for: the block whose V is still to come.
  bool pending = false;
  int v_row = 0, v_head = 0, v_outer = 0;
  const auto load_v = [&]() {
    const Barrier full = shared.v_full()[value.stage];
    shared.v_empty()[value.stage].wait(value.phase ^ 1);
    full.arrive_expect(kLayout.v_bytes);
    if constexpr (kGroups >= 3) {  // noted, not kept: this thread has 32 registers
      u32 row, head, outer, none;
      load_shared(shared.notes(), row, head);
      load_shared(shared.notes() + 8, outer, none);
      v_row = static_cast<int>(row);
      v_head = static_cast<int>(head);
      v_outer = static_cast<int>(outer);
    }
    load_panels<kPanelsV>(p.v_map, v_row, v_head, v_outer, shared.v(value.stage), kPanelKeys, full,
                          Keep::longest);
    value.advance();
  };
  Tile tile;
  u32 number = TileCounter::first();
#pragma unroll 1
  for (int slot = 0;; slot = (slot + 1) & (AttentionSm90Layout::kTileSlots - 1)) {
    const bool more = tiles.find(p, number, tile);
    if (!more) tile.row0 = -1;
    const Barrier q_full = shared.q_full()[query.stage];
    shared.q_empty()[query.stage].wait(query.phase ^ 1);
    put_tile(shared.tile(slot), tile);  // seen by whoever has waited for q_full
    if (!more) {
      q_full.arrive();
      break;
    }
    // In front of the first copy. Asked again for each tile it costs 0.7 % of long calls.
    if (number == TileCounter::first()) wait_for_previous();
    q_full.arrive_expect(kLayout.q_bytes);
    load_panels<kPanels>(p.q_map, tile.q_row + tile.row0, tile.head, tile.q_outer, shared.q(query.stage),
                         kPanelQ, q_full, Keep::briefly);
    query.advance();
    const int head = tile.head_kv(p);
    const Blocks blocks = blocks_of<kKeys>(p, tile);
    u32 claimed = 0;
#pragma unroll 1
    for (int n = blocks.end - 1; n >= blocks.begin; --n) {
      const Barrier full = shared.k_full()[key.stage];
      const int row = tile.first_slot + n * kKeys;
      shared.k_empty()[key.stage].wait(key.phase ^ 1);
      full.arrive_expect(kLayout.k_bytes);
      load_panels<kPanels>(p.k_map, row, head, tile.kv_outer, shared.k(key.stage), kPanelKeys, full,
                           Keep::longest);
      key.advance();
      // Late: a block at the head of a long tile must not claim one of the few that are left.
      if (n == blocks.begin) claimed = counter.claim();
      if (pending) load_v();
      pending = true;
      if constexpr (kGroups >= 3) {
        store_shared(shared.notes(), static_cast<u32>(row), static_cast<u32>(head));
        store_shared(shared.notes() + 8, static_cast<u32>(tile.kv_outer), 0u);
      } else {
        v_row = row;
        v_head = head;
        v_outer = tile.kv_outer;
      }
    }
    if constexpr (kQueries == 1) {  // the next Q waits for the end of this tile, which waits for its last V
      load_v();
      pending = false;
    }
    number = TileCounter::tile_of(claimed);
  }
  if (pending) load_v();
  counter.end(number, tiles.all(p));
}

}  // namespace isomer::device::attention_sm90
