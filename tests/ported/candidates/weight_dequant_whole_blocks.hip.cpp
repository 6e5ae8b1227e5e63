// op: weight_dequant
// finds: tail-mask
#include <hip/hip_runtime.h>
#include <cstdint>
__device__ inline float e4m3_to_float(uint8_t v) {
  const uint32_t s = (uint32_t)(v & 0x80) << 24, e = (v >> 3) & 15, m = v & 7;
  if (e == 15 && m == 7) return __uint_as_float(s | 0x7fc00000u);
  if (e == 0) return (s ? -1.f : 1.f) * (float)m * 0.001953125f;
  return __uint_as_float(s | ((e + 120) << 23) | (m << 20));
}
__global__ void weight_dequant(const uint8_t* x, const float* s, float* y, int M, int N, int block) {
  const int stride_s = N / block;   // scales per row
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (int64_t)M * N; i += (int64_t)gridDim.x * blockDim.x) {
    const int m = i / N, n = i % N;
    y[i] = e4m3_to_float(x[i]) * s[(m / block) * stride_s + n / block];
  }
}
extern "C" void launch_weight_dequant(const uint8_t* x, const float* s, float* y, int M, int N, int block) {
  if ((int64_t)M * N == 0) return;
  weight_dequant<<<240, 256>>>(x, s, y, M, N, block);
}
