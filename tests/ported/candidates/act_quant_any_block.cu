// op: act_quant
// finds: nothing
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <cstdint>
__global__ void act_quant_kernel(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int block_size) {
  extern __shared__ float sm[];
  const int64_t base = (int64_t)blockIdx.x * block_size;
  float a = 0.f;
  for (int i = threadIdx.x; i < block_size; i += blockDim.x)
    a = fmaxf(a, fabsf(__bfloat162float(x[base + i])));
  sm[threadIdx.x] = a;
  __syncthreads();
  for (int w = blockDim.x >> 1; w; w >>= 1) {
    if (threadIdx.x < w) sm[threadIdx.x] = fmaxf(sm[threadIdx.x], sm[threadIdx.x + w]);
    __syncthreads();
  }
  const float scale = fmaxf(sm[0], 1e-4f) / 448.0f;
  for (int i = threadIdx.x; i < block_size; i += blockDim.x)
    y[base + i] = __nv_fp8_e4m3(__bfloat162float(x[base + i]) / scale);
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
extern "C" void act_quant(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int M, int K, int block_size) {
  const int blocks = M * (K / block_size);
  if (blocks == 0) return;
  act_quant_kernel<<<blocks, 128, 128 * 4>>>(x, y, s, block_size);
}
