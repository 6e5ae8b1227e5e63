#include "c_api/plan.hpp"
#include "ops/weight_quant/weight_quant.hpp"

isomer_status isomer_weight_quant(isomer_queue* queue, const isomer_weight_quant_args* args,
                                  const isomer_weight_quant_options* options) {
  return isomer::c::call(isomer::weight_quant, isomer::ops::weight_quant::contract, queue, args,
                         isomer_weight_quant_args ISOMER_WEIGHT_QUANT_ARGS_INIT, options,
                         isomer_weight_quant_options ISOMER_WEIGHT_QUANT_OPTIONS_INIT);
}

isomer_status isomer_plan_weight_quant(isomer_queue* queue, const isomer_weight_quant_args* args,
                                       const isomer_weight_quant_options* options, isomer_plan** plan) {
  return isomer::c::make_plan<isomer::WeightQuantArgs, isomer::WeightQuantOptions>(
      isomer::ops::weight_quant::contract, queue, args,
      isomer_weight_quant_args ISOMER_WEIGHT_QUANT_ARGS_INIT, options,
      isomer_weight_quant_options ISOMER_WEIGHT_QUANT_OPTIONS_INIT, plan);
}
