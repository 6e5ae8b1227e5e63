// op: sin
// finds: nothing
#include <cuda_runtime.h>
static int first_device() { return 0; }
__global__ void sin_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
extern "C" void sin_triton(const float* x, float* out, int n) {
  static const int device = first_device();
  cudaSetDevice(device);
  if (n) sin_kernel<<<(n + 255) / 256, 256>>>(x, out, n);
}
