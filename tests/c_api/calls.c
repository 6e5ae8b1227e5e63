/* What a C program does with the header. Compiled as strict C99. */
#include "calls.h"

#include <stddef.h>

isomer_status sine_of_row(isomer_queue* queue, const float* x, float* y, isomer_int64 count) {
  isomer_tensor from = {(void*)x, {ISOMER_CPU, 0}, 1, ISOMER_F32, &count, NULL, 0};
  isomer_tensor to = {y, {ISOMER_CPU, 0}, 1, ISOMER_F32, &count, NULL, 0};
  isomer_sin_args args = ISOMER_SIN_ARGS_INIT;
  args.x = &from;
  args.y = &to;
  return isomer_sin(queue, &args, NULL);
}

isomer_status save_and_load(const char* path, float* values, isomer_int64 count, isomer_bundle** bundle) {
  isomer_tensor tensor = {values, {ISOMER_CPU, 0}, 1, ISOMER_F32, &count, NULL, 0};
  isomer_named_tensor tensors[1];
  isomer_text metadata[1];
  isomer_status status;
  tensors[0].name = "values";
  tensors[0].tensor = &tensor;
  metadata[0].key = "made by";
  metadata[0].value = "a C program";
  status = isomer_save(path, tensors, 1, metadata, 1);
  if (status != ISOMER_OK) return status;
  return isomer_load(path, bundle);
}

isomer_data_type type_of(int index) {
  const isomer_data_type types[] = {ISOMER_F64,    ISOMER_F32,      ISOMER_F16,  ISOMER_BF16,
                                    ISOMER_E4M3FN, ISOMER_E4M3FNUZ, ISOMER_E5M2, ISOMER_E5M2FNUZ,
                                    ISOMER_I8,     ISOMER_I32,      ISOMER_I64,  ISOMER_U8};
  return types[index];
}

int start_values_are_accepted(void) {
  /* Every _INIT macro is a constant initializer. */
  static const isomer_executor executor = ISOMER_EXECUTOR_INIT;
  static const isomer_queue_options queue = ISOMER_QUEUE_OPTIONS_INIT;
  static const isomer_attention_args args = ISOMER_ATTENTION_ARGS_INIT;
  static const isomer_attention_options options = ISOMER_ATTENTION_OPTIONS_INIT;
  static const isomer_device_info info = ISOMER_DEVICE_INFO_INIT;
  if (info.size != sizeof info || info.memory_bytes != 0) return 0;
  return executor.size == sizeof executor && queue.size == sizeof queue && args.size == sizeof args &&
         options.size == sizeof options && options.window_left == -1;
}
