// destindex_copy_quantize_kv with a warp for each head.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cmath>

__global__ void quantize(const __half* k, const int* dest, int8_t* out, __half* scales, int head_num, int dim,
                         int width) {
  const int64_t token = blockIdx.x, row = dest[token];
  const int lane = threadIdx.x % 32;
  for (int head = threadIdx.x / 32; head < (head_num + 1) / 2 * 2; head += 2) {
    const __half* from = k + (token * head_num + head) * dim;
    float largest = 0.0f;
    for (int d = lane; head < head_num && d < dim; d += 32) {
      const float a = fabsf(static_cast<float>(from[d]));
      if (!(a <= largest)) largest = a;
    }
    for (int step = width / 2; step > 0; step /= 2) {
      const float other = __shfl_xor(largest, step);
      if (!(other <= largest)) largest = other;
    }
    if (head >= head_num) continue;
    const __half stored = static_cast<__half>(largest / 127.0f);
    const float scale = static_cast<float>(stored);
    for (int d = lane; d < dim; d += 32) {
      float q = truncf(static_cast<float>(from[d]) / scale);
      if (!(q == q)) q = 0.0f;
      out[(row * head_num + head) * dim + d] = static_cast<int8_t>(fminf(fmaxf(q, -128.0f), 127.0f));
    }
    if (lane == 0) scales[row * head_num + head] = stored;
  }
}

extern "C" void lanes_right(const __half* K, const int* DestLoc, int8_t* Out, __half* Out_scale, int seq_len,
                            int head_num, int head_dim) {
  if (seq_len > 0)
    hipLaunchKernelGGL(quantize, dim3(seq_len), dim3(64), 0, 0, K, DestLoc, Out, Out_scale, head_num,
                       head_dim, 32);
}

extern "C" void lanes_of_the_warp(const __half* K, const int* DestLoc, int8_t* Out, __half* Out_scale,
                                  int seq_len, int head_num, int head_dim) {
  hipDeviceProp_t properties;
  if (hipGetDeviceProperties(&properties, 0) != hipSuccess) return;
  // A head has 32 lanes here, and a warp may have more.
  if (seq_len > 0)
    hipLaunchKernelGGL(quantize, dim3(seq_len), dim3(64), 0, 0, K, DestLoc, Out, Out_scale, head_num,
                       head_dim, properties.warpSize);
}

// A warp of 64 lanes for each token's one head, and no other.
__global__ void quantize_by_64(const __half* k, const int* dest, int8_t* out, __half* scales, int heads,
                               int dim) {
  const int64_t token = blockIdx.x, row = dest[token];
  for (int head = 0; head < heads; ++head) {
    const __half* from = k + (token * heads + head) * dim;
    float largest = 0.0f;
    for (int d = threadIdx.x; d < dim; d += 64) {
      const float a = fabsf(static_cast<float>(from[d]));
      if (!(a <= largest)) largest = a;
    }
    for (int step = 32; step > 0; step /= 2) {
      const float other = __shfl_xor(largest, step, 64);
      if (!(other <= largest)) largest = other;
    }
    const __half stored = static_cast<__half>(largest / 127.0f);
    const float scale = static_cast<float>(stored);
    for (int d = threadIdx.x; d < dim; d += 64) {
      float q = truncf(static_cast<float>(from[d]) / scale);
      if (!(q == q)) q = 0.0f;
      out[(row * heads + head) * dim + d] = static_cast<int8_t>(fminf(fmaxf(q, -128.0f), 127.0f));
    }
    if (threadIdx.x == 0) scales[row * heads + head] = stored;
  }
}

extern "C" void lanes_of_64(const __half* K, const int* DestLoc, int8_t* Out, __half* Out_scale, int seq_len,
                            int head_num, int head_dim) {
  if (seq_len > 0)
    hipLaunchKernelGGL(quantize_by_64, dim3(seq_len), dim3(64), 0, 0, K, DestLoc, Out, Out_scale, head_num,
                       head_dim);
}
