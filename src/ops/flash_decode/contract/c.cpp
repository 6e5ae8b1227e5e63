#include "c_api/plan.hpp"
#include "ops/flash_decode/flash_decode.hpp"

isomer_status isomer_flash_decode(isomer_queue* queue, const isomer_flash_decode_args* args,
                                  const isomer_flash_decode_options* options) {
  return isomer::c::call(isomer::flash_decode, isomer::ops::flash_decode::contract, queue, args,
                         isomer_flash_decode_args ISOMER_FLASH_DECODE_ARGS_INIT, options,
                         isomer_flash_decode_options ISOMER_FLASH_DECODE_OPTIONS_INIT);
}

isomer_status isomer_plan_flash_decode(isomer_queue* queue, const isomer_flash_decode_args* args,
                                       const isomer_flash_decode_options* options, isomer_plan** plan) {
  return isomer::c::make_plan<isomer::FlashDecodeArgs, isomer::FlashDecodeOptions>(
      isomer::ops::flash_decode::contract, queue, args,
      isomer_flash_decode_args ISOMER_FLASH_DECODE_ARGS_INIT, options,
      isomer_flash_decode_options ISOMER_FLASH_DECODE_OPTIONS_INIT, plan);
}

isomer_status isomer_flash_decode_stage1(isomer_queue* queue, const isomer_flash_decode_stage1_args* args,
                                         const isomer_flash_decode_stage1_options* options) {
  return isomer::c::call(isomer::flash_decode_stage1, isomer::ops::flash_decode::stage1::contract, queue,
                         args, isomer_flash_decode_stage1_args ISOMER_FLASH_DECODE_STAGE1_ARGS_INIT, options,
                         isomer_flash_decode_stage1_options ISOMER_FLASH_DECODE_STAGE1_OPTIONS_INIT);
}

isomer_status isomer_plan_flash_decode_stage1(isomer_queue* queue,
                                              const isomer_flash_decode_stage1_args* args,
                                              const isomer_flash_decode_stage1_options* options,
                                              isomer_plan** plan) {
  return isomer::c::make_plan<isomer::FlashDecodeStage1Args, isomer::FlashDecodeStage1Options>(
      isomer::ops::flash_decode::stage1::contract, queue, args,
      isomer_flash_decode_stage1_args ISOMER_FLASH_DECODE_STAGE1_ARGS_INIT, options,
      isomer_flash_decode_stage1_options ISOMER_FLASH_DECODE_STAGE1_OPTIONS_INIT, plan);
}

isomer_status isomer_flash_decode_stage2(isomer_queue* queue, const isomer_flash_decode_stage2_args* args,
                                         const isomer_flash_decode_stage2_options* options) {
  return isomer::c::call(isomer::flash_decode_stage2, isomer::ops::flash_decode::stage2::contract, queue,
                         args, isomer_flash_decode_stage2_args ISOMER_FLASH_DECODE_STAGE2_ARGS_INIT, options,
                         isomer_flash_decode_stage2_options ISOMER_FLASH_DECODE_STAGE2_OPTIONS_INIT);
}

isomer_status isomer_plan_flash_decode_stage2(isomer_queue* queue,
                                              const isomer_flash_decode_stage2_args* args,
                                              const isomer_flash_decode_stage2_options* options,
                                              isomer_plan** plan) {
  return isomer::c::make_plan<isomer::FlashDecodeStage2Args, isomer::FlashDecodeStage2Options>(
      isomer::ops::flash_decode::stage2::contract, queue, args,
      isomer_flash_decode_stage2_args ISOMER_FLASH_DECODE_STAGE2_ARGS_INIT, options,
      isomer_flash_decode_stage2_options ISOMER_FLASH_DECODE_STAGE2_OPTIONS_INIT, plan);
}
