#include "c_api/plan.hpp"
#include "ops/silu_mul_quant/silu_mul_quant.hpp"

isomer_status isomer_silu_mul_quant(isomer_queue* queue, const isomer_silu_mul_quant_args* args,
                                    const isomer_silu_mul_quant_options* options) {
  return isomer::c::call(isomer::silu_mul_quant, isomer::ops::silu_mul_quant::contract, queue, args,
                         isomer_silu_mul_quant_args ISOMER_SILU_MUL_QUANT_ARGS_INIT, options,
                         isomer_silu_mul_quant_options ISOMER_SILU_MUL_QUANT_OPTIONS_INIT);
}

isomer_status isomer_plan_silu_mul_quant(isomer_queue* queue, const isomer_silu_mul_quant_args* args,
                                         const isomer_silu_mul_quant_options* options, isomer_plan** plan) {
  return isomer::c::make_plan<isomer::SiluMulQuantArgs, isomer::SiluMulQuantOptions>(
      isomer::ops::silu_mul_quant::contract, queue, args,
      isomer_silu_mul_quant_args ISOMER_SILU_MUL_QUANT_ARGS_INIT, options,
      isomer_silu_mul_quant_options ISOMER_SILU_MUL_QUANT_OPTIONS_INIT, plan);
}
