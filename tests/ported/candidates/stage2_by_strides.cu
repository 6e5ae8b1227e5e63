// op: flash_decode_stage2
// finds: nothing
#include <cuda_runtime.h>
#include <cmath>
__global__ void flash_decode_stage2_kernel(const int* B_Seqlen, const float* Mid_O,
                                           const float* Mid_O_LogExpSum, float* O, int stride_mid_ob,
                                           int stride_mid_oh, int stride_mid_os, int stride_mid_od,
                                           int stride_mid_o_eb, int stride_mid_o_eh, int stride_mid_o_es,
                                           int stride_obs, int stride_oh, int stride_od, int head_dim,
                                           int BLOCK_SEQ) {
  const int b = blockIdx.x, h = blockIdx.y, d = threadIdx.x;
  if (d >= head_dim) return;
  const int len = B_Seqlen[b];
  const int n = len <= 0 ? 0 : (len + BLOCK_SEQ - 1) / BLOCK_SEQ;
  float m = -INFINITY, s = 0.f, acc = 0.f;
  for (int j = 0; j < n; ++j) {
    const float v = Mid_O[b * stride_mid_ob + h * stride_mid_oh + j * stride_mid_os + d * stride_mid_od];
    const float t = Mid_O_LogExpSum[b * stride_mid_o_eb + h * stride_mid_o_eh + j * stride_mid_o_es];
    const float m2 = fmaxf(m, t), c = expf(m - m2), e = expf(t - m2);
    acc = acc * c + e * v;
    s = s * c + e;
    m = m2;
  }
  O[b * stride_obs + h * stride_oh + d * stride_od] = acc / s;
}
extern "C" void flash_decode_stage2(const float* mid_out, const float* mid_out_logexpsum, const int* B_Seqlen,
                                    float* Out, int block_seq, int batch, int head_num, int head_dim,
                                    int stride_mid_ob, int stride_mid_oh, int stride_mid_os,
                                    int stride_mid_od, int stride_mid_o_eb, int stride_mid_o_eh,
                                    int stride_mid_o_es, int stride_obs, int stride_oh, int stride_od) {
  if (batch * head_num == 0) return;
  flash_decode_stage2_kernel<<<dim3(batch, head_num), ((head_dim + 31) / 32) * 32>>>(
      B_Seqlen, mid_out, mid_out_logexpsum, Out, stride_mid_ob, stride_mid_oh, stride_mid_os, stride_mid_od,
      stride_mid_o_eb, stride_mid_o_eh, stride_mid_o_es, stride_obs, stride_oh, stride_od, head_dim,
      block_seq);
}
