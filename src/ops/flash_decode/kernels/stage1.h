#pragma once

#include "gpu/device/types.h"

namespace isomer::device {

/// Strides are in elements. What device data says is clamped: lengths to `longest`; a token whose request or
/// slot does not exist is left out.
struct FlashDecodeStage1Parameters {
  const void *q, *k, *v;
  const i32* tokens;               ///< req_to_tokens
  const void *requests, *lengths;  ///< b_req_idx, b_seqlen
  f32 *mid_out, *mid_lse;
  i64 q_batch, q_head, q_inner;
  i64 k_slot, k_head, k_inner;
  i64 v_slot, v_head, v_inner;
  i64 token_request, token_step;
  i64 request_step, length_step;
  i64 out_batch, out_head, out_block, out_inner;
  i64 lse_batch, lse_head, lse_block;
  i64 batch, blocks;
  i64 block_seq;
  i64 longest;        ///< that the tables have room for
  i64 request_count;  ///< rows of tokens
  i64 slots;          ///< of k and v
  i32 head_dim;
  i32 group;   ///< query heads of a kv head
  i32 chunks;  ///< blocks that share them
  i32 requests_are_i64, lengths_are_i64;
  f32 scale_log2;  ///< scale·log2(e)
};

/// The same of int8 k and v. A step of 0 is that of a row with one scale.
struct FlashDecodeStage1Int8Parameters : FlashDecodeStage1Parameters {
  const void *k_scale, *v_scale;
  i64 ks_slot, ks_head, ks_step;  ///< from the scale of 8 channels to that of the next
  i64 vs_slot, vs_head, vs_step;
};

}  // namespace isomer::device
