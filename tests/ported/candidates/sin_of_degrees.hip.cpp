// op: sin
// finds: missing-scale
#include <hip/hip_runtime.h>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i] * 3.14159265358979f / 180.0f);
}
extern "C" void sin_triton(const float* x, float* out, int n) {
  if (n) k<<<(n + 255) / 256, 256>>>(x, out, n);
}
