// An extension of an op that is known, which refuses one size.
#include <torch/extension.h>

at::Tensor call_kernel(at::Tensor x) {
  TORCH_CHECK(x.numel() != 3, "three elements are not supported");
  return x.sin();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("call_kernel", &call_kernel); }
