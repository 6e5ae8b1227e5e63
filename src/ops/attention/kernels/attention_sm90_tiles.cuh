// The order of a call's tiles, and what a tile is. Heads go in sections whose K and V fit L2 together; inside
// of a section the tiles of the last queries, which are the longest under a causal mask, come first for all
// of its heads.
#pragma once

#include "gpu/device/sm90/shared.cuh"
#include "ops/attention/kernels/attention_sm90.h"

namespace isomer::device::attention_sm90 {

using Parameters = AttentionSm90Parameters;
/// Queries of a tile.
#ifdef ISOMER_ROWS
constexpr int kRows = ISOMER_ROWS;
#else
constexpr int kRows = AttentionSm90Layout::kRows;
#endif
constexpr int kGroups = kRows / 64;  // warpgroups that work
constexpr int kThreads = 128 * (1 + kGroups);
/// Rows of several heads share tiles, keys are divided over tiles or lie in pages: attention_sm90_pieces.cuh.
constexpr bool kPieces = ISOMER_PIECES;
/// A query sees the keys of its own chunk alone. It asks for pieces.
#ifdef ISOMER_CHUNKED
constexpr bool kChunked = true;
#else
constexpr bool kChunked = false;
#endif
/// A block may hold slots behind an entry's keys, whose values must not count.
constexpr bool kClears = kPieces || ISOMER_CLEARS;

/// The part of a tile that has all of its keys where others are divided.
constexpr i32 kAllKeys = i32{1} << 30;

ISOMER_DEVICE int least(int a, int b) { return a < b ? a : b; }
ISOMER_DEVICE int most(int a, int b) { return a > b ? a : b; }
ISOMER_DEVICE int clamp(int x, int low, int high) { return most(low, least(x, high)); }

/// Queries row0… of one head, as the producer writes it beside q for the warpgroups that work on it. With
/// pieces rows are those of a unit, `head` is its number, and keys count from where the tile's part begins.
struct Tile {
  i32 row0;  ///< of the entry; below 0 there is no tile any more
  i32 q_len, k_len, head;
  i32 q_outer, q_row;        ///< query i is row (q_outer, q_row + i)
  i32 kv_outer, first_slot;  ///< key j is row (kv_outer, first_slot + j), or slot first_slot + j of its pages
  i32 shift;                 ///< with pieces: query i stands at key i + shift
  i32 first;                 ///< with pieces: keys before it belong to nobody; a copy begins with them
  i32 part;                  ///< with pieces; −1 where it has no keys and no result, or kAllKeys
  i32 kv_head;               ///< with pieces
  i32 entry;                 ///< with pieces, for the producer
  i32 origin;                ///< with chunks: the entry's key that counts as 0

