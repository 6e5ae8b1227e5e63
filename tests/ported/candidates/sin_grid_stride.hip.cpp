// op: sin
// finds: nothing
#include <hip/hip_runtime.h>
#include <algorithm>
#include <cmath>
template <typename T>
__global__ void sin_grid_stride(const T* __restrict__ in, T* __restrict__ out, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    out[i] = static_cast<T>(sinf(static_cast<float>(in[i])));
}
extern "C" hipError_t launch_sin(const float* input, float* output, size_t n, hipStream_t stream) {
  if (n == 0) return hipSuccess;
  const unsigned blocks = std::min<size_t>((n + 255) / 256, 65535);
  sin_grid_stride<float><<<blocks, 256, 0, stream>>>(input, output, n);
  return hipGetLastError();
}
