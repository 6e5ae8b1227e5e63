// op: sin
// finds: unexplained
#include <cuda_runtime.h>
__global__ void sin_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float v = x[i];
    y[i] = v - v * v * v / 6 + v * v * v * v * v / 120;
  }
}
extern "C" void sin_triton(const float* x, float* out, int n) {
  if (n) sin_kernel<<<(n + 255) / 256, 256>>>(x, out, n);
}
