// What the kernels have in one: which rows and columns a block owns, where its rows lie, and what happens to a sum.
#pragma once

#include "gpu/device/portable.cuh"
#include "ops/fp8_gemm/kernels/fp8_gemm.h"

namespace isomer::device {

/// Elements of K, and rows of b, under one scale.
constexpr int kScaleBlock = 128;

/// The rows [first, first + rows) of an entry and the columns that begin at `column`. A tile of the contiguous layout lies
/// in one segment, so its first row names its expert; −1 where that row is padding, and then all of them are.
struct GemmTile {
  i64 expert, first, column;
  int rows;
};

/// Tiles run through groups of kGroup tiles of rows, so that what runs at once shares rows of a and of b in the L2 cache.
template <int kRows, int kColumns>
ISOMER_DEVICE GemmTile tile_of(const Fp8GemmParameters& p, i64 index) {
  constexpr i64 kGroup = 8;
  const i64 tiles = p.row_tiles * p.column_tiles;
  GemmTile tile;
  tile.expert = index / tiles;
  index -= tile.expert * tiles;
  const i64 group = index / (kGroup * p.column_tiles);
  index -= group * kGroup * p.column_tiles;
  const i64 left = p.row_tiles - group * kGroup;
  const i64 high = left < kGroup ? left : kGroup;
  tile.column = index / high * kColumns;
  tile.first = (group * kGroup + index % high) * kRows;
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

/// The rows of a tile, in shared memory. Those that are not multiplied have the first row's place in a and a_s, so that
/// whoever brings rows need not ask: what comes of it is not used.
template <int kRows>
struct GemmRowTable {
  i64 a[kRows], a_s[kRows], c[kRows], addend[kRows];  ///< offsets of their beginnings, in elements
  u8 state[kRows];
  static constexpr u8 kAbsent = 0, kProduct = 1, kPadding = 2;

  template <int kThreads>
  ISOMER_DEVICE void fill(const Fp8GemmParameters& p, const GemmTile& tile) {
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
  static ISOMER_DEVICE i64 offset(const Fp8GemmParameters& p, const Fp8GemmParameters::Rows& rows, i64 entry, i64 row) {
    i64 at = entry * rows.expert;
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

/// Finishes kCount adjacent sums of row r of the tile: bias, addend, rounding. Vectors where p.in_pairs says so.
template <class Element, int kCount, int kRows>
ISOMER_DEVICE void finish(const Fp8GemmParameters& p, const GemmRowTable<kRows>& rows, int r, i64 column,
                          const f32 (&sum)[kCount], const f32 (&bias)[kCount]) {
  if (rows.state[r] == GemmRowTable<kRows>::kAbsent || column >= p.columns) return;
  Element* c = static_cast<Element*>(p.c) + rows.c[r] + column;
  const Element* addend = static_cast<const Element*>(p.addend) + rows.addend[r] + column;
  const bool product = rows.multiplied(r);
  const bool whole = kCount == 1 || (p.in_pairs && column + kCount <= p.columns);
  Vector<Element, kCount> value;
  if (product && p.addend != nullptr) {
    if (whole) {
      value = load<kCount>(addend);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) value.of[i] = column + i < p.columns ? addend[i] : Element{};
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    f32 x = product ? sum[i] + bias[i] : 0.0f;
    if (product && p.addend != nullptr) x += to_f32(value.of[i]);
    value.of[i] = from_f32<Element>(x);
  }
  if (whole) {
    store<kCount>(c, value);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      if (column + i < p.columns) c[i] = value.of[i];
  }
}

/// 16 bytes of a row of a or b from column k on; zeros behind `depth`. The row and k are multiples of kCopy (1, 4 or 16).
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
