// Functions of one PyTorch extension, each called by its test as its label is: some take the call, some do
// not.
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

__global__ void blend(const float* x, const float* y, float* out, float weight, float shift, long n) {
  const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = weight * x[i] + (1 - weight) * y[i] + shift;
}

void launch(const at::Tensor& x, const at::Tensor& y, const at::Tensor& out, double weight, double shift) {
  hipLaunchKernelGGL(blend, dim3((x.numel() + 63) / 64), dim3(64), 0, at::hip::getCurrentHIPStream(),
                     x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), (float)weight,
                     (float)shift, (long)x.numel());
}

// Callers leave weight out and pass shift by its name.
at::Tensor mixed(at::Tensor x, at::Tensor y, double weight, double shift) {
  auto out = at::empty_like(x);
  launch(x, y, out, weight, shift);
  return out;
}

at::Tensor mixed_halves(at::Tensor x, at::Tensor y, double weight) { return mixed(x, y, 0.5, 0); }

void mixed_into(at::Tensor out, at::Tensor x, at::Tensor y) { launch(x, y, out, 0.5, 0); }
void mixed_from(at::Tensor x, at::Tensor y, at::Tensor out) { launch(x, y, out, 0.5, 0); }

void repeated(at::Tensor x, at::Tensor times) {}

// Under one name; whether a number or several come says which.
at::Tensor plus(at::Tensor x, int64_t by) {
  auto out = at::empty_like(x);
  launch(x, x, out, 1, static_cast<double>(by));
  return out;
}
at::Tensor plus_all(at::Tensor x, std::vector<int64_t> by) {
  int64_t sum = 0;
  for (const int64_t each : by) sum += each;
  return plus(x, sum);
}

// Its defaults and names are C++'s, and not the binding's.
at::Tensor mixed_unnamed(at::Tensor x, at::Tensor y, double weight = 0.5, double shift = 0) {
  return mixed(x, y, weight, shift);
}

// The original takes a module that holds all but x.
at::Tensor mixed_of_module(at::Tensor y, at::Tensor input, double weight, double shift_by) {
  return mixed(input, y, weight, shift_by);
}
at::Tensor mixed_without_shift(at::Tensor x, at::Tensor other, double weight) {
  return mixed(x, other, weight, 0);
}

at::Tensor mixed_too_wide(at::Tensor x, at::Tensor y, double weight, double shift) {
  auto out = at::empty_like(x);
  blend<<<1, 2048, 0, at::hip::getCurrentHIPStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(),
                                                        out.data_ptr<float>(), weight, shift, x.numel());
  TORCH_CHECK(hipGetLastError() == hipSuccess, "HIP error: invalid configuration argument");
  return out;
}

at::Tensor mixed_rows(at::Tensor x, at::Tensor y) {
  TORCH_CHECK(x.dim() == 2, "x must have 2 dimensions");
  return mixed(x, y, 0.5, 0);
}

// None stands between two results where nobody asks for the second.
std::tuple<at::Tensor, at::Tensor, at::Tensor> mixed_and_none(at::Tensor x, at::Tensor y, double shift) {
  return {mixed(x, y, 0.5, shift), at::Tensor(), mixed(x, y, 0.5, 0)};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("mixed_and_none", &mixed_and_none, py::arg("x"), py::arg("y"), py::arg("shift"));
  m.def("mixed", &mixed, py::arg("x"), py::arg("y"), py::arg("weight") = 0.5, py::arg("shift") = 0.0);
  m.def("mixed_halves", &mixed_halves);
  m.def("mixed_rows", &mixed_rows);
  m.def("mixed_into", &mixed_into);
  m.def("mixed_from", &mixed_from);
  m.def("repeated", &repeated);
  m.def("plus", &plus);
  m.def("plus", &plus_all);
  m.def("mixed_unnamed", &mixed_unnamed);
  m.def("mixed_of_module", &mixed_of_module, py::arg("y"), py::arg("input"), py::arg("weight"),
        py::arg("shift_by"));
  m.def("mixed_without_shift", &mixed_without_shift);
  m.def("mixed_renamed", &mixed, py::arg("x"), py::arg("y"), py::arg("weight") = 0.5,
        py::arg("offset") = 1.0);
  m.def("mixed_too_wide", &mixed_too_wide, py::arg("x"), py::arg("y"), py::arg("weight") = 0.5,
        py::arg("shift") = 0.0);
}
