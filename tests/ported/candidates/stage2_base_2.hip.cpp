// op: flash_decode_stage2
// finds: convention
#include <hip/hip_runtime.h>
__global__ void stage2(const float* mid_o, const float* lse, const int* seqlen, float* out, int heads, int nb,
                       int dim, int block_seq) {
  int b = blockIdx.x, h = blockIdx.y, d = threadIdx.x;
  int n = (seqlen[b] + block_seq - 1) / block_seq;
  const float* M = mid_o + ((size_t)b * heads + h) * nb * dim;
  const float* L = lse + ((size_t)b * heads + h) * nb;
  float m = -INFINITY, s = 0, acc = 0;
  for (int j = 0; j < n; ++j) {
    float t = L[j], m2 = fmaxf(m, t), c = exp2f(m - m2), e = exp2f(t - m2);
    acc = acc * c + e * M[j * dim + d];
    s = s * c + e;
    m = m2;
  }
  out[((size_t)b * heads + h) * dim + d] = acc / s;
}
extern "C" void flash_decode_stage2(const float* mid_o, const float* mid_o_logexpsum, const int* b_seqlen,
                                    float* o, int block_seq, int batch, int heads, int num_blocks,
                                    int head_dim) {
  if (batch)
    hipLaunchKernelGGL(stage2, dim3(batch, heads), dim3(head_dim), 0, 0, mid_o, mid_o_logexpsum, b_seqlen, o,
                       heads, num_blocks, head_dim, block_seq);
}
