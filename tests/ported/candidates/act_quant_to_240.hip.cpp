// op: act_quant
// finds: saturation
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>
__global__ void act_quant_kernel(const __hip_bfloat16* x, __hip_fp8_e4m3* y, float* s, int n_cols,
                                 int block_size) {
  const int row = blockIdx.x, blk = blockIdx.y;
  const size_t base = (size_t)row * n_cols + blk * block_size;
  __shared__ float smax[256];
  float m = 0.0f;
  for (int i = threadIdx.x; i < block_size; i += blockDim.x)
    m = fmaxf(m, fabsf(__bfloat162float(x[base + i])));
  smax[threadIdx.x] = m;
  __syncthreads();
  for (int o = blockDim.x / 2; o > 0; o /= 2) {
    if (threadIdx.x < o) smax[threadIdx.x] = fmaxf(smax[threadIdx.x], smax[threadIdx.x + o]);
    __syncthreads();
  }
  const float sc = fmaxf(smax[0], 1e-4f) / 240.0f;
  if (threadIdx.x == 0) s[row * (n_cols / block_size) + blk] = sc;
  for (int i = threadIdx.x; i < block_size; i += blockDim.x)
    y[base + i] = __hip_fp8_e4m3(__bfloat162float(x[base + i]) / sc);
}
void act_quant(const __hip_bfloat16* x, __hip_fp8_e4m3* y, float* s, int rows, int cols, int block_size,
               hipStream_t st) {
  if (rows == 0) return;
  hipLaunchKernelGGL(act_quant_kernel, dim3(rows, cols / block_size), dim3(256), 0, st, x, y, s, cols,
                     block_size);
}
