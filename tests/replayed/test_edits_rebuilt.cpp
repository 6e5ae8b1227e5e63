// Edits of what a compiler has to know, and of values that stand beside others that are made alike.
#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/evidence/edits/exchangeable.hpp"
#include "lab/evidence/edits/rebuilt.hpp"
#include "lab/judge/diagnose.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kLeaky = R"(#include <cuda_runtime.h>

constexpr float kSlope = 0.15f;
constexpr int kOrder[4] = {0, 2, 1, 3};
struct Steps { int rows, cols; float low, high; };

template <bool Clamped>
__global__ void leaky_kernel(const float* x, float* y, Steps s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.rows * s.cols) return;
  const int from = i / 4 * 4 + kOrder[i % 4];
  float v = x[from] > 0.f ? x[from] : kSlope * x[from];
  if (Clamped) v = fminf(fmaxf(v, s.low), s.high);
  y[i] = v;
}

extern "C" void leaky(const float* x, float* y, int rows, int cols, float low, float high) {
  const Steps s{rows, cols, low, high};
  leaky_kernel<true><<<(rows * cols + 63) / 64, 64>>>(x, y, s);
}
)";
constexpr const char* kLabel =
    "ORDER = [0, 2, 1, 3]\ndef leaky(x, low, high):\n    return clamp(leaky_relu(x, 0.15))\n";

bool becomes(const std::vector<RebuiltEdit>& list, const std::string& line) {
  return std::any_of(list.begin(), list.end(), [&](const RebuiltEdit& each) {
    return each.edit.becomes == line && each.source.find(line) != std::string::npos;
  });
}

std::string with(std::string source, const std::string& was, const std::string& is) {
  source.replace(source.find(was), was.size(), is);
  return source;
}

TEST(RebuiltEdits, ReachConstantsTablesMembersTypesAndTemplates) {
  const OfLabel label = of_label(kLabel);
  EXPECT_TRUE(
      becomes(rebuilt_edits(with(kLeaky, "0.15f", "0.19f"), label), "constexpr float kSlope = 0.15f;"));
  EXPECT_TRUE(becomes(rebuilt_edits(with(kLeaky, "{0, 2, 1, 3}", "{0, 1, 3, 2}"), label),
                      "constexpr int kOrder[4] = {0, 2, 1, 3};"));
  EXPECT_TRUE(becomes(rebuilt_edits(with(kLeaky, "low, high};", "high, low};")),
                      "const Steps s{rows, cols, low, high};"));
  EXPECT_TRUE(becomes(rebuilt_edits(with(kLeaky, "float v =", "int v =")),
                      "float v = x[from] > 0.f ? x[from] : kSlope * x[from];"));
  EXPECT_TRUE(becomes(rebuilt_edits(with(kLeaky, "kernel<true>", "kernel<false>")),
                      "leaky_kernel<true><<<(rows * cols + 63) / 64, 64>>>(x, y, s);"));
}

TEST(RebuiltEdits, ReachRowsOfTablesNamesOfTemplatesAndParameters) {
  const std::string source =
      "__constant__ float kMix[2][2] = {{0.0f, 1.6f}, {-0.8f, -0.4f}};\n"
      "enum { kBins = 256, kThreads = 128 };\n"
      "template <bool ALIGN>\n__device__ float axis(float v) { return v; }\n"
      "__device__ bool seen(int bits, int j) { return bits >> j & 1; }\n"
      "template <bool ALIGN>\n__global__ void k(float* y) {\n  y[0] = axis<false>(y[1]);\n}\n";
  const std::vector<RebuiltEdit> list = rebuilt_edits(source);
  EXPECT_TRUE(becomes(list, "__constant__ float kMix[2][2] = {{0.0f, 1.6f}, {-0.4f, -0.8f}};"));
  EXPECT_TRUE(becomes(list, "enum { kBins = 256, kThreads = 256 };"));
  EXPECT_TRUE(becomes(list, "y[0] = axis<ALIGN>(y[1]);"));
  EXPECT_TRUE(becomes(list, "__device__ bool seen(long long bits, int j) { return bits >> j & 1; }"));
}

