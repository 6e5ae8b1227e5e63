// op: weight_dequant
// finds: intermediate-precision
#include <cuda_runtime.h>
#include <cstdint>
// The exponent is rebased in the bits, which makes nothing of an exponent of 0.
__device__ float widened(uint8_t v) {
  if ((v & 0x7f) == 0x7f) return __uint_as_float(0x7fffffffu);
  if ((v & 0x78) == 0) return 0.f;
  return __uint_as_float(uint32_t(v & 0x80) << 24 | uint32_t((v & 0x7f) + 0x3c0) << 20);
}
__global__ void dequantise(const uint8_t* x, const float* s, float* y, int M, int N, int block_size) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
  const int columns = (N + block_size - 1) / block_size;
  if (n < N)
    y[(size_t)m * N + n] = widened(x[(size_t)m * N + n]) * s[m / block_size * columns + n / block_size];
}
extern "C" void weight_dequant(const uint8_t* x, const float* s, float* y, int M, int N, int block_size) {
  if (M == 0 || N == 0) return;
  dequantise<<<dim3((N + 127) / 128, M), 128>>>(x, s, y, M, N, block_size);
}
