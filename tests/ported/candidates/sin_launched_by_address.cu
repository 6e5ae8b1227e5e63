// op: sin
// finds: nothing
#include <cuda_runtime.h>

namespace port {
template <int kEach>
__global__ void sine(const float* x, float* y, long n) {
  const long begin = (blockIdx.x * (long)blockDim.x + threadIdx.x) * kEach;
  for (int j = 0; j < kEach; ++j)
    if (begin + j < n) y[begin + j] = sinf(x[begin + j]);
}
using Kernel = void (*)(const float*, float*, long);
const Kernel kKernels[] = {sine<1>, sine<2>};
}  // namespace port
__global__ void plain(const float* x, float* y, long n) {
  extern __shared__ float held[];
  const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  held[threadIdx.x] = sinf(x[i]);
  y[i] = held[threadIdx.x];
}

// By a table, by a name, by what a variable holds.
void sin(const float* x, float* y, long n, cudaStream_t stream) {
  if (n == 0) return;
  void* arguments[] = {&x, &y, &n};
  const dim3 blocks(static_cast<unsigned>((n + 127) / 128)), threads(128);
  cudaLaunchKernel((const void*)port::kKernels[n % 2], blocks, threads, arguments, 0, stream);
  cudaLaunchKernel(reinterpret_cast<const void*>(&port::sine<4>), blocks, threads, arguments, 0, stream);
  const void* last = (void*)plain;
  cudaFuncSetAttribute(last, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);
  cudaLaunchKernel(last, blocks, threads, arguments, 60000, stream);
}
