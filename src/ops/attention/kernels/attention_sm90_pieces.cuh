// Tiles of pieces: rows of several heads that share keys, parts of an entry's keys, keys in pages. The
// producer is a warp: each lane looks up pages and copies boxes that lie in one of them.
//
// Row r of a unit is query r / pack of its head r % pack, so that a box of (head, query) is adjacent rows of
// a tile. Keys of a tile count from where its first copy begins: a part may begin inside of a page or of a
// block, and boxes begin at multiples of their rows. What a copy brings beside the part is masked.
#pragma once

#include "gpu/device/async_copy.cuh"
#include "gpu/device/sm90/scheduler.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "ops/attention/kernels/attention_entry.cuh"
#include "ops/attention/kernels/attention_sm90_factors.cuh"

namespace isomer::device::attention_sm90 {

/// Finds tiles by number, for a warp that asks in ascending order.
struct PieceTiles {
  /// Where the search stands, where entries have different numbers of queries: those before the first are
  /// behind, and have so many tiles. In shared memory, because registers are few.
  const Shared& shared;

  ISOMER_DEVICE explicit PieceTiles(const Shared& room) : shared(room) { put(0, 0); }

  /// False where there are not so many. tile.part is −1 where the tile has nothing to do.
  ISOMER_DEVICE bool find(const Parameters& p, u32 number, Tile& tile) {
    const AttentionSm90Pieces& of = p.pieces;
    const u32 each = static_cast<u32>(of.units * of.parts);
    int entry, row_tiles = p.row_tiles;
    if (!of.ragged) {
      if (number >= static_cast<u32>(p.tiles)) return false;
      const u32 here = static_cast<u32>(row_tiles) * each;
      entry = static_cast<int>(number / here);
      number -= static_cast<u32>(entry) * here;
    } else {
      const int lane = static_cast<int>(threadIdx.x & 31);
      u32 base_word, ahead;
      load_shared(shared.notes(), base_word, ahead);
      int base = static_cast<int>(base_word);
      for (;;) {
        if (base >= p.batch) {
          put(base, ahead);
          return false;
        }
        const int its = base + lane < p.batch ? count(p, queries_of(p, base + lane).length) : 0;
        u32 until = static_cast<u32>(its) * each;  // of the lanes up to this one
#pragma unroll 1
        for (int d = 1; d < 32; d *= 2) {
          const u32 other = shuffle(until, lane - d < 0 ? lane : lane - d);
          if (lane >= d) until += other;
        }
        const u32 all = shuffle(until, 31);
        if (number >= ahead + all) {
          ahead += all;
          base += 32;
          continue;
        }
        int behind = ahead + until <= number;  // lanes whose tiles are
#pragma unroll 1
        for (int d = 1; d < 32; d *= 2) behind += shuffle_xor(behind, d);
        entry = base + behind;
        row_tiles = shuffle(its, behind);
        put(base, ahead);
        number -= ahead + shuffle(until, behind) - static_cast<u32>(row_tiles) * each;
        break;
      }
    }
    const int turns = row_tiles * of.parts;
    const int section = static_cast<int>(number) / (p.section * turns);
    const int rest = static_cast<int>(number) - section * p.section * turns;
    const int together = least(p.section, of.units - section * p.section);
    const int turn = rest / together, row_turn = turn / of.parts;
    tile.head = section * p.section + rest - turn * together;
    tile.row0 = (row_tiles - 1 - row_turn) * of.tile_rows;
    tile.part = turn - row_turn * of.parts;
    // Through shared memory: what it took to find them does not stay in registers.
    warp_barrier();
    if (threadIdx.x == 0) {
      const u32 words[4] = {static_cast<u32>(tile.row0), static_cast<u32>(tile.head),
                            static_cast<u32>(tile.part), static_cast<u32>(entry)};
      store_shared(shared.found(), words);
    }
    warp_barrier();
    place(p, tile);
    return true;
  }
  /// All, once find() said that there is none.
  ISOMER_DEVICE u32 all(const Parameters& p) const {
    u32 base, ahead;
    load_shared(shared.notes(), base, ahead);
    return p.pieces.ragged ? ahead : static_cast<u32>(p.tiles);
  }

