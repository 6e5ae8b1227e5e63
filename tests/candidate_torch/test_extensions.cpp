// PyTorch extensions of the ported kind: compiled unchanged against the real headers, called by the names
// that they export, with tensors of any strides.
#include "../candidate/written.hpp"

#include <isomer/error.hpp>

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
  EXPECT_EQ(e.returned_tensors, 1);
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

TEST(CandidateExtensions, AResultMayBeNone) {
  const auto c = built("candidate.cu", R"(#include <torch/extension.h>
#include <tuple>
std::tuple<at::Tensor, c10::optional<at::Tensor>> halves(const at::Tensor& x, bool both) {
  c10::optional<at::Tensor> other;
  if (both) other = x + 1;
  return std::make_tuple(x * 2, other);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("halves", &halves); }
)");
  for (const bool both : {true, false}) {
    const Answer a = c->call(c->entries().at(0), {ramp("x", {5}), boolean_value("both", both)}, {});
    ASSERT_TRUE(a.ok()) << a.message;
    ASSERT_EQ(a.returned.size(), 2u);
    EXPECT_EQ(a.returned[1].is_tensor(), both);
    if (both) EXPECT_EQ(data_of<float>(a.returned[1])[3], 4);
  }
}

TEST(CandidateExtensions, ARefusalIsTheMessageAndItsPlace) {
  const auto c = built("candidate.hip.cpp", kSine);
  const Answer a = c->call(c->entries().at(0), {tensor_value("x", DType::f16, {4})}, {});
  EXPECT_EQ(a.end, Answer::End::refused);
  EXPECT_EQ(a.message, "x must be float32, got Half");
  EXPECT_EQ(a.place.line, 12);
}

