#include <ATen/ATen.h>
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#include <cmath>
#include <cstdint>

constexpr int kThreads = 64;

// One thread for each head of each token.
__global__ void quantize_kernel(const float* __restrict__ K, const int* __restrict__ DestLoc,
                                int8_t* __restrict__ Out, float* __restrict__ Out_scale, int seq_len,
                                int head_num, int d_model) {
  const int index = blockIdx.x * blockDim.x + threadIdx.x;
  if (index >= seq_len * head_num) return;
  const int token = index / head_num;
  const int head = index % head_num;
  const int row = DestLoc[token];
  const float* source = K + (token * head_num + head) * d_model;
  int8_t* target = Out + (row * head_num + head) * d_model;

  float largest = 0.0f;
  for (int d = 0; d < d_model; ++d) largest = fmaxf(largest, fabsf(source[d]));
  const float scale = largest > 1e-6f ? largest / 127.0f : 1.0f;
  for (int d = 0; d < d_model; ++d) {
    float q = roundf(source[d] / scale);
    q = fminf(fmaxf(q, -127.0f), 127.0f);
    target[d] = static_cast<int8_t>(q);
  }
  Out_scale[row * head_num + head] = scale;
}

void destindex_copy_quantize_kv(at::Tensor K, at::Tensor DestLoc, at::Tensor Out, at::Tensor Out_scale) {
  TORCH_CHECK(K.scalar_type() == at::kFloat, "K must be float32");
  TORCH_CHECK(DestLoc.scalar_type() == at::kInt, "DestLoc must be int32");
  TORCH_CHECK(Out.scalar_type() == at::kChar, "Out must be int8");
  TORCH_CHECK(Out_scale.scalar_type() == at::kFloat, "Out_scale must be float32");
  TORCH_CHECK(K.dim() == 3, "K must be [seq_len, head_num, d_model]");
  TORCH_CHECK(Out_scale.dim() == 2, "Out_scale must be [out_rows, head_num]");
  const int seq_len = K.size(0), head_num = K.size(1), d_model = K.size(2);
  if (seq_len == 0) return;
  const int blocks = (seq_len * head_num + kThreads - 1) / kThreads;
  hipLaunchKernelGGL(quantize_kernel, dim3(blocks), dim3(kThreads), 0, at::hip::getCurrentHIPStream(),
                     K.data_ptr<float>(), DestLoc.data_ptr<int>(), Out.data_ptr<int8_t>(),
                     Out_scale.data_ptr<float>(), seq_len, head_num, d_model);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("destindex_copy_quantize_kv", &destindex_copy_quantize_kv, "Quantises keys into an int8 cache");
}
