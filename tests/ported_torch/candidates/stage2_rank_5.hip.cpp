// op: flash_decode_stage2
// finds: rank-refused
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>
__global__ void k2(const int* lens, const float* mid, const float* lse, float* out, long s_mb, long s_mh,
                   long s_ms, long s_md, long s_lb, long s_lh, long s_ls, long s_ob, long s_oh, int bs,
                   int D) {
  int b = blockIdx.x, h = blockIdx.y, d = threadIdx.x;
  if (d >= D) return;
  int n = (lens[b] + bs - 1) / bs;
  float m = -INFINITY, s = 0, a = 0;
  for (int j = 0; j < n; ++j) {
    float t = lse[b * s_lb + h * s_lh + j * s_ls], v = mid[b * s_mb + h * s_mh + j * s_ms + d * s_md];
    float m2 = fmaxf(m, t), c = expf(m - m2), e = expf(t - m2);
    a = a * c + e * v;
    s = s * c + e;
    m = m2;
  }
  out[b * s_ob + h * s_oh + d] = a / s;
}
void flash_decode_stage2(at::Tensor mid_out, at::Tensor mid_out_logexpsum, at::Tensor B_Seqlen,
                         at::Tensor Out, int64_t block_seq) {
  auto batch = mid_out.size(0), heads = mid_out.size(1);
  auto dim = mid_out.size(4);
  if (batch == 0) return;
  hipLaunchKernelGGL(k2, dim3(batch, heads), dim3(dim), 0, at::hip::getCurrentHIPStream(),
                     B_Seqlen.data_ptr<int>(), mid_out.data_ptr<float>(), mid_out_logexpsum.data_ptr<float>(),
                     Out.data_ptr<float>(), mid_out.stride(0), mid_out.stride(1), mid_out.stride(2),
                     mid_out.stride(4), mid_out_logexpsum.stride(0), mid_out_logexpsum.stride(1),
                     mid_out_logexpsum.stride(2), Out.stride(0), Out.stride(1), (int)block_seq, (int)dim);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("flash_decode_stage2", &flash_decode_stage2); }
