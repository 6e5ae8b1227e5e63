#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>

constexpr int kThreads = 64;

__global__ void quantize_kernel(const float* K, const int* DestLoc, int8_t* Out, float* Out_scale,
                                int seq_len, int head_num, int d_model) {
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

extern "C" void destindex_copy_quantize_kv(const float* K, const int* DestLoc, int8_t* Out, float* Out_scale,
                                           int seq_len, int head_num, int d_model) {
  if (seq_len == 0) return;
  const int blocks = (seq_len * head_num + kThreads - 1) / kThreads;
  hipLaunchKernelGGL(quantize_kernel, dim3(blocks), dim3(kThreads), 0, 0, K, DestLoc, Out, Out_scale, seq_len,
                     head_num, d_model);
}