// One extension with every kind of parameter and result.
constexpr const char* kKinds = R"(#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>
#include <ATen/cuda/CUDAContext.h>
__global__ void add_one(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1;
}
torch::Tensor plus_one(torch::Tensor x) {
  auto y = torch::empty(x.sizes(), x.options());
  auto c = x.contiguous();
  add_one<<<(x.numel() + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(c.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
std::tuple<at::Tensor, at::Tensor> describe(const at::Tensor& x, c10::optional<at::Tensor> bias, int64_t n, double scale, bool flag,
                                            std::string mode, at::ScalarType dtype, at::IntArrayRef sizes,
                                            const std::vector<at::Tensor>& list) {
  TORCH_CHECK(mode == "fast" || mode == "exact", "unknown mode ", mode);
  auto facts = torch::zeros({12}, torch::dtype(torch::kFloat64));
  auto f = facts.accessor<double, 1>();
  f[0] = x.dim(), f[1] = x.storage_offset(), f[2] = x.stride(0), f[3] = bias.has_value(), f[4] = n, f[5] = scale, f[6] = flag;
  f[7] = mode.size(), f[8] = dtype == at::kHalf, f[9] = sizes.size() * 100 + sizes[1], f[10] = list.size(), f[11] = x.is_contiguous();
  return {facts, list[1].clone()};
}
std::vector<at::Tensor> both(at::Tensor a) { return {a, a.t()}; }
void fill_(at::Tensor& out, float value) { out.fill_(value); }
int64_t rank(const at::Tensor& x) { return x.dim(); }
void fifth(at::Tensor x) { x.size(4); }
void unwritten(at::Tensor y) { auto t = at::empty({64}, y.options()); add_one<<<1, 64>>>(t.data_ptr<float>(), y.data_ptr<float>(), 64); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "kinds";
  m.def("plus_one", &plus_one, "adds one");
  m.def("describe", &describe, py::arg("x"), py::arg("bias") = py::none(), py::arg("n") = 3, py::arg("scale") = 0.125, py::arg("flag") = true,
        py::arg("mode") = "fast", py::arg("dtype"), py::arg("sizes"), py::arg("list"));
  m.def("both", &both);
  m.def("fill_", &fill_, "out"_a, "value"_a = 2.5f);
  m.def("rank", [](const at::Tensor& x) { return rank(x); });
  m.def("fifth", &fifth);
  m.def("unwritten", &unwritten);
}
)";

class CandidateKinds : public testing::Test {
 protected:
  static const Candidate& kinds() {
    static const auto c =
        built("candidate.cu", std::string("namespace py = pybind11; using namespace pybind11::literals;\n")
                                      .insert(0, "#include <torch/extension.h>\n") +
                                  kKinds);
    return *c;
  }
  static Answer call(const std::string& name, const std::vector<Value>& arguments,
                     const CallSettings& settings = {}) {
    return kinds().call(entry_named(kinds(), name), arguments, settings);
  }
};

TEST_F(CandidateKinds, TheExportsAreTheEntriesInTheirOrderAndKernelsFollow) {
  std::vector<std::string> names;
  for (const Entry& e : kinds().entries()) names.push_back(e.name);
  EXPECT_EQ(names, (std::vector<std::string>{"plus_one", "describe", "both", "fill_", "rank", "fifth",
                                             "unwritten", "add_one"}));
}

TEST_F(CandidateKinds, EveryParameterKindArrivesAndEveryResultComesBack) {
  const Entry& e = entry_named(kinds(), "describe");
  using Kind = Parameter::Kind;
  const std::vector<Kind> want = {
      Kind::tensor, Kind::optional_tensor, Kind::integer, Kind::real, Kind::boolean,
      Kind::text,   Kind::dtype,           Kind::list,    Kind::list};
  ASSERT_EQ(e.parameters.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_EQ(e.parameters[i].kind, want[i]) << e.parameters[i].type;
  EXPECT_TRUE(e.parameters[3].has_default);
  EXPECT_FALSE(e.parameters[6].has_default);

  Value x = ramp("x", {5, 4});
  x.tensor = x.tensor.transpose(0, 1).slice(0, 1, 3);
  x.storage_offset = 4;
  Value text, dtype, sizes, list;
  text.kind = Value::Kind::text, text.text = "exact";
  dtype.kind = Value::Kind::dtype, dtype.text = "f16";
  sizes.kind = Value::Kind::list, sizes.items = {integer_value("", 4), integer_value("", 77)};
  list.kind = Value::Kind::list, list.items = {ramp("", {2}), ramp("", {3})};
  Answer a = call("describe", {x, Value(), integer_value("n", -8), real_value("scale", 1.5),
                               boolean_value("flag", false), text, dtype, sizes, list});
  ASSERT_TRUE(a.ok()) << a.message;
  ASSERT_EQ(a.returned.size(), 2u);
  const double facts[] = {2, 1, 1, 0, -8, 1.5, 0, 5, 1, 277, 2, 0};
  for (int i = 0; i < 12; ++i) EXPECT_EQ(data_of<double>(a.returned[0])[i], facts[i]) << i;
  EXPECT_EQ(data_of<float>(a.returned[1])[2], 2);

  text.text = "wrong";
  a = call("describe", {x, x, integer_value("n", -8), real_value("scale", 1.5), boolean_value("flag", false),
                        text, dtype, sizes, list});
  EXPECT_EQ(a.end, Answer::End::refused);
  EXPECT_EQ(a.message, "unknown mode wrong");

  a = call("rank", {x});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(a.returned.at(0).integer, 2);
}

TEST_F(CandidateKinds, StridedResultsAndArgumentsWrittenInPlaceComeBack) {
  Answer a = call("both", {ramp("a", {2, 3})});
  ASSERT_TRUE(a.ok()) << a.message;
  ASSERT_EQ(a.returned.size(), 2u);
  EXPECT_EQ(a.returned[1].tensor.size(0), 3);
  EXPECT_EQ(a.returned[1].tensor.stride(1), 3);
  EXPECT_EQ(*a.returned[1].tensor.at<float>(2, 1), 5);
  a = call("fill_", {ramp("out", {4})});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(data_of<float>(a.arguments[0])[3], 2.5f);
  a = call("plus_one", {ramp("x", {4})});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(data_of<float>(a.returned[0])[3], 4);
}

TEST_F(CandidateKinds, AnInventedDimensionIsARefusalAtItsLine) {
  const Answer a = call("fifth", {ramp("x", {2, 3, 4, 5})});
  EXPECT_EQ(a.end, Answer::End::refused);
  EXPECT_NE(a.message.find("Dimension out of range"), std::string::npos) << a.message;
  EXPECT_EQ(a.place.line, 30);
}

TEST_F(CandidateKinds, AnEmptyTensorLaunchesNoBlocksWhichIsRefused) {
  const Answer a = call("plus_one", {ramp("x", {0})});
  EXPECT_EQ(a.end, Answer::End::refused);
  EXPECT_EQ(a.message, "CUDA error: invalid configuration argument");
  ASSERT_EQ(a.refused_launches.size(), 1u);
  EXPECT_EQ(a.refused_launches[0].text, "add_one: launched with grid (0,1,1), expected at least one block");
}

TEST_F(CandidateKinds, AnUnwrittenTensorIsSeen) {
  const Answer a = call("unwritten", {ramp("y", {64})});
  ASSERT_FALSE(a.seen.empty());
  EXPECT_EQ(a.seen[0].kind, "uninitialised-read");
}

TEST_F(CandidateKinds, KindsThatDoNotFitAreNotCallable) {
  EXPECT_EQ(call("plus_one", {integer_value("x", 1)}).message,
            "plus_one: argument 1: expected a tensor, got an integer");
  EXPECT_EQ(call("plus_one", {}).message, "plus_one takes 1 argument, got 0: x is missing");
  const Answer a = call("plus_one", {tensor_value("x", DType::e4m3fn, {2})});
  EXPECT_EQ(a.end, Answer::End::not_callable);
}

TEST(CandidateExtensions, FunctionsOverTensorsNeedNoBinding) {
  const auto c = built("candidate.hip.cpp", R"(#include <ATen/ATen.h>
#include <hip/hip_runtime.h>
namespace port { at::Tensor twice(const at::Tensor& x, double by = 2.0) { return x * by; } }
)");
  ASSERT_EQ(c->entries().size(), 1u);
  const Entry& e = c->entries()[0];
  EXPECT_EQ(e.name, "port::twice");
  EXPECT_EQ(e.form, Entry::Form::extension);
  EXPECT_FALSE(e.exported);
  EXPECT_EQ(e.parameters[1].name, "by");
  const Answer a = c->call(e, {ramp("x", {3})}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(data_of<float>(a.returned[0])[2], 4);
}

TEST(CandidateExtensions, WhatOnlyANewerPyTorchHasIsNoFaultOfTheCandidate) {
  const char* chosen = std::getenv("ISOMER_TORCH");
  const bool newer = std::filesystem::exists(std::filesystem::path(chosen ? chosen : "/usr") /
                                             "include/c10/util/Float8_e4m3fn.h");
  BuildFailure failure;
  for (const char* text :
       {"#include <torch/extension.h>\n#include <c10/util/Float8_e4m3fn.h>\n",
        "#include <ATen/ATen.h>\nauto f(at::Tensor x) { return x.to(at::kFloat8_e4m3fn); }\n"}) {
    try {
      const auto c = build_candidate(write_file(fresh_folder() / "candidate.cu", text), {}, failure);
      EXPECT_TRUE(newer && c != nullptr) << text << failure.message;
    } catch (const Error& error) {
      EXPECT_FALSE(newer);
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_NE(std::string(error.what()).find("candidate.cu:2: it needs a PyTorch of 2.1 or later"),
                std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find("ISOMER_TORCH"), std::string::npos);
    }
  }
  // Where the version is asked for, it compiles.
  built("candidate.cu", R"(#include <torch/torch.h>
#include <torch/version.h>
#if TORCH_VERSION_MAJOR >= 2
#include <c10/util/Float8_e4m3fn.h>
#endif
at::Tensor twice(const at::Tensor& x) { return x * 2; }
)");
}

TEST(CandidateExtensions, ATorchLibraryExportsByItsSchemas) {
  const auto c = built("candidate.cu", R"(#include <torch/library.h>
#include <ATen/ATen.h>
at::Tensor twice(const at::Tensor& x) { return x * 2; }
at::Tensor thrice(const at::Tensor& x) { return x * 3; }
TORCH_LIBRARY(port, m) {
  m.def("twice(Tensor x) -> Tensor", &twice);
  m.def("thrice(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(port, CUDA, m) { m.impl("thrice", TORCH_FN(thrice)); }
)");
  ASSERT_EQ(c->entries().size(), 2u);
  EXPECT_EQ(c->entries()[0].name, "twice");
  EXPECT_EQ(c->entries()[1].name, "thrice");
  EXPECT_EQ(c->entries()[1].place.line, 4);
  const Answer a = c->call(c->entries()[1], {ramp("x", {3})}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(data_of<float>(a.returned[0])[2], 6);
}

TEST(CandidateExtensions, ASchemaGivesNamesAndDefaultsAlsoWhereAnotherBlockImplementsIt) {
  const auto c = built("candidate.cu", R"(#include <torch/library.h>
#include <ATen/ATen.h>
at::Tensor scaled(const at::Tensor& x, const c10::optional<at::Tensor>& weight, double eps, at::IntArrayRef) {
  return (weight.has_value() ? x * *weight : x) + eps;
}
TORCH_LIBRARY(port, m) {
  m.def("scaled(Tensor x, Tensor? weight=None, *, float eps=0.5, int[2] pads=[1, 2]) -> Tensor");
}
TORCH_LIBRARY_IMPL(port, CUDA, m) { m.impl("scaled", &scaled); }
)");
  const Entry& e = entry_named(*c, "scaled");
  ASSERT_EQ(e.parameters.size(), 4u);
  EXPECT_EQ(e.parameters[1].name, "weight");
  EXPECT_FALSE(e.parameters[0].has_default);
  for (const std::size_t i : {1u, 2u, 3u}) EXPECT_TRUE(e.parameters[i].has_default) << i;
  EXPECT_EQ(e.parameters[3].name, "pads");
}

constexpr const char* kObjects = R"(#include <torch/extension.h>
at::Tensor shifted(at::Tensor x, py::object weight, py::object shift) {
  at::Tensor y = weight.is_none() ? x.clone() : x * weight.cast<at::Tensor>();
  if (py::isinstance<py::list>(shift)) return y + py::cast<std::vector<double>>(shift)[0];
  return shift.is_none() ? y : y + shift.cast<double>();
}
py::tuple both(at::Tensor x, py::float_ by) { return py::make_tuple(x * (double)by, x + 1); }
at::Tensor plain(at::Tensor x, double by = 2) { return x * by; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("shifted", &shifted, py::arg("x"), py::arg("weight") = py::none(), py::arg("shift") = py::none());
  m.def("both", &both);
  m.def("plain", &plain);
}
)";

TEST(CandidateExtensions, PythonObjectsAreWhatIsPassedForThem) {
  const auto c = built("candidate.cu", kObjects);
  const Entry& e = entry_named(*c, "shifted");
  EXPECT_EQ(e.parameters[1].kind, Parameter::Kind::any);
  EXPECT_TRUE(e.parameters[2].has_default);
  Answer a = c->call(e, {ramp("x", {3})}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(data_of<float>(a.returned[0])[2], 2);
  a = c->call(e, {ramp("x", {3}), ramp("weight", {3}), real_value("shift", 0.5)}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(data_of<float>(a.returned[0])[2], 4.5f);
  a = c->call(e, {ramp("x", {3}), real_value("weight", 3), Value()}, {});
  EXPECT_EQ(a.end, Answer::End::refused);
  EXPECT_EQ(a.message, "Unable to cast Python instance: expected a tensor, got a real number");
  a = c->call(entry_named(*c, "both"), {ramp("x", {3}), real_value("by", 3)}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  ASSERT_EQ(a.returned.size(), 2u);
  EXPECT_EQ(data_of<float>(a.returned[0])[2], 6);
}

TEST(CandidateExtensions, ADefaultOfCppIsNoneOfTheExportedFunctions) {
  const auto c = built("candidate.cu", kObjects);
  EXPECT_FALSE(entry_named(*c, "plain").parameters[1].has_default);
}

}  // namespace
}  // namespace isomer::lab::tests
