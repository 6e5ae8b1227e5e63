#include "c_api/plan.hpp"
#include "ops/sin/sin.hpp"

isomer_status isomer_sin(isomer_queue* queue, const isomer_sin_args* args,
                         const isomer_sin_options* options) {
  return isomer::c::call(isomer::sin, isomer::ops::sin::contract, queue, args,
                         isomer_sin_args ISOMER_SIN_ARGS_INIT, options,
                         isomer_sin_options ISOMER_SIN_OPTIONS_INIT);
}

isomer_status isomer_plan_sin(isomer_queue* queue, const isomer_sin_args* args,
                              const isomer_sin_options* options, isomer_plan** plan) {
  return isomer::c::make_plan<isomer::SinArgs, isomer::SinOptions>(
      isomer::ops::sin::contract, queue, args, isomer_sin_args ISOMER_SIN_ARGS_INIT, options,
      isomer_sin_options ISOMER_SIN_OPTIONS_INIT, plan);
}
