// op: quantize_copy_kv
// finds: nothing
#include <ATen/hip/HIPContext.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>
#include <cstdint>

__global__ void destindex_copy_quantize_kv_kernel(const __half* __restrict__ K,
                                                  const int32_t* __restrict__ DestLoc,
                                                  int8_t* __restrict__ Out, __half* __restrict__ OutScale,
                                                  int64_t stride_k_bs, int64_t stride_k_h, int64_t stride_k_d,
                                                  int64_t stride_o_bs, int64_t stride_o_h, int64_t stride_o_d,
                                                  int64_t stride_os_bs, int64_t stride_os_h, int head_num,
                                                  int head_dim) {
  const int tok = blockIdx.x;
  const int head = threadIdx.x;
  if (head >= head_num) return;
  const int64_t dest = DestLoc[tok];
  const __half* src = K + tok * stride_k_bs + head * stride_k_h;
  float amax = 0.0f;
  for (int d = 0; d < head_dim; ++d) amax = fmaxf(amax, fabsf(__half2float(src[d * stride_k_d])));
  const __half scale = __float2half(amax / 127.0f);
  const float fs = __half2float(scale);
  for (int d = 0; d < head_dim; ++d)
    Out[dest * stride_o_bs + head * stride_o_h + d * stride_o_d] =
        static_cast<int8_t>(__half2float(src[d * stride_k_d]) / fs);
  OutScale[dest * stride_os_bs + head * stride_os_h] = scale;
}

void destindex_copy_quantize_kv(torch::Tensor K, torch::Tensor DestLoc, torch::Tensor Out,
                                torch::Tensor Out_scale) {
  TORCH_CHECK(K.is_cuda() && DestLoc.is_cuda() && Out.is_cuda() && Out_scale.is_cuda(),
              "all tensors must be on the GPU");
  TORCH_CHECK(K.dim() == 3, "K must be [seq, heads, dim]");
  TORCH_CHECK(K.scalar_type() == at::kHalf, "K must be float16");
  TORCH_CHECK(Out.scalar_type() == at::kChar, "Out must be int8");
  TORCH_CHECK(K.size(1) == Out.size(1) && K.size(2) == Out.size(2), "K and Out must agree");
  const int seq_len = K.size(0), head_num = K.size(1), head_dim = K.size(2);
  if (seq_len == 0) return;
  auto stream = at::hip::getCurrentHIPStream();
  hipLaunchKernelGGL(destindex_copy_quantize_kv_kernel, dim3(seq_len), dim3(((head_num + 63) / 64) * 64), 0,
                     stream, reinterpret_cast<const __half*>(K.data_ptr<at::Half>()),
                     DestLoc.data_ptr<int32_t>(), Out.data_ptr<int8_t>(),
                     reinterpret_cast<__half*>(Out_scale.data_ptr<at::Half>()), K.stride(0), K.stride(1),
                     K.stride(2), Out.stride(0), Out.stride(1), Out.stride(2), Out_scale.stride(0),
                     Out_scale.stride(1), head_num, head_dim);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("destindex_copy_quantize_kv", &destindex_copy_quantize_kv, "scatter int8 kv", py::arg("K"),
        py::arg("DestLoc"), py::arg("Out"), py::arg("Out_scale"));
}
