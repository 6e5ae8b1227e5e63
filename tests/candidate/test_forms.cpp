// Every form of a candidate can be called: a bare kernel, a template, a host function over pointers, over
// DLPack, a prebuilt library.
#include "written.hpp"

#include <isomer/error.hpp>

#include <cstdlib>

namespace isomer::lab::tests {
namespace {

constexpr const char* kScale = R"(#include <hip/hip_runtime.h>
__global__ void scale(const float* x, float* y, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * factor;
}
)";

void expect_scaled(const Answer& answer, std::size_t output, float factor) {
  ASSERT_TRUE(answer.ok()) << answer.message;
  EXPECT_TRUE(answer.seen.empty()) << answer.seen[0].text;
  EXPECT_TRUE(answer.refused_launches.empty()) << answer.refused_launches[0].text;
  const auto* y = data_of<float>(answer.arguments[output]);
  for (std::int64_t i = 0; i < answer.arguments[output].tensor.numel(); ++i)
    ASSERT_EQ(y[i], static_cast<float>(i) * factor) << i;
}

TEST(CandidateForms, ABareKernelRunsOneThreadForEachElement) {
  const auto c = built("candidate.hip.cpp", kScale);
  ASSERT_EQ(c->entries().size(), 1u);
  const Entry& e = c->entries()[0];
  EXPECT_EQ(e.form, Entry::Form::kernel);
  EXPECT_EQ(e.place.line, 2);
  ASSERT_EQ(e.parameters.size(), 4u);
  EXPECT_EQ(e.parameters[0].kind, Parameter::Kind::pointer);
  EXPECT_EQ(e.parameters[0].element, DType::f32);
  EXPECT_TRUE(e.parameters[0].is_const);
  EXPECT_EQ(e.parameters[0].name, "x");
  EXPECT_EQ(e.parameters[0].type, "const float*");
  EXPECT_FALSE(e.parameters[1].is_const);
  EXPECT_EQ(e.parameters[2].kind, Parameter::Kind::integer);
  EXPECT_EQ(e.parameters[2].bits, 32);
  EXPECT_EQ(e.parameters[3].kind, Parameter::Kind::real);
  const Answer a = c->call(e,
                           {ramp("x", {300}), tensor_value("y", DType::f32, {300}), integer_value("n", 300),
                            real_value("factor", 0.5)},
                           {});
  expect_scaled(a, 1, 0.5f);
  EXPECT_EQ(a.launches, 1);
  EXPECT_EQ(a.launch, "grid (2,1,1) block (256,1,1): as far as its indices run");
}

TEST(CandidateForms, ALaunchCommentOverTheKernelIsItsGeometry) {
  const auto c = built("candidate.cu", R"(// launch: grid(ceil(n/4), x.size(0)) block(4)
__global__ void mark(const float* x, float* y, int n) {
  const int i = blockIdx.x * 4 + threadIdx.x;
  if (i < n) y[blockIdx.y * n + i] = 1;
}
)");
  const Answer a =
      c->call(c->entries().at(0),
              {ramp("x", {3, 6}), tensor_value("y", DType::f32, {3, 6}), integer_value("n", 6)}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(a.launch, "grid (2,3,1) block (4,1,1): from the launch comment over the kernel");
  for (int i = 0; i < 18; ++i) EXPECT_EQ(data_of<float>(a.arguments[1])[i], 1) << i;
}

TEST(CandidateForms, ALaunchCommentThatNamesNoArgumentIsOneSentence) {
  const auto c = built("candidate.cu", R"(// launch: grid(rows) block(4)
__global__ void mark(float* y) { y[threadIdx.x] = 1; }
)");
  const Answer a = c->call(c->entries().at(0), {tensor_value("y", DType::f32, {4})}, {});
  EXPECT_EQ(a.end, Answer::End::not_callable);
  EXPECT_EQ(a.message, "mark: 'rows' in the launch comment is not an expression over the arguments");
}

TEST(CandidateForms, ACommentSaysTheLaunchOfAFileThatHasNone) {
  const char* const said[] = {
      "// hipLaunchKernelGGL(mark, dim3((n + 3) / 4), dim3(4), 0, stream, y, n);",
      "// launch: mark<<<(N + 3) / 4, 4>>>(y, N)",
      "// Launched as mark<<<grid, block>>>(y, n) with grid = (n + 3) / 4 and block = 4.",
      "/* Launch:\n *   dim3 grid((n + 3) / 4);\n *   mark<<<grid, dim3(kFour), 0, stream>>>(y, n);\n */",
      "// Grid: (n + 3) / 4 blocks, Block: 4 threads",
      "// launch: <<<cdiv(n, 4), 4>>>",
  };
  for (const char* comment : said) {
    SCOPED_TRACE(comment);
    const auto c = built("candidate.hip.cpp", std::string("#include <hip/hip_runtime.h>\n") + comment + R"(
constexpr int kFour = 4;
__global__ void mark(float* y, int n) {
  const int i = blockIdx.x * 4 + threadIdx.x;
  if (i < n) y[i] = 1;
}
)");
    const Answer a =
        c->call(c->entries().at(0), {tensor_value("y", DType::f32, {18}), integer_value("n", 18)}, {});
    ASSERT_TRUE(a.ok()) << a.message;
    EXPECT_EQ(a.launch, "grid (5,1,1) block (4,1,1): from the source's launch line");
  }
}

TEST(CandidateForms, ALaunchLineOfAnyLengthIsRead) {
  const std::string room(5000, ' ');
  for (const std::string& launch :
       {"mark<<<dim3((n + 3) / 4" + room + "), 4>>>(y," + room + "n);",
        "hipLaunchKernelGGL(mark, dim3((n + 3) / 4" + room + "), dim3(4), 0, 0, y, n);"}) {
    const auto c = built("candidate.hip.cpp", R"(#include <hip/hip_runtime.h>
__global__ void mark(float* y, int n) {
  const int i = blockIdx.x * 4 + threadIdx.x;
  if (i < n) y[i] = 1;
}
void launch(float* y, int n) { )" + launch + " }\n");
    const auto kernel = std::find_if(c->entries().begin(), c->entries().end(),
                                     [](const Entry& entry) { return entry.form == Entry::Form::kernel; });
    ASSERT_NE(kernel, c->entries().end());
    const Answer a = c->call(*kernel, {tensor_value("y", DType::f32, {18}), integer_value("n", 18)}, {});
    ASSERT_TRUE(a.ok()) << a.message;
    EXPECT_EQ(a.launch, "grid (5,1,1) block (4,1,1): from the source's launch line");
  }
}

TEST(CandidateForms, ACommentOfAnotherKernelsLaunchIsNoLaunchOfThisOne) {
  const auto c = built("candidate.cu", R"(// launch: marks<<<7, 4>>>(y, n); threads: one an element
__global__ void mark(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 1;
}
)");
  const Answer a =
      c->call(c->entries().at(0), {tensor_value("y", DType::f32, {18}), integer_value("n", 18)}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_TRUE(a.launch_guessed) << a.launch;
}

TEST(CandidateForms, TheGeometryOfTheSettingsWins) {
  const auto c = built("candidate.hip.cpp", kScale);
  CallSettings settings;
  settings.grid[0] = 3;
  settings.block[0] = 100;
  const Answer a = c->call(c->entries()[0],
                           {ramp("x", {300}), tensor_value("y", DType::f32, {300}), integer_value("n", 300),
                            real_value("factor", 2)},
                           settings);
  expect_scaled(a, 1, 2);
  EXPECT_EQ(a.launch, "grid (3,1,1) block (100,1,1): as asked for");
}

TEST(CandidateForms, AKernelOfOneBlockForEachRowIsLaunchedSo) {
  const auto c = built("candidate.cu", R"(
__global__ void sums(const float* x, float* y, int width) {
  __shared__ float total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += blockDim.x) atomicAdd(&total, x[blockIdx.x * width + i]);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = total;
}
)");
  const Answer a =
      c->call(c->entries().at(0),
              {ramp("x", {5, 7}), tensor_value("y", DType::f32, {5}), integer_value("width", 7)}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(a.launch, "grid (5,1,1) block (256,1,1): one block for each row of the largest tensor");
  for (int r = 0; r < 5; ++r) EXPECT_EQ(data_of<float>(a.arguments[1])[r], 7 * (7 * r + 3)) << r;
}

TEST(CandidateForms, TheLaunchLineOfAProgramIsEvaluatedForTheCall) {
  const auto c = built("candidate.hip.cpp", R"(#include <hip/hip_runtime.h>
#include <vector>
#define THREADS 64
__global__ void fill(float* y, int rows, int width) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = blockIdx.y;
  __syncthreads();
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < width) y[blockIdx.y * width + i] = tile[threadIdx.x];
}
void reference(float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 0; }
int main() {
  int rows = 1000, width = 7;  // fill<<<1, 1>>>(y, rows, width);
  float* d_y = nullptr;
  dim3 block(THREADS), grid((width + THREADS - 1) / THREADS, rows);
  const size_t bytes = THREADS * sizeof(float);
  fill<<<grid, dim3(THREADS), 4 * block.x * 0 + 256>>>(d_y, rows, width);
  hipLaunchKernelGGL(fill, grid, THREADS, 64 * sizeof(float), 0, d_y, rows, width);
  std::vector<float> y(1);
  reference(y.data(), 1);
}
)");
  ASSERT_EQ(c->entries().size(), 2u);
  EXPECT_EQ(c->entries()[0].name, "fill")
      << "a host function that launches nothing stands behind the kernels";
  const Answer a = c->call(
      c->entries()[0],
      {tensor_value("y", DType::f32, {3, 100}), integer_value("rows", 3), integer_value("width", 100)}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(a.launch, "grid (2,3,1) block (64,1,1): from the source's launch line");
  for (int i = 0; i < 300; ++i)
    EXPECT_EQ(data_of<float>(a.arguments[0])[i], static_cast<float>(i / 100)) << i;
}

TEST(CandidateForms, ATemplateIsInstantiatedForTheElementTypesOfTheCall) {
  const auto c = built("candidate.hip.cpp", R"(#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
template <typename T, typename U = float>
__global__ void twice(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = T(U(x[i]) + U(x[i]));
}
)");
  const Entry& e = c->entries().at(0);
  EXPECT_EQ(e.name, "twice");
  EXPECT_EQ(e.parameters[0].kind, Parameter::Kind::pointer);
  const Answer whole =
      c->call(e, {ramp("x", {9}), tensor_value("y", DType::f32, {9}), integer_value("n", 9)}, {});
  expect_scaled(whole, 1, 2);
  Value half = tensor_value("x", DType::f16, {2});
  static_cast<std::uint16_t*>(half.tensor.data)[0] = 0x3c00;  // 1
  static_cast<std::uint16_t*>(half.tensor.data)[1] = 0xc100;  // -2.5
  const Answer halves = c->call(e, {half, tensor_value("y", DType::f16, {2}), integer_value("n", 2)}, {});
  ASSERT_TRUE(halves.ok()) << halves.message;
  EXPECT_EQ(data_of<std::uint16_t>(halves.arguments[1])[0], 0x4000);
  EXPECT_EQ(data_of<std::uint16_t>(halves.arguments[1])[1], 0xc500);
}

constexpr const char* kHost = R"(#include <hip/hip_runtime.h>
namespace port {
static __global__ void scale(const float* x, float* y, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * factor;
}
static int blocks(int n) { return (n + 63) / 64; }
void run(const float* x, float* y, long long n, float factor = 0.25f, hipStream_t stream = nullptr) {
  scale<<<blocks(n), 64, 0, stream>>>(x, y, n, factor);
}
}
)";

TEST(CandidateForms, AHostFunctionComesBeforeTheKernelThatItLaunches) {
  const auto c = built("candidate.hip.cpp", kHost);
  ASSERT_EQ(c->entries().size(), 2u);
  const Entry& e = c->entries()[0];
  EXPECT_EQ(e.name, "port::run");
  EXPECT_EQ(e.form, Entry::Form::function);
  EXPECT_EQ(e.place.line, 8);
  ASSERT_EQ(e.parameters.size(), 5u);
  EXPECT_EQ(e.parameters[2].bits, 64);
  EXPECT_TRUE(e.parameters[3].has_default);
  EXPECT_EQ(e.parameters[4].kind, Parameter::Kind::stream);
  EXPECT_EQ(c->entries()[1].name, "port::scale");
  expect_scaled(c->call(e,
                        {ramp("x", {100}), tensor_value("y", DType::f32, {100}), integer_value("n", 100),
                         real_value("factor", 3), Value()},
                        {}),
                1, 3);
  expect_scaled(
      c->call(e, {ramp("x", {100}), tensor_value("y", DType::f32, {100}), integer_value("n", 100)}, {}), 1,
      0.25f);
}

TEST(CandidateForms, WarpsOf64LanesAreABuildOfTheirOwn) {
  const auto c = built("candidate.hip.cpp", R"(#include <hip/hip_runtime.h>
__global__ void lanes(int* out) { out[0] = warpSize; }
)");
  CallSettings settings;
  for (const int lanes : {32, 64, 32}) {
    settings.lanes = lanes;
    const Answer a = c->call(c->entries().at(0), {tensor_value("out", DType::i32, {1})}, settings);
    ASSERT_TRUE(a.ok()) << a.message;
    EXPECT_EQ(data_of<int>(a.arguments[0])[0], lanes);
  }
}

TEST(CandidateForms, ADlpackFunctionIsGivenShapeStridesAndType) {
  const auto c = built("candidate.cu", R"(#include <cstdint>
typedef struct { int32_t device_type; int32_t device_id; } DLDevice;
typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
typedef struct { void* data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t* shape; int64_t* strides; uint64_t byte_offset; } DLTensor;
extern "C" int describe(DLTensor* x, DLTensor* out) {
  auto* o = (long long*)out->data;
  o[0] = x->device.device_type, o[1] = x->ndim, o[2] = x->dtype.code * 1000 + x->dtype.bits;
  for (int i = 0; i < x->ndim; ++i) o[3 + 2 * i] = x->shape[i], o[4 + 2 * i] = x->strides[i];
  return 7;
}
)");
  const Entry& e = c->entries().at(0);
  EXPECT_EQ(e.parameters.at(0).kind, Parameter::Kind::tensor);
  Value x = tensor_value("x", DType::bf16, {4, 5});
  x.tensor = x.tensor.transpose(0, 1);
  const Answer a = c->call(e, {x, tensor_value("out", DType::i64, {7})}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  const std::vector<std::int64_t> want = {2, 2, 4016, 5, 1, 4, 5};
  for (std::size_t i = 0; i < want.size(); ++i)
    EXPECT_EQ(data_of<std::int64_t>(a.arguments[1])[i], want[i]) << i;
  ASSERT_EQ(a.returned.size(), 1u);
  EXPECT_EQ(a.returned[0].integer, 7);
}

TEST(CandidateForms, APrebuiltLibraryIsCalledByItsDeclaration) {
  const auto folder = fresh_folder();
  const auto source = write_file(folder / "scale.c",
                                 "void scale(const float* x, float* y, long n, double f) { for (long i = 0; "
                                 "i < n; ++i) y[i] = x[i] * f; }\n");
  const auto library = folder / "candidate.so";
  ASSERT_EQ(std::system(("cc -shared -fPIC -O1 -o " + library.string() + " " + source.string()).c_str()), 0);
  BuildFailure failure;
  const auto c = build_candidate(
      library, {.signature = "void scale(const float* x, float* y, int64_t n, double f);"}, failure);
  ASSERT_NE(c, nullptr) << failure.message;
  const Entry& e = c->entries().at(0);
  EXPECT_EQ(e.name, "scale");
  EXPECT_EQ(e.parameters.at(1).name, "y");
  expect_scaled(c->call(e,
                        {ramp("x", {10}), tensor_value("y", DType::f32, {10}), integer_value("n", 10),
                         real_value("f", 4)},
                        {}),
                1, 4);

  try {
    build_candidate(library, {.signature = "void shift(const float* x, float* y)"}, failure);
    ADD_FAILURE() << "called what the library does not export";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("names shift, which the library does not export; it exports scale"),
              std::string::npos)
        << e.what();
  }
  for (const char* signature : {"", "scale", "void scale(", "int"}) {
    try {
      build_candidate(library, {.signature = signature}, failure);
      ADD_FAILURE() << "accepted: " << signature;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_argument) << e.what();
    }
  }
}

