// Edits of a source that put back what was left out: an element of other memory, a thread's number, a factor
// of a product, an arm of a choice; and that a line with restricted pointers, casts and launches can be
// exchanged.
#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "first_tier.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/evidence/edits/exchangeable.hpp"
#include "lab/judge/diagnose.hpp"
#include "recorded_call.hpp"

#include <fstream>
#include <random>
#include <set>
#include <string>

namespace isomer::lab {
namespace {

/// Rows, each with a part of what stands before it, and their sums.
Recording mixed_rows() {
  Recording recording;
  std::mt19937 engine(29);
  std::normal_distribution<float> normal;
  for (const std::int64_t rows : {3, 5}) {
    const std::int64_t cols = 12 * rows + 4;
    Value x = tensor_value("x", DType::f32, {rows, cols}), w = tensor_value("w", DType::f32, {cols});
    for (std::int64_t i = 0; i < rows * cols; ++i) f32(x)[i] = normal(engine);
    for (std::int64_t i = 0; i < cols; ++i) f32(w)[i] = normal(engine);
    record(recording, "mixed_rows",
           {x, w, tensor_value("y", DType::f32, {rows, cols}), tensor_value("s", DType::f32, {rows})},
           [rows, cols](std::vector<Value>& v) {
             for (std::int64_t r = 0; r < rows; ++r) {
               double sum = 0;
               for (std::int64_t c = 0; c < cols; ++c) {
                 const std::int64_t at = r * cols + c;
                 const double before = c > 0 ? double(f32(v[0])[at - 1]) : 2.0;
                 f32(v[2])[at] = static_cast<float>(double(f32(v[0])[at]) * double(f32(v[1])[c]) + before);
                 sum += double(f32(v[0])[at]);
               }
               f32(v[3])[r] = static_cast<float>(sum);
             }
           });
  }
  return recording;
}

constexpr const char* kMixedRows = R"(#include <cuda_runtime.h>

__global__ void mix(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
                    float* __restrict__ s, int rows, int cols) {
  __shared__ float part[32];
  const int row = blockIdx.x, lane = threadIdx.x;
  const float* from = x + static_cast<size_t>(row) * cols;
  float* to = y + static_cast<size_t>(row) * cols;
  float sum = 0.f;
  for (int c = lane; c < cols; c += 32) {
    const float own = from[c] * w[c];
    const float before = c > 0 ? from[c - 1] : 2.f;
    to[c] = own + before;
    sum += from[c];
  }
  part[lane] = sum;
  __syncthreads();
  for (int k = 16; k > 0; k >>= 1) {
    if (lane < k) part[lane] += part[lane + k];
    __syncthreads();
  }
  if (lane == 0) s[row] = part[0];
}

extern "C" void mixed_rows(const float* x, const float* w, float* y, float* s, int rows, int cols) {
  cudaMemsetAsync(s, 0, sizeof(float) * rows, 0);
  mix<<<rows, 32, 0, 0>>>(x, w, y, s, rows, cols);
}
)";

struct Fault {
  const char* name;
  const char *right, *wrong;
  int line;
  Code code;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

Diagnosis said_of(const std::string& source) {
  const core::TemporaryFolder place("test", "left-out");
  std::ofstream(place.path() / "candidate.cu") << source;
  save_recording((place.path() / "recording.safetensors").string(), mixed_rows());
  CaseFolder folder;
  folder.folder = place.path();
  folder.candidates = {place.path() / "candidate.cu"};
  folder.recording = place.path() / "recording.safetensors";
  return diagnose_folder(folder).at(0);
}

std::string text_of(const Diagnosis& said) {
  std::string text = said.verdict() + " " + said.error;
  for (const Finding& each : said.findings) text += "\n" + said_against(each) + ": " + each.evidence;
  return text;
}

class LeftOut : public testing::TestWithParam<Fault> {};

TEST_P(LeftOut, IsPutBack) {
  const Fault& fault = GetParam();
  std::string source = kMixedRows;
  const std::size_t at = source.find(fault.right);
  ASSERT_NE(at, std::string::npos);
  source.replace(at, std::string(fault.right).size(), fault.wrong);
  const Diagnosis said = said_of(source);
  ASSERT_EQ(said.findings.size(), 1u) << text_of(said);
  EXPECT_EQ(said.findings.front().code, fault.code) << text_of(said);
  EXPECT_EQ(said.findings.front().location.line, fault.line) << text_of(said);
  EXPECT_FALSE(said.findings.front().edited.empty()) << text_of(said);
}

INSTANTIATE_TEST_SUITE_P(Of, LeftOut,
                         testing::Values(Fault{"element", "from[c] * w[c]", "from[c]", 13,
                                               Code::ignores_argument}),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(More, LeftOut,
                         testing::ValuesIn(tests::in_second_tier<Fault>(
                             {{"arms_of_a_choice", "c > 0 ? from[c - 1] : 2.f", "c > 0 ? 2.f : from[c - 1]",
                               12, Code::inverted_condition},
                              {"term_of_an_index", "from[c - 1]", "from[c]", 12, Code::missing_term},
                              {"sum_of_shared_memory", "part[lane] += part[lane + k]",
                               "part[lane] = part[lane + k]", 19, Code::wrong_expression},
                              {"step_of_a_tree", "k >>= 1", "k >>= 2", 18, Code::other_reduction}})),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(LeftOut, TheRightOneIsNotAccused) {
  const Diagnosis said = said_of(kMixedRows);
  EXPECT_TRUE(said.findings.empty()) << text_of(said);
  EXPECT_EQ(said.verdict(), "pass") << text_of(said);
}

TEST(LeftOut, AResultThatIsNotWrittenIsToldAsThat) {
  std::string source = kMixedRows;
  const std::string store = "    to[c] = own + before;\n";
  source.replace(source.find(store), store.size(), "    (void)own, (void)before, (void)to;\n");
  const Diagnosis said = said_of(source);
  ASSERT_EQ(said.findings.size(), 1u) << text_of(said);
  EXPECT_EQ(said.findings.front().code, Code::unwritten_output) << text_of(said);
}

TEST(ExchangeableParts, AreWhatMayHaveBeenLeftOut) {
  std::set<std::string> lines;
  for (const Exchange& each : exchangeable(R"(
__global__ void f(const float* a, const float* b, float* y, int n, int m) {
  const int i = blockIdx.x * blockDim.x;
  const bool in = i < n && i < m;
  const float* row = a + static_cast<size_t>(i) * n;
  float v = in ? a[i] : 0.f;
  y[i / n] = v;
}
void g(const float* a, const float* b, float* y, int n, int m) { f<<<n, 32, 0, 0>>>(a, b, y, n, m); }
)",
                                           {}, of_label("y = tanh(x)"))
                                  .edits)
    lines.insert(each.becomes);
  for (const char* line :
       {"const int i = blockIdx.x * blockDim.x + threadIdx.x;", "const bool in = i < n || i < m;",
        "const float* row = a + static_cast<size_t>(i) * n * m;", "float v = !(in) ? a[i] : 0.f;",
        "float v = (in ? a[i] : 0.f) * b[i];", "y[i % n] = v;"})
    EXPECT_EQ(lines.count(line), 1u) << line;
  // The null stream, and no shared memory, are no numbers.
  for (const std::string& line : lines) EXPECT_EQ(line.find("32, 1"), std::string::npos) << line;
}

}  // namespace
}  // namespace isomer::lab
