#include <cuda_runtime.h>

__global__ void sine(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) y[i] = no_such_function(x[i]);
}
extern "C" void call_kernel(const float* x, float* y, int n) { sine<<<1, 64>>>(x, y, n); }