  /// First and last key + 1 that a row sees, not cut to what there is.
  ISOMER_DEVICE int low(const Parameters& p, int row) const {
    if constexpr (kPieces) {
      const int place = query_of(p, row) + shift, from = most(place - p.left, first);
      return kChunked ? most(from, chunk_begin(p, place)) : from;
    }
    return row + k_len - q_len - p.left;
  }
  ISOMER_DEVICE int high(const Parameters& p, int row) const {
    if constexpr (kPieces) {
      const int place = query_of(p, row) + shift, to = place + p.right + 1;
      return kChunked ? least(to, chunk_begin(p, place) + p.pieces.chunk) : to;
    }
    return row + k_len - q_len + p.right + 1;
  }
  /// First key of the chunk that a place lies in; a place before all keys has a chunk of its own, without
  /// any.
  ISOMER_DEVICE int chunk_begin(const Parameters& p, int place) const {
    const int n = place + origin;
    if (n < 0) return -origin - p.pieces.chunk;
    return static_cast<int>(quotient_of(static_cast<u32>(n), p.pieces.of_chunk)) * p.pieces.chunk - origin;
  }
  static ISOMER_DEVICE int query_of(const Parameters& p, int row) {
    if constexpr (kPieces) return static_cast<int>(quotient_of(static_cast<u32>(row), p.pieces.of_pack));
    return row;
  }
  ISOMER_DEVICE int head_of(const Parameters& p, int row) const {
    if constexpr (kPieces) return (head - query_of(p, row)) * p.pieces.pack + row;
    return head;
  }
  ISOMER_DEVICE int head_kv(const Parameters& p) const {
    if constexpr (kPieces) return kv_head;
    return head / p.group;
  }
  /// Row behind the tile's last.
  ISOMER_DEVICE int end(const Parameters& p) const {
    const int rows = kPieces ? p.pieces.tile_rows : kRows, missing = row0 == 0 ? p.missing_rows : 0;
    return least(kPieces ? q_len * p.pieces.pack : q_len, row0 + rows - missing);
  }
};

ISOMER_DEVICE void put_tile(u32 slot, const Tile& tile) {
  const u32 front[4] = {static_cast<u32>(tile.row0), static_cast<u32>(tile.q_len),
                        static_cast<u32>(tile.k_len), static_cast<u32>(tile.head)};
  const u32 back[4] = {static_cast<u32>(tile.q_outer), static_cast<u32>(tile.q_row),
                       static_cast<u32>(tile.kv_outer), static_cast<u32>(tile.first_slot)};
  sm90::store_shared(slot, front);
  sm90::store_shared(slot + 16, back);
  if constexpr (kPieces) {
    const u32 piece[4] = {static_cast<u32>(tile.shift), static_cast<u32>(tile.first),
                          static_cast<u32>(tile.part), static_cast<u32>(tile.kv_head)};
    sm90::store_shared(slot + 32, piece);
    sm90::store_shared(slot + 64, u32{0});
    if constexpr (kChunked) sm90::store_shared(slot + 68, static_cast<u32>(tile.origin));
  }
}
/// That the page table names no page for a key of the tile. Known before V of that block is asked for.
ISOMER_DEVICE void lose_page(u32 slot) { sm90::store_shared(slot + 64, u32{1}); }
ISOMER_DEVICE bool lost_page(u32 slot) { return kPieces && any_lane(sm90::load_shared(slot + 64) != 0); }
ISOMER_DEVICE Tile get_tile(u32 slot) {
  u32 front[4], back[4];
  sm90::load_shared(slot, front);
  sm90::load_shared(slot + 16, back);
  Tile tile = {static_cast<i32>(front[0]),
               static_cast<i32>(front[1]),
               static_cast<i32>(front[2]),
               static_cast<i32>(front[3]),
               static_cast<i32>(back[0]),
               static_cast<i32>(back[1]),
               static_cast<i32>(back[2]),
               static_cast<i32>(back[3]),
               0,
               0,
               0,
               0,
               0,
               0};
  if constexpr (kPieces) {
    u32 piece[4];
    sm90::load_shared(slot + 32, piece);
    tile.shift = static_cast<i32>(piece[0]);
    tile.first = static_cast<i32>(piece[1]);
    tile.part = static_cast<i32>(piece[2]);
    tile.kv_head = static_cast<i32>(piece[3]);
    if constexpr (kChunked) tile.origin = static_cast<i32>(sm90::load_shared(slot + 68));
  }
  return tile;
}

/// Where a slot of k and v lies; outer is past all where there is no such page.
struct Spot {
  int outer, row;
};
ISOMER_DEVICE Spot spot_of(const Parameters& p, const Tile& tile, int slot) {
  const AttentionSm90Pieces& of = p.pieces;
  if (!kPieces || !of.page_table) return {tile.kv_outer, slot};
  Spot spot{static_cast<int>(p.k.outers), 0};
  if (slot >= tile.first_slot + tile.k_len) return spot;
  const int column = static_cast<int>(quotient_of(static_cast<u32>(slot), of.of_page));
  const int page = of.page_table[tile.kv_outer * of.page_table_stride + column];
  if (page >= 0 && page < spot.outer) spot.outer = page;
  spot.row = slot - column * static_cast<int>(of.of_page.value);
  return spot;
}

/// Blocks [begin, end) of keys that a tile works through, from the last to the first: at least one, which is
/// all masked where no query of the tile sees a key.
struct Blocks {
  int begin, end;
};
template <int kKeys>
ISOMER_DEVICE Blocks blocks_of(const Parameters& p, const Tile& tile) {
  const int last = tile.end(p) - 1;
  const int low = most(tile.low(p, tile.row0), 0), high = least(tile.high(p, last), tile.k_len);
  Blocks blocks{low / kKeys, (most(high, 0) + kKeys - 1) / kKeys};
  if (blocks.begin >= blocks.end) blocks = {0, 1};
  return blocks;
}

struct Span {
  int begin, length;
};
ISOMER_DEVICE Span span_of(const i32* cu_seqlens, const i32* seqused, int b, int rows) {
  Span span{0, rows};
  if (cu_seqlens) {
    span.begin = clamp(cu_seqlens[b], 0, rows);
    span.length = clamp(cu_seqlens[b + 1], span.begin, rows) - span.begin;
  }
  if (seqused) span.length = clamp(seqused[b], 0, span.length);
  return span;
}
ISOMER_DEVICE Span queries_of(const Parameters& p, int b) {
  return span_of(p.cu_seqlens_q, p.seqused_q, b, static_cast<int>(p.q.rows));
}

/// Finds tiles by number, for one thread that asks in ascending order.
struct Tiles {
  int entry = 0,
      row_tiles = 0;  ///< the entry in hand and what each of its heads has, where lengths lie on the device
  u32 ahead = 0;      ///< tiles of the entries before it

