// op: act_quant
// finds: missing-scale, convention
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <stdint.h>
constexpr int kThreads = 128;
__global__ void act_quant_kernel(const __nv_bfloat16* x_ptr, __nv_fp8_e4m3* y_ptr, float* s_ptr,
                                 int n_groups) {
  __shared__ float buf[kThreads];
  for (int g = blockIdx.x; g < n_groups; g += gridDim.x) {
    float v = __bfloat162float(x_ptr[(int64_t)g * 128 + threadIdx.x]);
    buf[threadIdx.x] = fabsf(v);
    __syncthreads();
    for (int stride = 64; stride > 0; stride >>= 1) {
      if (threadIdx.x < stride) buf[threadIdx.x] = fmaxf(buf[threadIdx.x], buf[threadIdx.x + stride]);
      __syncthreads();
    }
    float scale = 448.f / fmaxf(buf[0], 1e-4f);
    y_ptr[(int64_t)g * 128 + threadIdx.x] = static_cast<__nv_fp8_e4m3>(v * scale);
    if (threadIdx.x == 0) s_ptr[g] = scale;
    __syncthreads();
  }
}
extern "C" void act_quant(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int M, int K) {
  int groups = M * (K / 128);
  const int blocks = groups < 1024 ? groups : 1024;
  if (groups > 0) act_quant_kernel<<<blocks, kThreads>>>(x, y, s, groups);
}
