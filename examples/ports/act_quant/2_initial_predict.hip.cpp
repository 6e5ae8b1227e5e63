#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>

constexpr int kThreads = 64;

// A block of threads owns one block of a row.
__global__ void act_quant_kernel(const float* x, __hip_fp8_e4m3* y, float* s, int block_size) {
  __shared__ float largest[kThreads];
  const int64_t first = static_cast<int64_t>(blockIdx.x) * block_size;
  float mine = 0.0f;
  for (int i = threadIdx.x; i < block_size; i += kThreads) {
    const float a = fabsf(x[first + i]);
    mine = isnan(a) || isnan(mine) ? NAN : fmaxf(mine, a);
  }
  largest[threadIdx.x] = mine;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      const float a = largest[threadIdx.x], b = largest[threadIdx.x + half];
      largest[threadIdx.x] = isnan(a) || isnan(b) ? NAN : fmaxf(a, b);
    }
  }
  __syncthreads();
  const float amax = isnan(largest[0]) ? NAN : fmaxf(largest[0], 1e-12f);
  const float scale = amax / 240.0f;
  for (int i = threadIdx.x; i < block_size; i += kThreads)
    y[first + i] = __hip_fp8_e4m3(x[first + i] / scale);
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}

extern "C" void act_quant(const float* x, __hip_fp8_e4m3* y, float* s, int rows, int K, int block_size) {
  const int64_t blocks = static_cast<int64_t>(rows) * (K / block_size);
  if (blocks == 0) return;
  hipLaunchKernelGGL(act_quant_kernel, dim3(blocks), dim3(kThreads), 0, 0, x, y, s, block_size);
}
