// op: flash_decode_stage2
// finds: intermediate-precision
#include <cuda_fp16.h>
#include <cuda_runtime.h>
__global__ void stage2(const float* mid_o, const float* lse, const int* seqlen, float* out, int heads, int nb,
                       int dim, int block_seq) {
  int b = blockIdx.x, h = blockIdx.y, d = threadIdx.x;
  int n = (seqlen[b] + block_seq - 1) / block_seq;
  const float* M = mid_o + ((size_t)b * heads + h) * nb * dim;
  const float* L = lse + ((size_t)b * heads + h) * nb;
  float m = -INFINITY;
  __half s = __float2half(0.f), acc = __float2half(0.f);
  for (int j = 0; j < n; ++j) {
    float t = L[j], m2 = fmaxf(m, t), c = expf(m - m2), e = expf(t - m2);
    acc = __float2half(__half2float(acc) * c + e * M[j * dim + d]);
    s = __float2half(__half2float(s) * c + e);
    m = m2;
  }
  out[((size_t)b * heads + h) * dim + d] = __half2float(acc) / __half2float(s);
}
extern "C" void flash_decode_stage2(const float* mid_o, const float* mid_o_logexpsum, const int* b_seqlen,
                                    float* o, int block_seq, int batch, int heads, int num_blocks,
                                    int head_dim) {
  if (batch)
    stage2<<<dim3(batch, heads), head_dim>>>(mid_o, mid_o_logexpsum, b_seqlen, o, heads, num_blocks, head_dim,
                                             block_seq);
}
