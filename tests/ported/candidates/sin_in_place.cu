// op: sin
// finds: writes-input
#include <cuda_runtime.h>
__global__ void sin_kernel(float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] = sinf(x[i]);
    y[i] = x[i];
  }
}
extern "C" void sin_triton(float* x, float* out, int n) {
  if (n) sin_kernel<<<(n + 255) / 256, 256>>>(x, out, n);
}
