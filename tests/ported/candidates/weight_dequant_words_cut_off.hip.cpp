// op: weight_dequant
// finds: rounding-mode
#include <hip/hip_runtime.h>
#include <stdint.h>
__device__ static float e4m3_value(uint8_t b) {
  int e = (b >> 3) & 15, m = b & 7;
  if ((b & 0x7f) == 0x7f) return __uint_as_float(0x7fc00000u);
  float v = e ? ldexpf(1.0f + m * 0.125f, e - 7) : ldexpf((float)m, -9);
  return (b & 0x80) ? -v : v;
}
__global__ void weight_dequant_kernel(const uint8_t* x, const float* s, uint16_t* y, int M, int N, int bs) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (long)M * N) return;
  int m = i / N, n = i % N, sn = (N + bs - 1) / bs;
  float f = e4m3_value(x[i]) * s[(m / bs) * sn + n / bs];
  y[i] = (uint16_t)(__float_as_uint(f) >> 16);  // float -> bf16
}
extern "C" void weight_dequant_bf16(const uint8_t* x, const float* s, uint16_t* y, int M, int N,
                                    int block_size) {
  long n = (long)M * N;
  if (n)
    hipLaunchKernelGGL(weight_dequant_kernel, dim3((n + 255) / 256), dim3(256), 0, 0, x, s, y, M, N,
                       block_size);
}
