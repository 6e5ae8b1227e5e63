#pragma once

#include "gpu/device/divisor.h"
#include "gpu/device/tensor_map.h"
#include "ops/attention/kernels/attention.h"

namespace isomer::device {

/// Shared memory of a block, in bytes from a multiple of 1024 on. Tiles are panels of 64 columns: rows of 128
/// bytes, swizzled.
struct AttentionSm90Layout {
  static constexpr int kRows = 128, kManyRows = 192,
                       kMostRows = 256;  ///< queries of a tile, 64 to a warpgroup
  static constexpr int kStages = 2;      ///< of K and of V
  static constexpr int kMostStages = 4;  ///< of K and of V where they are bytes, or four warpgroups read them
  static constexpr int kPanelBytes = 128;  ///< of a row
  static constexpr int kOutPanels = 2;     ///< of out that wait at once
  static constexpr int kTileSlots = 4;     ///< tiles whose description is kept
  static constexpr int kSlotBytes = 32, kPieceSlotBytes = 80;
  static constexpr int kSlots = 128;                                          ///< from the barriers on
  static constexpr int kRowBarriers = kSlots + kTileSlots * kPieceSlotBytes;  ///< of V by rows, e4m3 only
  static constexpr int kFound =
      kRowBarriers + (2 * kStages + 2 * kMostStages) * 8;  ///< notes of the producer's warp
  static constexpr int kBarrierBytes = kFound + 16;

  int q_bytes, k_bytes, v_bytes, out_bytes;  ///< of a buffer
  int v_row_bytes, k_row_bytes;  ///< of V and K as they lie in memory where products want them otherwise
  int k, v, out, v_rows, k_rows, barriers, bytes;  ///< where they begin (q at 0), and all

  constexpr AttentionSm90Layout(int head_dim, int head_dim_v, int keys, int queries, int element_bytes = 2,
                                int rows = kRows, int kv_bytes = 0)
      : q_bytes(panels(head_dim, element_bytes) * rows * kPanelBytes),
        k_bytes(panels(head_dim, element_bytes) * keys * kPanelBytes),
        v_bytes(element_bytes == 1 ? head_dim_v * turned_row(keys) : panels(head_dim_v) * keys * kPanelBytes),
        out_bytes((panels(head_dim_v) < kOutPanels ? panels(head_dim_v) : kOutPanels) * rows * kPanelBytes),
        v_row_bytes(element_bytes == 1 || kv_bytes == 1 ? panels(head_dim_v, 1) * keys * kPanelBytes : 0),
        k_row_bytes(element_bytes == 2 && kv_bytes == 1 ? panels(head_dim, 1) * keys * kPanelBytes : 0),
        k(queries * q_bytes),
        v(k + stages(element_bytes, keys, rows) * k_bytes),
        out(v + stages(element_bytes, keys, rows) * v_bytes),
        v_rows(out + out_bytes),
        k_rows(v_rows + kStages * v_row_bytes),
        barriers(k_rows + kStages * k_row_bytes),
        bytes(barriers + kBarrierBytes + 1024) {}  // the base is rounded up

  static constexpr int stages(int element_bytes, int keys, int rows) {
    if (rows == kMostRows) return kMostStages;
    return element_bytes != 1 ? kStages : keys == 96 ? kMostStages - 1 : kMostStages;
  }
  /// Bytes of a column of turned V, some of which nobody uses where a block has 96 keys.
  static constexpr int turned_row(int keys) { return keys == 64 ? 64 : 128; }
  static constexpr int panels(int columns, int element_bytes = 2) {
    return (columns * element_bytes + kPanelBytes - 1) / kPanelBytes;
  }
};

/// What the kernel for pieces is told beyond that: rows of several heads share a tile, an entry's keys are
/// divided over tiles, or they lie in pages.
struct AttentionSm90Pieces {
  i32 pack;         ///< query heads that share a tile: row r of a unit is query r / pack of its head r % pack
  i32 units;        ///< of an entry: heads / pack
  i32 tile_rows;    ///< that are in use, whole queries: pack·floor(128 / pack)
  i32 ragged;       ///< entries have different numbers of queries
  i32 parts;        ///< of an entry's keys, at most
  i32 split_size;   ///< keys of a part; 0: whole blocks, as many for each of `parts`
  i32 whole_tiles;  ///< that come first and have all of their keys; those behind are divided into `parts`
  i32 box_rows;     ///< of K and V in one copy: one block, or what divides it and a page
  i32 table_rows, max_pages;
  const i32* page_table;  ///< null: not paged
  i64 page_table_stride;
  const i32 *cache_seqlens, *cu_seqlens_k_new;  ///< [batch] and [batch + 1], or null
  i32 new_rows;
  f32 *partial_out, *partial_state;                ///< as AttentionParameters has them
  i64 partial_heads, partial_rows, partial_first;  ///< with results in parts, and the number of the first row
  Divisor of_pack, of_page;
  AttentionFactors q_descale, k_descale, v_descale;  ///< of e4m3
  i32 v_colmajor;                                    ///< V's rows are columns of keys: e4m3
  i32 chunk;                                         ///< keys of a chunk, whose queries see no others; 0 none
  Divisor of_chunk;
};

/// One call for the Hopper kernel. Lengths and indices that lie on the device are read and clamped there.
struct AttentionSm90Parameters {
  TensorMap q_map, k_map, v_map, out_map;  ///< (column, row, head, outer); boxes of a panel's columns

  AttentionRows q, k, v, out, lse;
  const i32 *cu_seqlens_q, *cu_seqlens_k;                       ///< [batch + 1] or null
  const i32 *seqused_q, *seqused_k, *leftpad_k, *kv_batch_idx;  ///< [batch] or null
  const void* sink;
  AttentionWide sink_type;
  u32* next_tile;

  i32 lengths;  ///< some lie on the device
  i32 batch, heads, heads_kv, group;
  i32 head_dim, head_dim_v;
  i32 left, right;   ///< keys beside the diagonal that are seen; 2^29 where all are
  i32 row_tiles;     ///< of a head, where shapes say the lengths
  i32 tiles;         ///< likewise, of the call
  i32 missing_rows;  ///< the first tile of a head has so many rows less
  i32 section;       ///< heads whose K and V lie in L2 together
  Divisor of_section, of_section_tiles, of_heads;  ///< the second where shapes say the lengths
  f32 cap;                                         ///< multiplies q·k before tanh, with softcap
  f32 scale_log2;                                  ///< of what follows, times log2 e: out = softmax(scale·S)
  f32 lowest;  ///< the reference of a row that has seen no key: below any score

  AttentionSm90Pieces pieces;
};

}  // namespace isomer::device
