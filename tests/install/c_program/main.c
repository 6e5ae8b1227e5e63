#include <isomer/isomer.h>

#include <stdio.h>

int main(void) {
  float x[3] = {0.0f, 0.5f, 1.0f}, y[3];
  isomer_int64 shape[1] = {3};
  isomer_tensor from = {x, {ISOMER_CPU, 0}, 1, ISOMER_F32, shape, NULL, 0};
  isomer_tensor to = {y, {ISOMER_CPU, 0}, 1, ISOMER_F32, shape, NULL, 0};
  isomer_sin_args args = ISOMER_SIN_ARGS_INIT;
  isomer_queue* queue = NULL;
  args.x = &from;
  args.y = &to;
  if (isomer_queue_best(NULL, &queue) != ISOMER_OK || isomer_sin(queue, &args, NULL) != ISOMER_OK ||
      isomer_queue_synchronize(queue) != ISOMER_OK) {
    fprintf(stderr, "%s\n", isomer_last_error());
    return 1;
  }
  isomer_queue_free(queue);
  printf("C: isomer %s, sin %.4f %.4f %.4f\n", isomer_version(), y[0], y[1], y[2]);
  return 0;
}
