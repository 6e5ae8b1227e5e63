// Tiles of pieces and where their keys lie: rows of several heads that share keys, parts of an entry's keys,
// keys in pages.
//
// Row r of a unit is query r / pack of its head r % pack, so that a box of (head, query) is adjacent rows of
// a tile. Keys of a tile count from where its first copy begins: a part may begin inside of a page or of a
// block, and boxes begin at multiples of their rows. What a copy brings beside the part is masked.
#pragma once

#include "gpu/device/async_copy.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "ops/attention/kernels/attention_sm90_tiles.cuh"

namespace isomer::device::attention_sm90 {

using namespace sm90;

/// Finds tiles by number, for a warp that asks in ascending order.
/// Shared says where it takes its notes.
template <int kKeys, class Shared>
struct PieceTiles {
  /// Where the search stands, where entries have different numbers of queries: those before the first are
  /// behind, and have so many tiles. In shared memory, because registers are few.
  const Shared& shared;

  ISOMER_DEVICE explicit PieceTiles(const Shared& room) : shared(room) { put(0, 0); }

  /// False where there are not so many. tile.part is −1 where the tile has nothing to do.
  ISOMER_DEVICE bool find(const Parameters& p, u32 number, Tile& tile) {
    const AttentionSm90Pieces& of = p.pieces;
    int parts = of.parts, part = 0;
    if (of.whole_tiles > 0) {  // entries have the same number of queries then
      if (number >= static_cast<u32>(p.tiles)) return false;
      const int behind = static_cast<int>(number) - of.whole_tiles;
      part = behind < 0 ? kAllKeys : behind % parts;
      if (behind >= 0) number = static_cast<u32>(of.whole_tiles + behind / parts);
      parts = 1;
    }
    const u32 each = static_cast<u32>(of.units * parts);
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
    const int turns = row_tiles * parts;
    const int section = static_cast<int>(number) / (p.section * turns);
    const int rest = static_cast<int>(number) - section * p.section * turns;
    const int together = least(p.section, of.units - section * p.section);
    const int turn = rest / together, row_turn = turn / parts;
    tile.head = section * p.section + rest - turn * together;
    tile.row0 = most((row_tiles - 1 - row_turn) * of.tile_rows - p.missing_rows, 0);
    tile.part = part + turn - row_turn * parts;
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
    if (of.parts > 1 && tile.part != kAllKeys) {
      const int blocks = (length + kKeys - 1) / kKeys;
      const int size = of.split_size > 0 ? of.split_size : (blocks + of.parts - 1) / of.parts * kKeys;
      begin = tile.part * size;
      if (begin >= length)
        tile.part = -1;  // the combine asks for none
      else
        end = least(begin + size, length);
    }
    const int slot = k.begin + padding + begin;
    // A copy begins at a multiple of 16 bytes of its first dimension, which is keys where V lies by columns.
    tile.first = paged ? slot % of.box_rows : of.v_colmajor ? slot % 16 : 0;
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

/// kPanels of block n of K or V, from panel `first` on, into a stage that is waited for: a lane of the warp
/// copies every 32nd box of rows. With kNotes it is noted where the table names no page for a key of them.
template <class T, int kKeys, int kPanels, bool kNotes>
ISOMER_DEVICE void load_block(const Parameters& p, const TensorMap& map, u32 tile_slot, int n, u32 to,
                              Barrier full, Barrier empty, u32 parity, int first = 0) {
  constexpr int kPanelColumns = 128 / static_cast<int>(sizeof(T)), kPanelKeys = kKeys * 128;
  const Tile tile = get_tile(tile_slot);
  int row = static_cast<int>(threadIdx.x) * p.pieces.box_rows;
  Spot spot = spot_of(p, tile, tile.first_slot + n * kKeys + row);
  // Every lane is here, and so in each round, whether or not it has a box left: lanes without one wait for
  // the others before they go on to the next barrier.
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
  for (int left = kKeys;;) {
    if (row < kKeys) {
#pragma unroll
      for (int i = 0; i < kPanels; ++i)
        load<4>(map, {{(first + i) * kPanelColumns, spot.row, head, spot.outer}},
                to + static_cast<u32>(i * kPanelKeys + row * 128), full, Keep::normal);
    }
    left -= 32 * p.pieces.box_rows;
    if (left <= 0) break;
    row += 32 * p.pieces.box_rows;
    spot = spot_of(p, tile, tile.first_slot + n * kKeys + row);
    note();
  }
}

}  // namespace isomer::device::attention_sm90
