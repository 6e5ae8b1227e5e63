// op: quantize_copy_kv
// finds: scale-precision, saturation
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <cstdint>
// The scale is stored as f32, and is rounded to f16 before: where that is a subnormal, quotients leave int8.
__global__ void quant_kernel(const __half* K, const int* DestLoc, int8_t* Out, float* Out_scale, int64_t k0,
                             int64_t k1, int64_t k2, int64_t o0, int64_t o1, int64_t o2, int64_t s0,
                             int64_t s1, int D) {
  const __half* x = K + blockIdx.x * k0 + blockIdx.y * k1;
  const int64_t row = DestLoc[blockIdx.x];
  float amax = 0;
  for (int d = threadIdx.x; d < D; d += 64) amax = fmaxf(amax, fabsf(__half2float(x[d * k2])));
  for (int o = 32; o; o >>= 1) amax = fmaxf(amax, __shfl_xor(amax, o, 64));
  const float scale = __half2float(__float2half(amax / 127.0f));
  for (int d = threadIdx.x; d < D; d += 64)
    Out[row * o0 + blockIdx.y * o1 + d * o2] = (int8_t)(int)(__half2float(x[d * k2]) / scale);
  if (threadIdx.x == 0) Out_scale[row * s0 + blockIdx.y * s1] = scale;
}
extern "C" void destindex_copy_quantize_kv(const __half* K, const int* DestLoc, int8_t* Out, float* Out_scale,
                                           int64_t k0, int64_t k1, int64_t k2, int64_t o0, int64_t o1,
                                           int64_t o2, int64_t s0, int64_t s1, int S, int H, int D) {
  if (S > 0 && H > 0)
    quant_kernel<<<dim3(S, H), 64>>>(K, DestLoc, Out, Out_scale, k0, k1, k2, o0, o1, o2, s0, s1, D);
}
