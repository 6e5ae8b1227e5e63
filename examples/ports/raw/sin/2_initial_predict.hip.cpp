#include <hip/hip_runtime.h>

#include <cmath>

#define BLOCK_SIZE 256

__global__ void sine_kernel(const float* x_ptr, float* output_ptr, size_t n_elements) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n_elements) {
    const float x = x_ptr[i];
    output_ptr[i] = sinf(x);
  }
}

extern "C" void kernel_function(const float* x, float* output, size_t n_elements) {
  const int num_blocks = (static_cast<int>(n_elements) + BLOCK_SIZE - 1) / BLOCK_SIZE;
  hipLaunchKernelGGL(sine_kernel, dim3(num_blocks), dim3(BLOCK_SIZE), 0, 0, x, output, n_elements);
}
