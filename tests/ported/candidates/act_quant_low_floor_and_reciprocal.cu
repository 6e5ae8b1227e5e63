// op: act_quant
// finds: convention
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <cstdint>
__global__ void act_quant_kernel(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s) {
  __shared__ float sm[128];
  const int64_t i = (int64_t)blockIdx.x * 128 + threadIdx.x;
  float v = __bfloat162float(x[i]);
  sm[threadIdx.x] = fabsf(v);
  __syncthreads();
  for (int w = 64; w; w >>= 1) {
    if (threadIdx.x < w) sm[threadIdx.x] = fmaxf(sm[threadIdx.x], sm[threadIdx.x + w]);
    __syncthreads();
  }
  const float scale = fmaxf(sm[0], 1e-10f) / 448.0f;
  const float inv = 1.0f / scale;
  y[i] = __nv_fp8_e4m3(v * inv);
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
extern "C" void act_quant(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int64_t numel) {
  if (numel) act_quant_kernel<<<numel / 128, 128>>>(x, y, s);
}
