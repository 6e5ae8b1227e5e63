// op: sin
// finds: approximation
#include <cuda_runtime.h>
__global__ void sin_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __sinf(x[i]);
}
extern "C" void sin_triton(const float* x, float* out, int n) {
  if (n) sin_kernel<<<(n + 1023) / 1024, 1024>>>(x, out, n);
}
