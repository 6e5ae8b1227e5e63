#include "c_api/plan.hpp"
#include "ops/attention/attention.hpp"

isomer_status isomer_attention(isomer_queue* queue, const isomer_attention_args* args,
                               const isomer_attention_options* options) {
  return isomer::c::call(isomer::attention, isomer::ops::attention::contract, queue, args,
                         isomer_attention_args ISOMER_ATTENTION_ARGS_INIT, options,
                         isomer_attention_options ISOMER_ATTENTION_OPTIONS_INIT);
}

isomer_status isomer_plan_attention(isomer_queue* queue, const isomer_attention_args* args,
                                    const isomer_attention_options* options, isomer_plan** plan) {
  return isomer::c::make_plan<isomer::AttentionArgs, isomer::AttentionOptions>(
      isomer::ops::attention::contract, queue, args, isomer_attention_args ISOMER_ATTENTION_ARGS_INIT,
      options, isomer_attention_options ISOMER_ATTENTION_OPTIONS_INIT, plan);
}
