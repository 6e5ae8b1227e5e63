// What the kernels have in one: which rows and columns a block owns, where its rows lie, and what happens to
// a sum.
#pragma once

#include "gpu/device/portable.cuh"
#include "ops/fp8_gemm/kernels/fp8_gemm.h"
#include "ops/fp8_gemm/kernels/shared_memory.h"

namespace isomer::device {

/// The rows [first, first + rows) of an entry and the columns that begin at `column`. A tile of the
/// contiguous layout lies in one segment, so its first row names its expert; −1 where that row is padding,
/// and then all of them are.
struct GemmTile {
  i64 expert, first, column;
  int rows;
};

/// Tiles run through groups of up to 8 tiles of rows, so that what runs at once shares rows of a and of b in
/// the L2 cache.
template <int kRows, int kColumns>
ISOMER_DEVICE GemmTile tile_of(const Fp8GemmParameters& p, u32 index) {
  // A launch has less than 2^31 tiles, so no product here is larger.
  const u32 tiles = p.row_tiles * p.column_tiles, together = p.row_tiles < 8 ? p.row_tiles : 8;
  const u32 expert = index / tiles;
  index -= expert * tiles;
  const u32 group = index / (together * p.column_tiles);
  index -= group * together * p.column_tiles;
  const u32 left = p.row_tiles - group * together, high = left < together ? left : together;
  const u32 column = index / high;
  GemmTile tile;
  tile.expert = expert;
  tile.column = static_cast<i64>(column) * kColumns;
  tile.first = static_cast<i64>(group * together + index - column * high) * kRows;
  i64 end = p.rows;
  if (p.layout == GemmRows::masked) {
    const i64 count = p.row_counts[tile.expert * p.count_step];
    if (count < end) end = count;
  }
  if (p.layout == GemmRows::contiguous) {
    const i64 id = p.expert_ids[tile.first * p.id_step];
    tile.expert = id >= 0 && id < p.experts ? id : -1;
  }
  end -= tile.first;
  tile.rows = static_cast<int>(end < 0 ? 0 : end < kRows ? end : kRows);
  return tile;
}

/// The rows of a tile, in shared memory. Those that are not multiplied have the first row's place in a and
/// a_s, which may be read: what comes of it is not used.
template <int kRows>
struct GemmRowTable {
  i64 a[kRows], a_s[kRows], c[kRows], addend[kRows];  ///< offsets of their beginnings, in elements
  u8 state[kRows];
  static constexpr u8 kAbsent = 0, kProduct = 1, kPadding = 2;

  template <int kThreads>
  ISOMER_DEVICE void fill(const Fp8GemmParameters& p, const GemmTile& tile) {
#pragma unroll 1
    for (int r = static_cast<int>(threadIdx.x); r < kRows; r += kThreads) {
      u8 what = r < tile.rows ? kProduct : kAbsent;
      const i64 row = tile.first + r;
      if (what == kProduct && p.layout == GemmRows::contiguous) {
        const i64 id = p.expert_ids[row * p.id_step];
        if (tile.expert < 0 || id < 0 || id >= p.experts) what = kPadding;
      }
      state[r] = what;
      const i64 entry = p.layout == GemmRows::masked ? tile.expert : 0;
      const i64 read = what == kProduct ? row : tile.first, written = what == kAbsent ? tile.first : row;
      a[r] = offset(p, p.a_rows, entry, read);
      a_s[r] = offset(p, p.a_s_rows, entry, read);
      c[r] = offset(p, p.c_rows, entry, written);
      addend[r] = offset(p, p.addend_rows, entry, written);
    }
  }
  ISOMER_DEVICE bool multiplied(int r) const { return state[r] == kProduct; }

 private:
  static ISOMER_DEVICE i64 offset(const Fp8GemmParameters& p, const Fp8GemmParameters::Rows& rows, i64 entry,
                                  i64 row) {
    i64 at = entry * rows.expert;
#pragma unroll 1
    for (int d = 0; d + 1 < p.dims; ++d) {
      const i64 next = row / p.outer[d];
      at += (row - next * p.outer[d]) * rows.stride[d];
      row = next;
    }
    return p.dims > 0 ? at + row * rows.stride[p.dims - 1] : at;
  }
};

/// The r-th row of b of a tile; the last one of b where b ends before.
ISOMER_DEVICE const u8* row_of_b(const Fp8GemmParameters& p, const GemmTile& tile, int r) {
  const i64 column = tile.column + r < p.columns ? tile.column + r : p.columns - 1;
  return p.b + tile.expert * p.b_expert + column * p.b_row;
}
/// The first of the scales of a tile's columns.
ISOMER_DEVICE const f32* scales_of_b(const Fp8GemmParameters& p, const GemmTile& tile) {
  return p.b_s + tile.expert * p.b_s_expert + tile.column / kScaleBlock * p.b_s_row;
}

/// bias[expert, column] in f32; 0 where there is none, and outside of the tensor.
ISOMER_DEVICE f32 bias_of(const Fp8GemmParameters& p, i64 expert, i64 column) {
  if (p.bias_type == GemmBias::none || expert < 0 || column >= p.columns) return 0;
  const i64 at = expert * p.bias_expert + column * p.bias_step;
  if (p.bias_type == GemmBias::f32) return static_cast<const f32*>(p.bias)[at];
  if (p.bias_type == GemmBias::f16) return to_f32(static_cast<const f16*>(p.bias)[at]);
  return to_f32(static_cast<const bf16*>(p.bias)[at]);
}

/// Finishes the sum of row r of the tile: bias, addend, rounding.
template <class Element, int kRows>
ISOMER_DEVICE void finish(const Fp8GemmParameters& p, const GemmRowTable<kRows>& rows, int r, i64 column,
                          f32 sum, f32 bias) {
  if (rows.state[r] == GemmRowTable<kRows>::kAbsent || column >= p.columns) return;
  f32 x = 0;
  if (rows.multiplied(r)) {
    x = sum + bias;
    if (p.addend != nullptr) x += to_f32(static_cast<const Element*>(p.addend)[rows.addend[r] + column]);
  }
  static_cast<Element*>(p.c)[rows.c[r] + column] = from_f32<Element>(x);
}

/// 16 bytes of a row of a or b from column k on; zeros behind `depth`. The row and k are multiples of kCopy
/// (1, 4 or 16).
template <int kCopy>
ISOMER_DEVICE Vector<u32, 4> load_codes(const u8* row, i64 k, i64 depth) {
  if (kCopy == 16 && k + 16 <= depth) return bit_cast<Vector<u32, 4>>(load<16>(row + k));
  Vector<u32, 4> codes;
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const i64 at = k + 4 * w;
    u32 word = 0;
    if (kCopy >= 4 && at + 4 <= depth) {
      word = *reinterpret_cast<const u32*>(row + at);
    } else {
#pragma unroll 1
      for (int i = 0; i < 4 && at + i < depth; ++i) word |= static_cast<u32>(row[at + i]) << 8 * i;
    }
    codes.of[w] = word;
  }
  return codes;
}

}  // namespace isomer::device
