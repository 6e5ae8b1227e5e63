#include "c_api/plan.hpp"
#include "ops/merge_attention/merge_attention.hpp"

isomer_status isomer_merge_attention(isomer_queue* queue, const isomer_merge_attention_args* args,
                                     const isomer_merge_attention_options* options) {
  return isomer::c::call(isomer::merge_attention, isomer::ops::merge_attention::contract, queue, args,
                         isomer_merge_attention_args ISOMER_MERGE_ATTENTION_ARGS_INIT, options,
                         isomer_merge_attention_options ISOMER_MERGE_ATTENTION_OPTIONS_INIT);
}

isomer_status isomer_plan_merge_attention(isomer_queue* queue, const isomer_merge_attention_args* args,
                                          const isomer_merge_attention_options* options, isomer_plan** plan) {
  return isomer::c::make_plan<isomer::MergeAttentionArgs, isomer::MergeAttentionOptions>(
      isomer::ops::merge_attention::contract, queue, args,
      isomer_merge_attention_args ISOMER_MERGE_ATTENTION_ARGS_INIT, options,
      isomer_merge_attention_options ISOMER_MERGE_ATTENTION_OPTIONS_INIT, plan);
}