 private:
  ISOMER_DEVICE void put(int base, u32 ahead) const {
    warp_barrier();
    if (threadIdx.x == 0) store_shared(shared.notes(), static_cast<u32>(base), ahead);
    warp_barrier();
  }
  static ISOMER_DEVICE int count(const Parameters& p, int queries) {
    return (queries * p.pieces.pack + p.pieces.tile_rows - 1) / p.pieces.tile_rows;
  }
  /// Lengths and places of entry b and of the tile's part. Whatever the device data holds, they are inside of
  /// the tensors.
  ISOMER_DEVICE void place(const Parameters& p, Tile& tile) const {
    u32 words[4];
    load_shared(shared.found(), words);
    const int b = static_cast<int>(words[3]);
    tile.part = static_cast<int>(words[2]);
    const AttentionSm90Pieces& of = p.pieces;
    const Span q = queries_of(p, b);
    tile.q_outer = p.cu_seqlens_q ? 0 : b;
    tile.q_row = q.begin;
    tile.q_len = q.length;
    const bool paged = of.page_table != nullptr;
    const int slots = paged ? of.max_pages * static_cast<int>(of.of_page.value) : static_cast<int>(p.k.rows);
    tile.kv_outer = p.cu_seqlens_k ? 0 : p.kv_batch_idx ? p.kv_batch_idx[b] : b;
    Span k = span_of(p.cu_seqlens_k, nullptr, b, slots);
    if (tile.kv_outer < 0 || tile.kv_outer >= (paged ? of.table_rows : static_cast<int>(p.k.outers)))
      tile.kv_outer = k.length = 0;
    int length = p.seqused_k ? clamp(p.seqused_k[b], 0, k.length) : k.length, added = 0;
    if (of.cache_seqlens) {
      const int position = clamp(of.cache_seqlens[b], 0, k.length);
      added = least(span_of(of.cu_seqlens_k_new, nullptr, b, of.new_rows).length, k.length - position);
      length = position + added;
    }
    const int padding = p.leftpad_k ? clamp(p.leftpad_k[b], 0, length - added) : 0;
    length -= padding;
    int begin = 0, end = length;
    if (of.parts > 1) {
      const int blocks = (length + kKeys - 1) / kKeys;
      const int size = of.split_size > 0 ? of.split_size : (blocks + of.parts - 1) / of.parts * kKeys;
      begin = tile.part * size;
      if (begin >= length)
        tile.part = -1;  // the combine asks for none
      else
        end = least(begin + size, length);
    }
    const int slot = k.begin + padding + begin;
    tile.first = paged ? slot % of.box_rows : 0;
    tile.first_slot = slot - tile.first;
    const int origin = begin - tile.first;  // the key that counts as 0
    tile.k_len = end - origin;
    tile.shift = length - tile.q_len - origin;
    if constexpr (kChunked) tile.origin = origin;
    load_shared(shared.found(), words);
    tile.row0 = static_cast<int>(words[0]);
    tile.head = static_cast<int>(words[1]);
    tile.entry = static_cast<int>(words[3]);
    tile.kv_head = tile.head * of.pack / p.group;
  }
};

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

/// Block n of K or V into a stage that is waited for: a lane of the warp copies every 32nd box of rows. With
/// kNotes it is noted where the table names no page for a key of them.
template <int kPanels, bool kNotes>
ISOMER_DEVICE void load_block(const Parameters& p, const TensorMap& map, u32 tile_slot, int n, u32 to,
                              Barrier full, Barrier empty, u32 parity) {
  const Tile tile = get_tile(tile_slot);
  int row = static_cast<int>(threadIdx.x) * p.pieces.box_rows;
  Spot spot = spot_of(p, tile, tile.first_slot + n * kKeys + row);
  // Every lane is here: where lanes have more than one box, all have as many.
  const auto note = [&]() {
    if (!kNotes) return;
    const bool lost =
        row < least(kKeys, tile.k_len - n * kKeys) && spot.outer == static_cast<int>(p.k.outers);
    if (any_lane(lost) && threadIdx.x == 0) lose_page(tile_slot);
  };
  note();
  empty.wait(parity);
  if (threadIdx.x == 0) full.arrive_expect(static_cast<u32>(kPanels * kPanelKeys));
  warp_barrier();
  const int head = tile.head_kv(p);
#pragma unroll 1
  while (row < kKeys) {
#pragma unroll
    for (int i = 0; i < kPanels; ++i)
      load<4>(map, {{i * kPanelColumns, spot.row, head, spot.outer}},
              to + static_cast<u32>(i * kPanelKeys + row * 128), full, Keep::normal);
    row += 32 * p.pieces.box_rows;
    if (row < kKeys) {
      spot = spot_of(p, tile, tile.first_slot + n * kKeys + row);
      note();
    }
  }
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

/// The producer's warp. It has 40 registers: what it knows of a tile it reads again where that is described,
/// and places in rings follow from how many tiles and blocks there were.
ISOMER_DEVICE void produce_pieces(const Parameters& p, const Shared& shared) {
  constexpr int kBytes = static_cast<int>(sizeof(Element));
  constexpr int kPanels = AttentionSm90Layout::panels(kDim, kBytes),
                kPanelsV = AttentionSm90Layout::panels(kDimV, kBytes);
  constexpr int kSlots = AttentionSm90Layout::kTileSlots;
  const bool leads = threadIdx.x == 0;
  PieceTiles tiles(shared);
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
    load_block<kPanelsV, false>(p, p.v_map, shared.tile(v_block % kSlots), v_block / kSlots,
                                kFp8 ? shared.v_rows(stage) : shared.v(stage),
                                kFp8 ? shared.v_rows_full()[stage] : shared.v_full()[stage],
                                kFp8 ? shared.v_rows_empty()[stage] : shared.v_empty()[stage],
                                (index >> 1 & 1) ^ 1);
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
        if constexpr (kFp8) {
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
        q_full.arrive_expect(static_cast<u32>(kPanels * 128 * p.pieces.tile_rows));
#pragma unroll
        for (int i = 0; i < kPanels; ++i)
          load<5>(
              p.q_map,
              {{i * kPanelColumns, 0, tile.q_row + Tile::query_of(p, tile.row0), tile.head, tile.q_outer}},
              shared.q(buffer) + static_cast<u32>(i * kPanelQ), q_full, Keep::briefly);
      }
    }
    if (!more) break;
    const Blocks blocks = blocks_of<kKeys>(p, get_tile(shared.tile(slot)));
#pragma unroll 1
    for (int n = blocks.end - 1; n >= blocks.begin; --n) {
      const int stage = static_cast<int>(done / kSlots % kStages);
      load_block<kPanels, true>(p, p.k_map, shared.tile(slot), n, shared.k(stage), shared.k_full()[stage],
                                shared.k_empty()[stage], (done / kSlots / kStages & 1) ^ 1);
      // Late: a block at the head of a long tile must not claim one of the few that are left.
      if (n == blocks.begin && leads) number = counter.claim();
      if constexpr (kFp8) {  // it is turned before anybody asks for it, so not behind the next K
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
                  !kFp8)  // the next Q waits for the end of this tile, which waits for its last V
      load_v(done / kSlots - 1, blocks.begin * kSlots + slot);
    number = TileCounter::tile_of(shuffle(number, 0));
    done = done / kSlots * kSlots + (done + 1) % kSlots;
  }
  if (kQueries == 2 && !kFp8 && done >= kSlots) load_v(done / kSlots - 1, pending());
  if (leads) counter.end(number, tiles.all(p));
}

/// Rows of Q that no copy brings, where a tile is no whole number of queries: zeros, once. Every thread of
/// the block takes part, in front of its barrier.
ISOMER_DEVICE void clear_spare_rows(const Parameters& p, const Shared& shared) {
  constexpr int kPanels = AttentionSm90Layout::panels(kDim, static_cast<int>(sizeof(Element)));
  const int spare = (kRows - p.pieces.tile_rows) * 8;  // 16 bytes each
  const u32 zeros[4] = {};
  for (int i = static_cast<int>(threadIdx.x); i < spare * kPanels * kQueries; i += 384) {
    const int panel = i / spare;
    store_shared(shared.q(panel / kPanels) +
                     static_cast<u32>(panel % kPanels * kPanelQ + p.pieces.tile_rows * 128 + i % spare * 16),
                 zeros);
  }
  fence_async_shared();
}

}  // namespace isomer::device::attention_sm90
