#include <isomer/flash_decode.hpp>

#include "c_api/entry.hpp"

using isomer::c::Entry;
using isomer::c::guarded;

isomer_status isomer_flash_decode(isomer_queue* queue, const isomer_flash_decode_args* args,
                                  const isomer_flash_decode_options* options) {
  return guarded([&] {
    const Entry op("flash_decode", queue);
    const auto a = op.args(args, isomer_flash_decode_args ISOMER_FLASH_DECODE_ARGS_INIT);
    const auto o = op.options(options, isomer_flash_decode_options ISOMER_FLASH_DECODE_OPTIONS_INIT);
    isomer::flash_decode(
        op.queue(),
        {.q = op.tensor("q", a.q),
         .k = op.tensor("k", a.k),
         .v = op.tensor("v", a.v),
         .req_to_tokens = op.tensor("req_to_tokens", a.req_to_tokens),
         .b_req_idx = op.tensor("b_req_idx", a.b_req_idx),
         .b_seqlen = op.tensor("b_seqlen", a.b_seqlen),
         .out = op.tensor("out", a.out)},
        {.block_seq = o.block_seq, .max_len = o.max_len, .scale = static_cast<float>(o.scale)});
  });
}

isomer_status isomer_flash_decode_stage1(isomer_queue* queue, const isomer_flash_decode_stage1_args* args,
                                         const isomer_flash_decode_stage1_options* options) {
  return guarded([&] {
    const Entry op("flash_decode_stage1", queue);
    const auto a = op.args(args, isomer_flash_decode_stage1_args ISOMER_FLASH_DECODE_STAGE1_ARGS_INIT);
    const auto o =
        op.options(options, isomer_flash_decode_stage1_options ISOMER_FLASH_DECODE_STAGE1_OPTIONS_INIT);
    isomer::flash_decode_stage1(
        op.queue(),
        {.q = op.tensor("q", a.q),
         .k = op.tensor("k", a.k),
         .v = op.tensor("v", a.v),
         .req_to_tokens = op.tensor("req_to_tokens", a.req_to_tokens),
         .b_req_idx = op.tensor("b_req_idx", a.b_req_idx),
         .b_seqlen = op.tensor("b_seqlen", a.b_seqlen),
         .mid_out = op.tensor("mid_out", a.mid_out),
         .mid_lse = op.tensor("mid_lse", a.mid_lse)},
        {.block_seq = o.block_seq, .max_len = o.max_len, .scale = static_cast<float>(o.scale)});
  });
}

isomer_status isomer_flash_decode_stage2(isomer_queue* queue, const isomer_flash_decode_stage2_args* args,
                                         const isomer_flash_decode_stage2_options* options) {
  return guarded([&] {
    const Entry op("flash_decode_stage2", queue);
    const auto a = op.args(args, isomer_flash_decode_stage2_args ISOMER_FLASH_DECODE_STAGE2_ARGS_INIT);
    const auto o =
        op.options(options, isomer_flash_decode_stage2_options ISOMER_FLASH_DECODE_STAGE2_OPTIONS_INIT);
    isomer::flash_decode_stage2(op.queue(),
                                {.mid_out = op.tensor("mid_out", a.mid_out),
                                 .mid_lse = op.tensor("mid_lse", a.mid_lse),
                                 .b_seqlen = op.tensor("b_seqlen", a.b_seqlen),
                                 .out = op.tensor("out", a.out)},
                                {.block_seq = o.block_seq});
  });
}
