// op: sin
// finds: launch-failed
#include <cuda_runtime.h>
__global__ void sin_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
extern "C" void sin_triton(const float* x, float* out, int n) {
  if (n) sin_kernel<<<(n + 2047) / 2048, 2048>>>(x, out, n);
}
