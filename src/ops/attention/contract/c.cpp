#include <isomer/attention.hpp>

#include "c_api/entry.hpp"

#include <algorithm>
#include <climits>

using isomer::c::Entry;
using isomer::c::guarded;

isomer_status isomer_attention(isomer_queue* queue, const isomer_attention_args* args,
                               const isomer_attention_options* options) {
  return guarded([&] {
    const Entry op("attention", queue);
    const auto a = op.args(args, isomer_attention_args ISOMER_ATTENTION_ARGS_INIT);
    const auto o = op.options(options, isomer_attention_options ISOMER_ATTENTION_OPTIONS_INIT);
    const isomer::AttentionArgs tensors = {
        .q = op.tensor("q", a.q),
        .k = op.tensor("k", a.k),
        .v = op.tensor("v", a.v),
        .out = op.tensor("out", a.out),
        .lse = op.tensor("lse", a.lse),
        .cu_seqlens_q = op.tensor("cu_seqlens_q", a.cu_seqlens_q),
        .cu_seqlens_k = op.tensor("cu_seqlens_k", a.cu_seqlens_k),
        .seqused_q = op.tensor("seqused_q", a.seqused_q),
        .seqused_k = op.tensor("seqused_k", a.seqused_k),
        .leftpad_k = op.tensor("leftpad_k", a.leftpad_k),
        .page_table = op.tensor("page_table", a.page_table),
        .kv_batch_idx = op.tensor("kv_batch_idx", a.kv_batch_idx),
        .k_new = op.tensor("k_new", a.k_new),
        .v_new = op.tensor("v_new", a.v_new),
        .cu_seqlens_k_new = op.tensor("cu_seqlens_k_new", a.cu_seqlens_k_new),
        .cache_seqlens = op.tensor("cache_seqlens", a.cache_seqlens),
        .rotary_cos = op.tensor("rotary_cos", a.rotary_cos),
        .rotary_sin = op.tensor("rotary_sin", a.rotary_sin),
        .q_descale = op.tensor("q_descale", a.q_descale),
        .k_descale = op.tensor("k_descale", a.k_descale),
        .v_descale = op.tensor("v_descale", a.v_descale),
        .sink = op.tensor("sink", a.sink),
    };
    using Choice = isomer::AttentionOptions::Choice;
    isomer::attention(
        op.queue(), tensors,
        {.scale = static_cast<float>(o.scale),
         .causal = o.causal != 0,
         .window_left = o.window_left,
         .window_right = o.window_right,
         .softcap = static_cast<float>(o.softcap),
         .max_seqlen_q = o.max_seqlen_q,
         .max_seqlen_k = o.max_seqlen_k,
         .rotary_interleaved = o.rotary_interleaved != 0,
         .v_colmajor = o.v_colmajor != 0,
         .pack_gqa = static_cast<Choice>(op.choice("pack_gqa", o.pack_gqa, 3)),
         .num_splits = static_cast<int>(std::clamp<std::int64_t>(o.num_splits, INT_MIN, INT_MAX)),
         .split_size = o.split_size});
  });
}
