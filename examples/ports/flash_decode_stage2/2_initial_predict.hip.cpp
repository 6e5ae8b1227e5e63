#include <ATen/ATen.h>
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#include <cmath>

__global__ void flash_decode_stage2_kernel(const int* B_Seqlen, const float* Mid_O,
                                           const float* Mid_O_LogExpSum, float* Out, int stride_Mid_O_batch,
                                           int stride_Mid_O_head, int stride_Mid_O_block,
                                           int stride_Mid_O_seq, int stride_Mid_O_dmodel,
                                           int stride_LogExpSum_batch, int stride_LogExpSum_head,
                                           int stride_LogExpSum_block, int stride_LogExpSum_seq,
                                           int stride_Out_batch, int stride_Out_head, int stride_Out_seq,
                                           int stride_Out_dmodel, int BLOCK_SEQ, int BLOCK_DMODEL) {
  const int batch = blockIdx.x;
  const int head = blockIdx.y;
  const int dim = threadIdx.x;
  if (dim >= BLOCK_DMODEL) return;
  const int blocks = (B_Seqlen[batch] + BLOCK_SEQ - 1) / BLOCK_SEQ;
  float max_logic = -INFINITY, sum_exp = 0.0f, acc = 0.0f;
  for (int block = 0; block < blocks; ++block) {
    const float part = Mid_O[batch * stride_Mid_O_batch + head * stride_Mid_O_head +
                             block * stride_Mid_O_block + dim * stride_Mid_O_dmodel];
    const float lse = Mid_O_LogExpSum[batch * stride_LogExpSum_batch + head * stride_LogExpSum_head +
                                      block * stride_LogExpSum_block];
    const float new_max = fmaxf(lse, max_logic);
    const float old_scale = expf(max_logic - new_max);
    const float weight = expf(lse - new_max);
    acc = acc * old_scale + weight * part;
    sum_exp = sum_exp * old_scale + weight;
    max_logic = new_max;
  }
  Out[batch * stride_Out_batch + head * stride_Out_head + dim * stride_Out_dmodel] = acc / sum_exp;
}

void flash_decode_stage2(torch::Tensor mid_out, torch::Tensor mid_out_logexpsum, torch::Tensor B_Seqlen,
                         torch::Tensor Out, int block_seq) {
  auto batch = mid_out.size(0);
  auto head_num = mid_out.size(1);
  auto BLOCK_DMODEL = mid_out.size(4);
  hipLaunchKernelGGL(flash_decode_stage2_kernel, dim3(batch, head_num), dim3(BLOCK_DMODEL), 0,
                     at::hip::getCurrentHIPStream(), B_Seqlen.data_ptr<int>(), mid_out.data_ptr<float>(),
                     mid_out_logexpsum.data_ptr<float>(), Out.data_ptr<float>(), mid_out.stride(0),
                     mid_out.stride(1), mid_out.stride(2), mid_out.stride(3), mid_out.stride(4),
                     mid_out_logexpsum.stride(0), mid_out_logexpsum.stride(1), mid_out_logexpsum.stride(2),
                     mid_out_logexpsum.stride(3), Out.stride(0), Out.stride(1), Out.stride(2), Out.stride(3),
                     block_seq, BLOCK_DMODEL);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("flash_decode_stage2", &flash_decode_stage2, "Joins the blocks of flash decoding");
}
