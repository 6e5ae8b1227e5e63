#pragma once

#include "gpu/device/types.h"

namespace isomer::device {

/// Rows of `length` contiguous elements under up to 7 outer dimensions, innermost first; unused ones have
/// size 1. Strides are in elements.
struct MergeAttentionParameters {
  static constexpr int kOuter = 7;
  const void *a, *b;
  void* out;
  const f32 *lse_a, *lse_b;
  f32* lse;  ///< may be null
  i64 length;
  i64 rows;
  i64 tiles;  ///< of rows, each of one block
  i64 size[kOuter];
  i64 a_stride[kOuter], b_stride[kOuter], out_stride[kOuter];
  i64 lse_a_stride[kOuter], lse_b_stride[kOuter], lse_stride[kOuter];
};

}  // namespace isomer::device
