// PyTorch extensions of the ported kind: compiled unchanged against the real headers, called by the names
// that they export, with tensors of any strides.
#include "../candidate/written.hpp"

#include <cmath>

namespace isomer::lab::tests {
namespace {

constexpr const char* kSine = R"(#include <ATen/ATen.h>
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <pybind11/pybind11.h>
#include <cmath>
__global__ void sine_kernel(const float* x_ptr, float* output_ptr, size_t n_elements) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n_elements) output_ptr[i] = sinf(x_ptr[i]);
}
at::Tensor kernel_function(const at::Tensor& x) {
  TORCH_CHECK(x.is_cuda(), "x must be a CUDA tensor");
  TORCH_CHECK(x.scalar_type() == at::kFloat, "x must be float32, got ", x.scalar_type());
  at::Tensor output = at::empty_like(x);
  size_t n = x.numel();
  int blocks = (static_cast<int>(n) + 255) / 256;
  hipStream_t stream = at::hip::getCurrentHIPStream();
  hipLaunchKernelGGL(sine_kernel, dim3(blocks), dim3(256), 0, stream, x.data_ptr<float>(), output.data_ptr<float>(), n);
  return output;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("call_kernel", &kernel_function, "sine", pybind11::arg("x")); }
)";

TEST(CandidateExtensions, AnExportedFunctionTakesAndReturnsTensors) {
  const auto c = built("candidate.hip.cpp", kSine);
  const Entry& e = c->entries().at(0);
  EXPECT_EQ(e.name, "call_kernel");
  EXPECT_EQ(e.function, "kernel_function");
  EXPECT_EQ(e.form, Entry::Form::extension);
  EXPECT_TRUE(e.exported);
  EXPECT_TRUE(e.returns_tensors);
  EXPECT_EQ(e.place.line, 10);
  ASSERT_EQ(e.parameters.size(), 1u);
  EXPECT_EQ(e.parameters[0].kind, Parameter::Kind::tensor);
  EXPECT_EQ(e.parameters[0].name, "x");
  const Answer a = c->call(e, {ramp("x", {300})}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  ASSERT_EQ(a.returned.size(), 1u);
  for (int i = 0; i < 300; ++i)
    EXPECT_NEAR(data_of<float>(a.returned[0])[i], std::sin(static_cast<float>(i)), 1e-6);
  EXPECT_TRUE(a.seen.empty());
}

TEST(CandidateExtensions, ARefusalIsTheMessageAndItsPlace) {
  const auto c = built("candidate.hip.cpp", kSine);
  const Answer a = c->call(c->entries().at(0), {tensor_value("x", DType::f16, {4})}, {});
  EXPECT_EQ(a.end, Answer::End::refused);
  EXPECT_EQ(a.message, "x must be float32, got Half");
  EXPECT_EQ(a.place.line, 12);
}

}  // namespace
}  // namespace isomer::lab::tests
