// Two functions that can be called as the op is, neither by its name.
#include <cuda_runtime.h>
#include <cmath>
__global__ void wave(const float* x, float* y, int n, float phase) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i] + phase);
}
extern "C" void wave_a(const float* x, float* y, int n) { wave<<<(n + 255) / 256, 256>>>(x, y, n, 0.f); }
extern "C" void wave_b(const float* x, float* y, int n) { wave<<<(n + 255) / 256, 256>>>(x, y, n, 1.f); }