TEST(CandidateForms, ALibraryThatCannotRunHereSaysWhy) {
  const auto folder = fresh_folder();
  const auto source =
      write_file(folder / "scale.c", "void scale(const float* x, float* y) { y[0] = x[0]; }\n");
  const auto library = folder / "candidate.so";
  ASSERT_EQ(std::system(("cc -shared -fPIC -o " + library.string() + " " + source.string()).c_str()), 0);
  std::ifstream in(library, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const auto changed = [&](std::size_t at, char byte) {
    std::string bytes = whole;
    bytes[at] = byte;
    return bytes;
  };
  const std::vector<std::pair<std::string, std::string>> broken = {
      {changed(18, static_cast<char>(243)), "a library for ELF machine 243, this machine is"},
      {changed(4, 1), "expected a 64-bit little-endian ELF file, got class 1"},
      {whole.substr(0, whole.size() / 3), "the library is cut off"}};
  for (const auto& [bytes, sentence] : broken) {
    BuildFailure failure;
    try {
      build_candidate(write_file(fresh_folder() / "candidate.so", bytes),
                      {.signature = "void scale(const float* x, float* y)"}, failure);
      ADD_FAILURE() << "accepted: " << sentence;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::bad_argument);
      EXPECT_NE(std::string(e.what()).find(sentence), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace isomer::lab::tests
