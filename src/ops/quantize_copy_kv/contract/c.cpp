#include "c_api/plan.hpp"
#include "ops/quantize_copy_kv/quantize_copy_kv.hpp"

isomer_status isomer_quantize_copy_kv(isomer_queue* queue, const isomer_quantize_copy_kv_args* args,
                                      const isomer_quantize_copy_kv_options* options) {
  return isomer::c::call(isomer::quantize_copy_kv, isomer::ops::quantize_copy_kv::contract, queue, args,
                         isomer_quantize_copy_kv_args ISOMER_QUANTIZE_COPY_KV_ARGS_INIT, options,
                         isomer_quantize_copy_kv_options ISOMER_QUANTIZE_COPY_KV_OPTIONS_INIT);
}

isomer_status isomer_plan_quantize_copy_kv(isomer_queue* queue, const isomer_quantize_copy_kv_args* args,
                                           const isomer_quantize_copy_kv_options* options,
                                           isomer_plan** plan) {
  return isomer::c::make_plan<isomer::QuantizeCopyKvArgs, isomer::QuantizeCopyKvOptions>(
      isomer::ops::quantize_copy_kv::contract, queue, args,
      isomer_quantize_copy_kv_args ISOMER_QUANTIZE_COPY_KV_ARGS_INIT, options,
      isomer_quantize_copy_kv_options ISOMER_QUANTIZE_COPY_KV_OPTIONS_INIT, plan);
}
