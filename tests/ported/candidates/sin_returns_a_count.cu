// op: sin
// finds: nothing
#include <cuda_runtime.h>
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
extern "C" int sin_triton(const float* x, float* out, int n) {
  int blocks = (n + 255) / 256;
  if (blocks) k<<<blocks, 256>>>(x, out, n);
  return blocks;
}
