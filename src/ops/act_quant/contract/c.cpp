#include "c_api/plan.hpp"
#include "ops/act_quant/act_quant.hpp"

isomer_status isomer_act_quant(isomer_queue* queue, const isomer_act_quant_args* args,
                               const isomer_act_quant_options* options) {
  return isomer::c::call(isomer::act_quant, isomer::ops::act_quant::contract, queue, args,
                         isomer_act_quant_args ISOMER_ACT_QUANT_ARGS_INIT, options,
                         isomer_act_quant_options ISOMER_ACT_QUANT_OPTIONS_INIT);
}

isomer_status isomer_plan_act_quant(isomer_queue* queue, const isomer_act_quant_args* args,
                                    const isomer_act_quant_options* options, isomer_plan** plan) {
  return isomer::c::make_plan<isomer::ActQuantArgs, isomer::ActQuantOptions>(
      isomer::ops::act_quant::contract, queue, args, isomer_act_quant_args ISOMER_ACT_QUANT_ARGS_INIT,
      options, isomer_act_quant_options ISOMER_ACT_QUANT_OPTIONS_INIT, plan);
}
