// op: sin
// finds: nothing
#include <hip/hip_runtime.h>

namespace port {
struct __align__(8) Arguments {
  const float* __restrict__ x;
  float* y;
  int n, block;
};
__global__ void sine(const Arguments a) {
  const int i = blockIdx.x * a.block + threadIdx.x;
  if (i < a.n) a.y[i] = sinf(a.x[i]);
}
}  // namespace port

void sin(port::Arguments a) {
  a.block = 128;
  if (a.n > 0) port::sine<<<(a.n + a.block - 1) / a.block, a.block>>>(a);
}
