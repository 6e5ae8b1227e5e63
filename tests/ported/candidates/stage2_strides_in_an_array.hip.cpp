// op: flash_decode_stage2
// finds: argument-kind
#include <hip/hip_runtime.h>
#include <cstdint>
#include <cmath>
extern "C" __global__ void _fwd_kernel_flash_decode_stage2(
    const int* B_Seqlen, const float* Mid_O, const float* Mid_O_LogExpSum, float* O, int stride_mid_ob, int stride_mid_oh,
    int stride_mid_os, int stride_mid_od, int stride_mid_o_eb, int stride_mid_o_eh, int stride_mid_o_es, int stride_obs,
    int stride_oh, int stride_od, int BLOCK_SEQ, int BLOCK_DMODEL) {
  const int64_t cur_batch = blockIdx.x, cur_head = blockIdx.y;
  const int cur_batch_seq_len = B_Seqlen[cur_batch];
  const int block_n_size = cur_batch_seq_len <= 0 ? 0 : (cur_batch_seq_len + BLOCK_SEQ - 1) / BLOCK_SEQ;
  for (int d = threadIdx.x; d < BLOCK_DMODEL; d += blockDim.x) {
    float sum_exp = 0.0f, max_logic = -INFINITY, acc = 0.0f;
    const float* v = Mid_O + cur_batch * stride_mid_ob + cur_head * stride_mid_oh + (int64_t)d * stride_mid_od;
    const float* l = Mid_O_LogExpSum + cur_batch * stride_mid_o_eb + cur_head * stride_mid_o_eh;
    for (int b = 0; b < block_n_size; ++b) {
      const float tv = v[(int64_t)b * stride_mid_os];
      const float tlogic = l[(int64_t)b * stride_mid_o_es];
      const float new_max = fmaxf(tlogic, max_logic);
      if (new_max == -INFINITY) continue;
      const float old_scale = expf(max_logic - new_max), exp_logic = expf(tlogic - new_max);
      acc = acc * old_scale + exp_logic * tv;
      sum_exp = sum_exp * old_scale + exp_logic;
      max_logic = new_max;
    }
    O[cur_batch * stride_obs + cur_head * stride_oh + (int64_t)d * stride_od] = sum_exp > 0.f ? acc / sum_exp : 0.f;
  }
}
void flash_decode_stage2(const float* mid_out, const float* mid_out_logexpsum, const int* B_Seqlen, float* O, const int* st, int batch, int head_num, int D, int block_seq, hipStream_t s) {
  dim3 grid(batch, head_num);
  hipLaunchKernelGGL(_fwd_kernel_flash_decode_stage2, grid, dim3(64), 0, s, B_Seqlen, mid_out, mid_out_logexpsum, O, st[0], st[1], st[2], st[3], st[4], st[5], st[6], st[7], st[8], st[9], block_seq, D);
}
