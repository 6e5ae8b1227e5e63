#include "c_api/plan.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"

isomer_status isomer_fp8_gemm(isomer_queue* queue, const isomer_fp8_gemm_args* args,
                              const isomer_fp8_gemm_options* options) {
  return isomer::c::call(isomer::fp8_gemm, isomer::ops::fp8_gemm::contract, queue, args,
                         isomer_fp8_gemm_args ISOMER_FP8_GEMM_ARGS_INIT, options,
                         isomer_fp8_gemm_options ISOMER_FP8_GEMM_OPTIONS_INIT);
}

isomer_status isomer_plan_fp8_gemm(isomer_queue* queue, const isomer_fp8_gemm_args* args,
                                   const isomer_fp8_gemm_options* options, isomer_plan** plan) {
  return isomer::c::make_plan<isomer::Fp8GemmArgs, isomer::Fp8GemmOptions>(
      isomer::ops::fp8_gemm::contract, queue, args, isomer_fp8_gemm_args ISOMER_FP8_GEMM_ARGS_INIT, options,
      isomer_fp8_gemm_options ISOMER_FP8_GEMM_OPTIONS_INIT, plan);
}

isomer_status isomer_fp8_linear(isomer_queue* queue, const isomer_fp8_linear_args* args,
                                const isomer_fp8_linear_options* options) {
  return isomer::c::call(isomer::fp8_linear, isomer::ops::fp8_gemm::linear_contract, queue, args,
                         isomer_fp8_linear_args ISOMER_FP8_LINEAR_ARGS_INIT, options,
                         isomer_fp8_linear_options ISOMER_FP8_LINEAR_OPTIONS_INIT);
}

isomer_status isomer_plan_fp8_linear(isomer_queue* queue, const isomer_fp8_linear_args* args,
                                     const isomer_fp8_linear_options* options, isomer_plan** plan) {
  return isomer::c::make_plan<isomer::Fp8LinearArgs, isomer::Fp8LinearOptions>(
      isomer::ops::fp8_gemm::linear_contract, queue, args, isomer_fp8_linear_args ISOMER_FP8_LINEAR_ARGS_INIT,
      options, isomer_fp8_linear_options ISOMER_FP8_LINEAR_OPTIONS_INIT, plan);
}

isomer_status isomer_grouped_fp8_gemm(isomer_queue* queue, const isomer_grouped_fp8_gemm_args* args,
                                      const isomer_grouped_fp8_gemm_options* options) {
  return isomer::c::call(isomer::grouped_fp8_gemm, isomer::ops::fp8_gemm::grouped_contract, queue, args,
                         isomer_grouped_fp8_gemm_args ISOMER_GROUPED_FP8_GEMM_ARGS_INIT, options,
                         isomer_grouped_fp8_gemm_options ISOMER_GROUPED_FP8_GEMM_OPTIONS_INIT);
}

isomer_status isomer_plan_grouped_fp8_gemm(isomer_queue* queue, const isomer_grouped_fp8_gemm_args* args,
                                           const isomer_grouped_fp8_gemm_options* options,
                                           isomer_plan** plan) {
  return isomer::c::make_plan<isomer::GroupedFp8GemmArgs, isomer::GroupedFp8GemmOptions>(
      isomer::ops::fp8_gemm::grouped_contract, queue, args,
      isomer_grouped_fp8_gemm_args ISOMER_GROUPED_FP8_GEMM_ARGS_INIT, options,
      isomer_grouped_fp8_gemm_options ISOMER_GROUPED_FP8_GEMM_OPTIONS_INIT, plan);
}