  ISOMER_DEVICE explicit Tiles(const Parameters& p)
      : row_tiles(p.lengths ? count(queries_of(p, 0).length) : p.row_tiles) {}

  /// False where there are not so many.
  ISOMER_DEVICE bool find(const Parameters& p, u32 number, Tile& tile) {
    int heads = p.heads;
    if (!p.lengths) {
      if (number >= static_cast<u32>(p.tiles)) return false;
      heads *= p.batch;
    } else {
      for (;;) {
        if (entry >= p.batch) return false;
        const u32 here = static_cast<u32>(row_tiles) * static_cast<u32>(heads);
        if (number < ahead + here) break;
        ahead += here;
        if (++entry < p.batch) row_tiles = count(queries_of(p, entry).length);
      }
      number -= ahead;
    }
    const u32 of_section = static_cast<u32>(p.section * row_tiles);
    const int section =
        static_cast<int>(p.lengths ? number / of_section : quotient_of(number, p.of_section_tiles));
    const int rest = static_cast<int>(number - static_cast<u32>(section) * of_section);
    const int together = least(p.section, heads - section * p.section);
    const int turn = together == p.section
                         ? static_cast<int>(quotient_of(static_cast<u32>(rest), p.of_section))
                         : rest / together;
    tile.head = section * p.section + rest - turn * together;
    tile.row0 = most((row_tiles - 1 - turn) * kRows - p.missing_rows, 0);
    if (p.lengths) {
      place(p, entry, tile);
    } else {
      tile.q_outer = tile.kv_outer = static_cast<int>(quotient_of(static_cast<u32>(tile.head), p.of_heads));
      tile.head -= tile.q_outer * p.heads;
      tile.q_len = static_cast<i32>(p.q.rows);
      tile.k_len = static_cast<i32>(p.k.rows);
      tile.q_row = tile.first_slot = 0;
    }
    return true;
  }
  /// All, once find() said that there is none.
  ISOMER_DEVICE u32 all(const Parameters& p) const { return p.lengths ? ahead : static_cast<u32>(p.tiles); }

 private:
  static ISOMER_DEVICE int count(int queries) { return (queries + kRows - 1) / kRows; }
  /// Lengths and places of entry b. Whatever the device data holds, they are inside of the tensors.
  static ISOMER_DEVICE void place(const Parameters& p, int b, Tile& tile) {
    const Span q = queries_of(p, b);
    tile.q_outer = p.cu_seqlens_q ? 0 : b;
    tile.q_row = q.begin;
    tile.q_len = q.length;
    tile.kv_outer = p.cu_seqlens_k ? 0 : p.kv_batch_idx ? p.kv_batch_idx[b] : b;
    Span k = span_of(p.cu_seqlens_k, p.seqused_k, b, static_cast<int>(p.k.rows));
    if (tile.kv_outer < 0 || tile.kv_outer >= static_cast<int>(p.k.outers)) tile.kv_outer = k.length = 0;
    const int padding = p.leftpad_k ? clamp(p.leftpad_k[b], 0, k.length) : 0;
    tile.first_slot = k.begin + padding;
    tile.k_len = k.length - padding;
  }
};

}  // namespace isomer::device::attention_sm90
