// op: flash_decode_stage2
// finds: tail-mask, missing-max-subtraction
#include <cuda_runtime.h>
__global__ void stage2(const float* mid_o, const float* lse, const int* seqlen, float* out, int heads, int nb,
                       int dim, int block_seq) {
  int b = blockIdx.x, h = blockIdx.y, d = threadIdx.x;
  int n = seqlen[b] / block_seq;
  const float* M = mid_o + ((size_t)b * heads + h) * nb * dim;
  const float* L = lse + ((size_t)b * heads + h) * nb;
  float s = 0, acc = 0;
  for (int j = 0; j < n; ++j) {
    float e = expf(L[j]);
    acc += e * M[j * dim + d];
    s += e;
  }
  out[((size_t)b * heads + h) * dim + d] = acc / s;
}
extern "C" void flash_decode_stage2(const float* mid_o, const float* mid_o_logexpsum, const int* b_seqlen,
                                    float* o, int block_seq, int batch, int heads, int num_blocks,
                                    int head_dim) {
  if (batch)
    stage2<<<dim3(batch, heads), head_dim>>>(mid_o, mid_o_logexpsum, b_seqlen, o, heads, num_blocks, head_dim,
                                             block_seq);
}
