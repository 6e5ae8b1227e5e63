// op: sin
// finds: nothing
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>
__global__ void k(const float* x, float* y, long n) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
void sin_triton(torch::Tensor x, torch::Tensor out) {
  TORCH_CHECK(x.sizes() == out.sizes(), "shapes differ");
  TORCH_CHECK(x.dtype() == torch::kFloat32);
  const long n = x.numel();
  if (n == 0) return;
  hipLaunchKernelGGL(k, dim3((n + 3) / 4), dim3(4), 0, at::hip::getCurrentHIPStream().stream(),
                     x.data_ptr<float>(), out.data_ptr<float>(), n);
  AT_ASSERT(hipGetLastError() == hipSuccess);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("sin_triton", &sin_triton, "sin", pybind11::arg("x"), pybind11::arg("out"));
}
