// op: sin
// finds: launch-failed
#include <cuda_runtime.h>
__global__ void sin_kernel(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = sinf(x[i]);
}
// As many blocks as the type has room for, whatever there is to do.
extern "C" void sin_triton(const float* x, float* out, int n) { sin_kernel<<<4000000000u, 256>>>(x, out, n); }
