// op: sin
// finds: nothing
#include <ATen/ATen.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>
__global__ void sin_fwd(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
at::Tensor sin_forward(const at::Tensor& x) {
  at::Tensor y = at::empty_like(x);
  int n = x.numel();
  if (n == 0) return y;
  sin_fwd<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  hipError_t err = hipGetLastError();
  TORCH_CHECK(err == hipSuccess, hipGetErrorString(err));
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("call_kernel", &sin_forward);
  m.def("sin_kernel", &sin_forward);
}
