#include "c_api/plan.hpp"
#include "ops/expert_layer/expert_layer.hpp"

isomer_status isomer_expert_layer(isomer_queue* queue, const isomer_expert_layer_args* args,
                                  const isomer_expert_layer_options* options) {
  return isomer::c::call(isomer::expert_layer, isomer::ops::expert_layer::contract, queue, args,
                         isomer_expert_layer_args ISOMER_EXPERT_LAYER_ARGS_INIT, options,
                         isomer_expert_layer_options ISOMER_EXPERT_LAYER_OPTIONS_INIT);
}

isomer_status isomer_plan_expert_layer(isomer_queue* queue, const isomer_expert_layer_args* args,
                                       const isomer_expert_layer_options* options, isomer_plan** plan) {
  return isomer::c::make_plan<isomer::ExpertLayerArgs, isomer::ExpertLayerOptions>(
      isomer::ops::expert_layer::contract, queue, args,
      isomer_expert_layer_args ISOMER_EXPERT_LAYER_ARGS_INIT, options,
      isomer_expert_layer_options ISOMER_EXPERT_LAYER_OPTIONS_INIT, plan);
}
