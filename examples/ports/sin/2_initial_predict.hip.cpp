#include <ATen/ATen.h>
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#include <cmath>

#define BLOCK_SIZE 256

__global__ void sine_kernel(const float* x_ptr, float* output_ptr, size_t n_elements) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n_elements) {
    const float x = x_ptr[i];
    output_ptr[i] = sinf(x);
  }
}

at::Tensor kernel_function(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "x must be on the GPU");
  TORCH_CHECK(x.scalar_type() == at::kFloat, "x must be float32");
  const size_t n_elements = x.numel();
  at::Tensor output = at::empty_like(x);
  const int num_blocks = (static_cast<int>(n_elements) + BLOCK_SIZE - 1) / BLOCK_SIZE;
  hipStream_t stream = at::hip::getCurrentHIPStream();
  hipLaunchKernelGGL(sine_kernel, dim3(num_blocks), dim3(BLOCK_SIZE), 0, stream, x.data_ptr<float>(),
                     output.data_ptr<float>(), n_elements);
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("kernel_function", &kernel_function, "The sine of every element");
}
