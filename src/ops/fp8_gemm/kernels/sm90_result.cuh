// From a warpgroup's sums to c: bias and addend, padding, rounding, and the store, by bulk copies or by the
// threads.
#pragma once

#include "gpu/device/sm90/shared.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "ops/fp8_gemm/kernels/sm90_tiles.cuh"
#include "ops/fp8_gemm/kernels/tile.cuh"

namespace isomer::device {

/// A pair of f32 as a word of two 16-bit elements, the first in the lower half.
template <class Element>
ISOMER_DEVICE u32 pack(f32 first, f32 second) {
  return static_cast<u32>(from_f32<Element>(first).bits) | static_cast<u32>(from_f32<Element>(second).bits)
                                                               << 16;
}

/// The two rows of a tile that a thread of a warpgroup has sums of: register 4j and 4j + 1 of `upper`, 4j + 2
/// and 4j + 3 of `lower`, columns 8j + 2 · (lane % 4) and the next.
struct Sm90Rows {
  i32 upper, lower;
  bool has_upper, has_lower;  ///< they exist
  ISOMER_DEVICE Sm90Rows(const Sm90Tile& tile, int warpgroup)
      : upper(tile.row + warpgroup * 64 + warp() % 4 * 16 + lane() / 4), lower(upper + 8) {
    has_upper = upper < tile.end;
    has_lower = lower < tile.end;
  }
};

/// Where row `row` of an expert begins.
ISOMER_DEVICE i64 row_offset(const Fp8GemmParameters& p, const Fp8GemmParameters::Rows& rows, i32 expert,
                             i32 row) {
  const i64 entry = p.layout == GemmRows::masked ? expert : 0;
  return entry * rows.expert + row * rows.stride[0];
}

/// sum += bias + addend, of columns from `column` on.
template <class Element, int N>
ISOMER_DEVICE void add_terms(const Fp8GemmParameters& p, const Sm90Tile& tile, const Sm90Rows& rows,
                             i32 column, f32 (&sum)[N]) {
  const Element* const addend = static_cast<const Element*>(p.addend);
  const Element* const upper =
      addend + row_offset(p, p.addend_rows, tile.expert, rows.has_upper ? rows.upper : tile.row);
  const Element* const lower =
      addend + row_offset(p, p.addend_rows, tile.expert, rows.has_lower ? rows.lower : tile.row);
#pragma unroll
  for (int j = 0; j < N / 4; ++j)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const i32 at = column + 8 * j + 2 * (lane() % 4) + e;
      const f32 bias = bias_of(p, tile.expert, at);
      sum[4 * j + e] += bias;
      sum[4 * j + 2 + e] += bias;
      if (addend != nullptr && at < p.columns) {
        if (rows.has_upper) sum[4 * j + e] += to_f32(upper[at]);
        if (rows.has_lower) sum[4 * j + 2 + e] += to_f32(lower[at]);
      }
    }
}

/// Rows of padding become 0, whatever was multiplied.
template <int N>
ISOMER_DEVICE void clear_padding(const Fp8GemmParameters& p, const Sm90Rows& rows, f32 (&sum)[N]) {
  const auto padding = [&](bool there, i32 row) {
    if (!there) return false;
    const i32 id = p.expert_ids[row * p.id_step];
    return id < 0 || id >= p.experts;
  };
  const bool upper = padding(rows.has_upper, rows.upper), lower = padding(rows.has_lower, rows.lower);
  if (!any_lane(upper || lower)) return;
#pragma unroll
  for (int j = 0; j < N / 4; ++j)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      if (upper) sum[4 * j + e] = 0;
      if (lower) sum[4 * j + 2 + e] = 0;
    }
}

/// Rounds and stores columns from `column` on, the threads themselves; only rows and columns that exist.
template <class Element, int N>
ISOMER_DEVICE void store_by_threads(const Fp8GemmParameters& p, const Sm90Tile& tile, const Sm90Rows& rows,
                                    i32 column, const f32 (&sum)[N]) {
  Element* const c = static_cast<Element*>(p.c);
  const i32 first = column + 2 * (lane() % 4);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (!(half == 0 ? rows.has_upper : rows.has_lower)) continue;
    Element* const row = c + row_offset(p, p.c_rows, tile.expert, half == 0 ? rows.upper : rows.lower);
#pragma unroll
    for (int j = 0; j < N / 4; ++j) {
      const i32 at = first + 8 * j;
      const Element one = from_f32<Element>(sum[4 * j + 2 * half]),
                    two = from_f32<Element>(sum[4 * j + 2 * half + 1]);
      if (p.in_pairs && at + 1 < p.columns) {
        store<2>(row + at, Vector<Element, 2>{one, two});
      } else {
        if (at < p.columns) row[at] = one;
        if (at + 1 < p.columns) row[at + 1] = two;
      }
    }
  }
}

/// A tile of padding: zeros, by kThreads threads.
template <class Element, int kRows, int kColumns, int kThreads>
ISOMER_DEVICE void store_padding(const Fp8GemmParameters& p, const Sm90Tile& tile, int thread) {
#pragma unroll 1
  for (int i = thread; i < kRows * kColumns; i += kThreads) {
    const i32 row = tile.row + i / kColumns, column = tile.column + i % kColumns;
    if (row < tile.end && column < p.columns)
      static_cast<Element*>(p.c)[row_offset(p, p.c_rows, 0, row) + column] = from_f32<Element>(0);
  }
}

/// A warpgroup's 64 rows of kColumns columns of 16-bit elements in shared memory, in panels that bulk copies
/// store. The panel's width is what a swizzle spans, so that a warp's rows of 16 bytes meet no bank twice.
template <int kColumns>
struct Sm90Panels {
  static constexpr int kWidth = kColumns % 64 == 0 ? 64 : kColumns % 32 == 0 ? 32 : 16;
  static constexpr u32 kPanelBytes = 64 * kWidth * 2, kBytes = kColumns / kWidth * kPanelBytes;
  u32 at;

  /// Sixteen columns from 16 · `group` on: registers 8 · group to 8 · group + 7 of every thread.
  template <class Element>
  ISOMER_DEVICE void write(int group, const f32* sum) const {
    u32 offset = static_cast<u32>(warp() % 4 * 16 + lane() % 16) * (kWidth * 2) +
                 static_cast<u32>(16 * group % kWidth / 8 + lane() / 16) * 16;
    offset ^= ((offset >> 7) & (kWidth / 8 - 1)) << 4;
    const u32 words[4] = {pack<Element>(sum[0], sum[1]), pack<Element>(sum[2], sum[3]),
                          pack<Element>(sum[4], sum[5]), pack<Element>(sum[6], sum[7])};
    sm90::store_matrices(at + static_cast<u32>(16 * group / kWidth) * kPanelBytes + offset, words);
  }
  /// Panel i, of results from `column` on: by one thread.
  ISOMER_DEVICE void store(const TensorMap& map, int i, i32 column, i32 row, i32 entry) const {
    sm90::store<3>(map, {{column + i * kWidth, row, entry}}, at + static_cast<u32>(i) * kPanelBytes);
    sm90::end_stores();
  }
};

}  // namespace isomer::device
