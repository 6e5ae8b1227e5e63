#pragma once

#include "gpu/device/divisor.h"
#include "ops/attention/kernels/attention.h"

namespace isomer::device {

/// Shared memory of a block of the mma.sync kernel, in bytes. Tiles are rows of whole panels of 64 columns,
/// 128 bytes each, in which the piece of 16 bytes at column c of row r lies at c ^ r % 8.
struct AttentionSm80Layout {
  static constexpr int kPanelBytes = 128;
  static constexpr int kLimitBytes = 8;        ///< of a row: its first key and the one behind its last
  static constexpr int kTaskBytes = 192 + 16;  ///< with where its keys begin in k and in v
  static constexpr int kSeenBytes = 16;        ///< of a warp: what its rows see between them

  int pitch, pitch_v;                         ///< of a row of q, k and of v, out
  int q_bytes, k_bytes, v_bytes;              ///< of one stage
  int k, v, limits, task, seen, lost, bytes;  ///< where they begin (q at 0), and all

  /// `pages`: with marks for keys that have no page.
  constexpr AttentionSm80Layout(int head_dim, int head_dim_v, int rows, int keys, int stages, int warps,
                                bool pages)
      : pitch(panels(head_dim) * kPanelBytes),
        pitch_v(panels(head_dim_v) * kPanelBytes),
        q_bytes(rows * pitch),
        k_bytes(keys * pitch),
        v_bytes(keys * pitch_v),
        k(q_bytes),
        v(k + stages * k_bytes),
        limits(v + stages * v_bytes),
        task(limits + rows * kLimitBytes),
        seen(task + kTaskBytes),
        lost(seen + warps * kSeenBytes),
        bytes(lost + (pages ? stages * keys * 4 : 0)) {}

  static constexpr int panels(int columns) { return (columns + 63) / 64; }
};

/// One call for it. Heads go in sections; inside of one the tiles of the last queries, which are the longest
/// under a causal mask, come first for all of its units.
struct AttentionSm80Parameters : AttentionParameters {
  i64 section;  ///< units of all entries that share L2
  Divisor of_section, of_section_tiles;
};

}  // namespace isomer::device
