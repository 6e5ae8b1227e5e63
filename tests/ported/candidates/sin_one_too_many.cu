// op: sin
// finds: out-of-bounds-write, out-of-bounds-read
#include <cuda_runtime.h>
__global__ void sin_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = sinf(x[i]);
}
extern "C" void sin_triton(const float* x, float* out, int n) {
  if (n) sin_kernel<<<(n + 255) / 256, 256>>>(x, out, n);
}
