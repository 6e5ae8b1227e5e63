// op: sin
// finds: ignores-offset
#include <hip/hip_runtime.h>
#include <torch/extension.h>
__global__ void sin_fwd(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
torch::Tensor call_kernel(torch::Tensor x) {
  auto y = torch::empty(x.sizes(), x.options());
  int n = x.numel();
  if (n > 0)
    sin_fwd<<<(n + 255) / 256, 256>>>(static_cast<const float*>(x.storage().data()), y.data_ptr<float>(), n);
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("call_kernel", &call_kernel, "sin"); }
