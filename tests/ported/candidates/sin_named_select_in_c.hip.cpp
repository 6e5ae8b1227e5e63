// op: sin
// finds: does-not-compile
#include <hip/hip_runtime.h>

extern "C" __global__ void select(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
