// Kernels that nobody launches.
#include <cuda_runtime.h>

// Ninety-six elements for each block, whatever their number.
__global__ void sin_by_ninety_six(const float* x, float* out, int64_t n) {
  __shared__ float mine[96];
  const int64_t first = blockIdx.x * static_cast<int64_t>(96);
  mine[threadIdx.x] = sinf(x[first + threadIdx.x]);
  out[first + threadIdx.x] = mine[threadIdx.x];
}
__global__ void sin_one_too_many(const float* x, float* out, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i <= n) out[i] = sinf(x[i]);
}
__global__ void sin_one_element_each(const float* x, float* out, int64_t n) {
  if (threadIdx.x == 0 && blockIdx.x < n) out[blockIdx.x] = sinf(x[blockIdx.x]);
}
