/* attention.cpp in C. */
#include <isomer/isomer.h>

#include <stdio.h>

enum { LENGTH = 4, HEADS = 4, KV_HEADS = 2, DIM = 8 };

int main(void) {
  static float q[LENGTH * HEADS * DIM], k[LENGTH * KV_HEADS * DIM], v[LENGTH * KV_HEADS * DIM],
      out[LENGTH * HEADS * DIM];
  static float lse[HEADS * LENGTH];
  isomer_int64 q_shape[4] = {1, LENGTH, HEADS, DIM}, k_shape[4] = {1, LENGTH, KV_HEADS, DIM};
  isomer_int64 lse_shape[3] = {1, HEADS, LENGTH};
  isomer_tensor q_tensor = {q, {ISOMER_CPU, 0}, 4, ISOMER_F32, q_shape, NULL, 0};
  isomer_tensor k_tensor = {k, {ISOMER_CPU, 0}, 4, ISOMER_F32, k_shape, NULL, 0};
  isomer_tensor v_tensor = {v, {ISOMER_CPU, 0}, 4, ISOMER_F32, k_shape, NULL, 0};
  isomer_tensor out_tensor = {out, {ISOMER_CPU, 0}, 4, ISOMER_F32, q_shape, NULL, 0};
  isomer_tensor lse_tensor = {lse, {ISOMER_CPU, 0}, 3, ISOMER_F32, lse_shape, NULL, 0};
  isomer_attention_args args = ISOMER_ATTENTION_ARGS_INIT;
  isomer_attention_options options = ISOMER_ATTENTION_OPTIONS_INIT;
  isomer_queue* queue = NULL;
  int i;

  for (i = 0; i < LENGTH * HEADS * DIM; ++i) q[i] = 0.5f;
  for (i = 0; i < LENGTH * KV_HEADS * DIM; ++i) v[i] = (float)(i / (KV_HEADS * DIM));
  args.q = &q_tensor;
  args.k = &k_tensor;
  args.v = &v_tensor;
  args.out = &out_tensor;
  args.lse = &lse_tensor;
  options.causal = 1;
  if (isomer_queue_cpu(NULL, &queue) != ISOMER_OK || isomer_attention(queue, &args, &options) != ISOMER_OK ||
      isomer_queue_synchronize(queue) != ISOMER_OK) {
    fprintf(stderr, "%s\n", isomer_last_error());
    isomer_queue_free(queue);
    return 1;
  }
  for (i = 0; i < LENGTH; ++i)
    printf("query %d: out %.3f, ln of the denominator %.4f\n", i, out[i * HEADS * DIM], lse[i]);
  isomer_queue_free(queue);
  return 0;
}
