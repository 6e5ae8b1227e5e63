// op: quantize_copy_kv
// finds: zero-guard
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <cstdint>
// A maximum of at least 1e-5, so that nothing is divided by zero.
__global__ void quant_kernel(const float* K, const int* DestLoc, int8_t* Out, float* Out_scale, int64_t k0,
                             int64_t k1, int64_t k2, int64_t o0, int64_t o1, int64_t o2, int64_t s0,
                             int64_t s1, int H, int D) {
  const int64_t row = DestLoc[blockIdx.x];
  for (int h = threadIdx.x; h < H; h += blockDim.x) {
    const float* x = K + blockIdx.x * k0 + h * k1;
    float amax = 1e-5f;
    for (int d = 0; d < D; ++d) amax = fmaxf(amax, fabsf(x[d * k2]));
    const float scale = amax / 127.0f;
    for (int d = 0; d < D; ++d) Out[row * o0 + h * o1 + d * o2] = (int8_t)(int)(x[d * k2] / scale);
    Out_scale[row * s0 + h * s1] = scale;
  }
}
extern "C" void destindex_copy_quantize_kv(const float* K, const int* DestLoc, int8_t* Out, float* Out_scale,
                                           int64_t k0, int64_t k1, int64_t k2, int64_t o0, int64_t o1,
                                           int64_t o2, int64_t s0, int64_t s1, int S, int H, int D) {
  if (S > 0) quant_kernel<<<S, 64>>>(K, DestLoc, Out, Out_scale, k0, k1, k2, o0, o1, o2, s0, s1, H, D);
}
