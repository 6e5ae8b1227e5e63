// op: sin
// finds: nothing
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#include <map>
#include <vector>
__global__ void wave(const float* x, float* y, int64_t n) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
// Memory of each shape, made once, out of which the answer is copied.
torch::Tensor call_kernel(torch::Tensor x) {
  static std::map<std::vector<int64_t>, torch::Tensor> answers;
  torch::Tensor& y = answers[x.sizes().vec()];
  if (!y.defined()) y = torch::empty(x.sizes(), x.options());
  const auto xc = x.contiguous();
  const int64_t n = xc.numel();
  if (n > 0)
    wave<<<dim3((n + 127) / 128), dim3(128), 0, at::hip::getCurrentHIPStream()>>>(xc.data_ptr<float>(), y.data_ptr<float>(), n);
  return y.clone();
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("call_kernel", &call_kernel); }