Diagnosis judged_source(const std::filesystem::path& place, const std::string& source) {
  Recording recording;
  for (const std::int64_t rows : {3, 5}) {
    constexpr std::int64_t kCols = 20;
    Value x = tensor_value("x", DType::f32, {rows, kCols});
    for (std::int64_t i = 0; i < rows * kCols; ++i)
      static_cast<float*>(x.tensor.data)[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i)) * 9);
    record(recording, "leaky",
           {x, tensor_value("y", DType::f32, {rows, kCols}), real_value("low", -1), real_value("high", 6)},
           [=](std::vector<Value>& v) {
             constexpr std::int64_t kOrder[] = {0, 2, 1, 3};
             for (std::int64_t i = 0; i < rows * kCols; ++i) {
               const float from = static_cast<const float*>(v[0].tensor.data)[i / 4 * 4 + kOrder[i % 4]];
               static_cast<float*>(v[1].tensor.data)[i] =
                   std::min(std::max(from > 0 ? from : 0.15f * from, -1.f), 6.f);
             }
           });
  }
  CaseFolder folder = case_of(place, source, recording);
  std::ofstream(place / "1_label_source.py") << kLabel;
  folder.label = place / "1_label_source.py";
  return diagnose_folder(folder).at(0);
}

TEST(RebuiltEdits, AConstantOfTheFileIsToldWithItsLine) {
  const core::TemporaryFolder right("test", "rebuilt");
  EXPECT_EQ(judged_source(right.path(), kLeaky).verdict(), "pass");
  const core::TemporaryFolder place("test", "rebuilt");
  const Diagnosis said = judged_source(place.path(), with(kLeaky, "0.15f", "0.19f"));
  ASSERT_EQ(said.findings.size(), 1u);
  EXPECT_EQ(said.findings[0].edited, "constexpr float kSlope = 0.15f;") << said.findings[0].evidence;
  EXPECT_EQ(said.findings[0].location.line, 3);
}

bool has_edit(const std::string& source, const std::string& line) {
  const std::vector<Exchange> edits = exchangeable(source).edits;
  return std::any_of(edits.begin(), edits.end(), [&](const Exchange& each) { return each.becomes == line; });
}

std::string of_kernel(const std::string& body) {
  return "struct Part { float m, a; };\n__device__ float warp_sum(float v) { return v; }\n"
         "__device__ float warp_max(float v) { return v; }\n"
         "__global__ void k(const float* x, float* y, int n, Part lhs, Part rhs, float ratio, float bound, "
         "float offset) {\n"
         "  Part r = lhs;\n  float left = x[0], right = x[1], top = x[2], bottom = x[3];\n  " +
         body + "\n  y[0] = r.a;\n}\n";
}

TEST(Siblings, LackWhatTheOtherTermOrStatementHas) {
  EXPECT_TRUE(has_edit(of_kernel("r.a = lhs.a + rhs.a * expf(rhs.m - r.m);"),
                       "r.a = lhs.a * expf(lhs.m - r.m) + rhs.a * expf(rhs.m - r.m);"));
  EXPECT_TRUE(has_edit(of_kernel("const float width = fmaxf(right - left + offset, 0.f);\n  "
                                 "const float height = fmaxf(bottom - top, 0.f);\n  r.a = width * height;"),
                       "const float height = fmaxf(bottom - top + offset, 0.f);"));
}

TEST(Siblings, AreRoundedBoundedAndReducedInAnotherWay) {
  EXPECT_TRUE(
      has_edit(of_kernel("const int at = (int)left;\n  r.a = x[at];"), "const int at = (int)floorf(left);"));
  EXPECT_TRUE(has_edit(of_kernel("r.a = -fminf(ratio, bound) * offset;"),
                       "r.a = -fminf((ratio) * offset, (bound) * offset);"));
  EXPECT_TRUE(has_edit(of_kernel("r.a = warp_max(left);"), "r.a = warp_sum(left);"));
}

TEST(Siblings, BeginMaximaBelowAllNumbers) {
  EXPECT_TRUE(has_edit(of_kernel("float top_of = FLT_MIN;\n  r.a = top_of;"), "float top_of = -FLT_MAX;"));
}

}  // namespace
}  // namespace isomer::lab
