/* What a C program does to run on a GPU. */
#include "calls.h"

#include <stddef.h>

isomer_status sine_on_the_emulator(void* x, void* y, isomer_int64 count, void (*prepared)(void)) {
  const isomer_device second = {ISOMER_EMULATED, 1};
  isomer_tensor from = {x, second, 1, ISOMER_F32, &count, NULL, 0};
  isomer_tensor to = {y, second, 1, ISOMER_F32, &count, NULL, 0};
  isomer_sin_args args = ISOMER_SIN_ARGS_INIT;
  isomer_queue *queue = NULL, *preparing = NULL;
  isomer_device device = {0, 0};
  void* stream = NULL;
  isomer_status status = isomer_queue_on(second, NULL, NULL, &queue);
  args.x = &from;
  args.y = &to;
  if (status == ISOMER_OK) status = isomer_queue_device(queue, &device);
  if (status == ISOMER_OK) status = isomer_queue_stream(queue, &stream);
  if (status == ISOMER_OK && (device.device_type != ISOMER_EMULATED || device.device_id != 1 || stream == NULL))
    status = ISOMER_INTERNAL;
  if (status == ISOMER_OK) status = isomer_queue_preparing(queue, &preparing);
  if (status == ISOMER_OK) status = isomer_sin(preparing, &args, NULL);
  if (status == ISOMER_OK) prepared();
  if (status == ISOMER_OK) status = isomer_sin(queue, &args, NULL);
  if (status == ISOMER_OK) status = isomer_queue_synchronize(queue);
  isomer_queue_free(preparing);
  isomer_queue_free(queue);
  return status;
}
