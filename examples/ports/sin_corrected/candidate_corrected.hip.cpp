#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#include <cmath>

#define BLOCK_SIZE 256

template <typename Element>
__global__ void sine_kernel(const Element* x, Element* y, int64_t n_elements) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n_elements) y[i] = static_cast<Element>(sinf(static_cast<float>(x[i])));
}

at::Tensor call_kernel(const at::Tensor& x) {
  const at::Tensor source = x.contiguous();
  at::Tensor output = at::empty_like(source);
  const int64_t n_elements = source.numel();
  // A launch of no blocks is an error.
  if (n_elements > 0) {
    const int64_t blocks = (n_elements + BLOCK_SIZE - 1) / BLOCK_SIZE;
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "x", [&] {
      hipLaunchKernelGGL(sine_kernel<scalar_t>, dim3(blocks), dim3(BLOCK_SIZE), 0,
                         at::hip::getCurrentHIPStream(), source.data_ptr<scalar_t>(),
                         output.data_ptr<scalar_t>(), n_elements);
    });
  }
  return output;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("call_kernel", &call_kernel, "The sine of every element"); }
