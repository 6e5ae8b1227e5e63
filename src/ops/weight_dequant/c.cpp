#include "c_api/plan.hpp"
#include "ops/weight_dequant/weight_dequant.hpp"

isomer_status isomer_weight_dequant(isomer_queue* queue, const isomer_weight_dequant_args* args,
                                    const isomer_weight_dequant_options* options) {
  return isomer::c::call(isomer::weight_dequant, isomer::ops::weight_dequant::contract, queue, args,
                         isomer_weight_dequant_args ISOMER_WEIGHT_DEQUANT_ARGS_INIT, options,
                         isomer_weight_dequant_options ISOMER_WEIGHT_DEQUANT_OPTIONS_INIT);
}

isomer_status isomer_plan_weight_dequant(isomer_queue* queue, const isomer_weight_dequant_args* args,
                                         const isomer_weight_dequant_options* options, isomer_plan** plan) {
  return isomer::c::make_plan<isomer::WeightDequantArgs, isomer::WeightDequantOptions>(
      isomer::ops::weight_dequant::contract, queue, args,
      isomer_weight_dequant_args ISOMER_WEIGHT_DEQUANT_ARGS_INIT, options,
      isomer_weight_dequant_options ISOMER_WEIGHT_DEQUANT_OPTIONS_INIT, plan);
}
