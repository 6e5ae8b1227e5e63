// Keys and values of an int8 cache on their way into shared memory as f32: each element times the scale of
// its row, or of its 8 channels, as quantize_copy_kv wrote it.
#pragma once

#include "ops/attention/kernels/attention_tile.cuh"

namespace isomer::device {

namespace attention {

/// Where the row of each key of a block lies: outer and row in k and v of its place; those outside of
/// [keys.lo, keys.hi) are nowhere.
template <int kKeys, int kThreads>
ISOMER_DEVICE void locate_rows(const AttentionParameters& p, const AttentionEntry& e,
                               const AttentionKeys& keys, i64 begin, KeyPlace* rows) {
  for (int r = static_cast<int>(threadIdx.x); r < kKeys; r += kThreads) {
    const i64 j = begin + r;
    KeyPlace found{kNowhere, kNowhere};
    if (j >= keys.lo && j < keys.hi) {
      const AttentionPlace place = place_of(p, e, j);
      if (place.outer >= 0) found = {place.outer, place.row};
    }
    rows[r] = found;
  }
}

/// Lays down the block's rows of one kv head, a pitch apart: zero where there is no key. True where this
/// thread put down a value that is not finite.
template <int kKeys, int kThreads, int kPitch>
ISOMER_DEVICE bool put_int8(const AttentionRows& data, const AttentionRows& scales, AttentionWide scale_type,
                            i64 head, const KeyPlace* rows, int columns, f32* to) {
  bool non_finite = false;
  // A lane has 8 adjacent channels, which share a scale.
  const int groups = columns / 8;
#pragma unroll 1
  for (int n = static_cast<int>(threadIdx.x); n < kKeys * groups; n += kThreads) {
    const int r = n / groups, g = n - r * groups;
    f32* row = to + r * kPitch + g * 8;
    const i64 outer = rows[r].k, line = rows[r].v;
    if (outer == kNowhere) {
#pragma unroll
      for (int i = 0; i < 8; ++i) row[i] = 0.0f;
      continue;
    }
    const i8* from = at<const i8>(data, outer, line, head) + g * 8;
    const f32 scale = read(scales.data, scale_type,
                           outer * scales.outer_stride + line * scales.row_stride +
                               head * scales.head_stride + g * scales.d_stride);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const f32 x = to_f32(from[i]) * scale;
      non_finite |= is_non_finite(x);
      row[i] = x;
    }
  }
  return non_finite;
}

}  // namespace attention
}  // namespace isomer::device
