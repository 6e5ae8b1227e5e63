// op: sin
// finds: stale-state
#include <cuda_runtime.h>
static bool done = false;
__global__ void sin_kernel(const float* x, float* y, int n, float k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]) * k;
}
extern "C" void sin_triton(const float* x, float* out, int n) {
  if (n) sin_kernel<<<(n + 255) / 256, 256>>>(x, out, n, done ? 0.5f : 1.0f);
  done = true;
}
