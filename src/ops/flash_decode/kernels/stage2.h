#pragma once

#include "gpu/device/types.h"

namespace isomer::device {

/// Strides are in elements. Lengths are clamped to `longest`.
struct FlashDecodeStage2Parameters {
  const void* mid_out;
  const f32* mid_lse;
  const void* lengths;  ///< b_seqlen
  void* out;
  i64 mid_batch, mid_head, mid_block, mid_inner;
  i64 lse_batch, lse_head, lse_block;
  i64 length_step;
  i64 out_batch, out_head, out_inner;
  i64 batch;
  i64 block_seq;
  i64 longest;  ///< that mid_out has blocks for
  i64 head_dim;
  i32 chunks;  ///< of a row, each of one block
  i32 lengths_are_i64;
};

}  // namespace isomer::device
