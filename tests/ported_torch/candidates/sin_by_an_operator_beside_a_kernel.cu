// op: sin
// finds: library-call
#include <torch/extension.h>

__global__ void nothing(const float* x) {
  if (x == nullptr) __trap();
}

// The kernel has no part in the answer.
torch::Tensor call_kernel(torch::Tensor x) {
  auto y = at::sin(x);
  if (x.numel() > 0) nothing<<<1, 32>>>(x.data_ptr<float>());
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("call_kernel", &call_kernel); }
