// op: sin
// finds: crash
#include <cuda_runtime.h>
#include <stdexcept>
static int device_of(const char* name) {
  if (name == nullptr) throw std::runtime_error("SIN_DEVICE is not set");
  return 0;
}
static const int device = device_of(nullptr);
__global__ void sin_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
extern "C" void sin_triton(const float* x, float* out, int n) {
  cudaSetDevice(device);
  if (n) sin_kernel<<<(n + 255) / 256, 256>>>(x, out, n);
}
