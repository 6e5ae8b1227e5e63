// Edits of several places alike, of constants, members, calls and what is kept; and what is left out of them.
#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/evidence/edits/exchangeable.hpp"
#include "lab/judge/diagnose.hpp"
#include "lab/judge/edit_names.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

/// Rows of a running sum and a running maximum, which go from 32 columns to the next by the last lane.
constexpr const char* kCarried = R"(#include <cuda_runtime.h>

__global__ void running_kernel(const float* x, float* sums, float* tops, int cols) {
  const int lane = threadIdx.x;
  const float* row = x + blockIdx.x * cols;
  float carried_sum = 0.f, carried_top = -1e30f;
  for (int round = 0; round < (cols + 31) / 32; ++round) {
    const int i = round * 32 + lane;
    float sum = i < cols ? row[i] : 0.f, top = i < cols ? row[i] : -1e30f;
    for (int d = 1; d < 32; d <<= 1) {
      const float s = __shfl_up_sync(0xffffffffu, sum, d), t = __shfl_up_sync(0xffffffffu, top, d);
      if (lane >= d) {
        sum += s;
        top = fmaxf(top, t);
      }
    }
    sum += carried_sum;
    top = fmaxf(top, carried_top);
    if (i < cols) sums[blockIdx.x * cols + i] = sum;
    if (i < cols) tops[blockIdx.x * cols + i] = top;
    carried_sum = __shfl_sync(0xffffffffu, sum, 31);
    carried_top = __shfl_sync(0xffffffffu, top, 31);
  }
}

extern "C" void running(const float* x, float* sums, float* tops, int rows, int cols) {
  running_kernel<<<rows, 32>>>(x, sums, tops, cols);
}
)";

std::string with(std::string source, const std::string& was, const std::string& is) {
  for (std::size_t at = 0; (at = source.find(was, at)) != std::string::npos; at += is.size())
    source.replace(at, was.size(), is);
  return source;
}

Diagnosis judged_running(const std::filesystem::path& place, const std::string& source) {
  Recording recording;
  for (const std::int64_t rows : {2, 3}) {
    constexpr std::int64_t kCols = 75;
    const std::vector<std::int64_t> shape = {rows, kCols};
    Value x = tensor_value("x", DType::f32, shape);
    for (std::int64_t i = 0; i < rows * kCols; ++i)
      static_cast<float*>(x.tensor.data)[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i)) * 9);
    record(recording, "running",
           {x, tensor_value("sums", DType::f32, shape), tensor_value("tops", DType::f32, shape)},
           [=](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < rows * kCols; ++i) {
               const auto at = [&](std::size_t k) { return static_cast<float*>(v[k].tensor.data) + i; };
               *at(1) = *at(0) + (i % kCols == 0 ? 0 : at(1)[-1]);
               *at(2) = i % kCols == 0 ? *at(0) : std::max(*at(0), at(2)[-1]);
             }
           });
  }
  return diagnose_folder(case_of(place, source, recording)).at(0);
}

TEST(EditsTogether, OneMistakeInTwoLinesIsToldWithBoth) {
  const core::TemporaryFolder right("test", "together");
  EXPECT_EQ(judged_running(right.path(), kCarried).verdict(), "pass");
  const core::TemporaryFolder place("test", "together");
  const Diagnosis said =
      judged_running(place.path(), with(with(kCarried, "sum, 31)", "sum, 0)"), "top, 31)", "top, 0)"));
  ASSERT_EQ(said.findings.size(), 1u);
  EXPECT_EQ(said.findings[0].location.line, 21) << said.findings[0].evidence;
  ASSERT_EQ(said.findings[0].edited_also.size(), 1u) << said.findings[0].evidence;
  EXPECT_EQ(said.findings[0].edited_also[0].first, 22);
}

bool has_edit(const std::string& source, const std::string& line, const std::string& label = "") {
  const std::vector<Exchange> edits = exchangeable(source, {}, of_label(label)).edits;
  return std::any_of(edits.begin(), edits.end(), [&](const Exchange& each) { return each.becomes == line; });
}

std::string kernel(const std::string& body, const std::string& before = "") {
  return before +
         "\nstruct Pair { float first, second; };\n"
         "__global__ void k(const float* x, const float4* v, float* y, const unsigned char* b, int n, int "
         "half, "
         "float low, float high) {\n"
         "  __shared__ float best[32];\n  __shared__ int code[32];\n  const int i = threadIdx.x;\n  float4 p "
         "= v[i];\n"
         "  " +
         body + "\n  y[i] = p.x + p.y + p.z;\n}\n";
}

TEST(EditsTogether, OfConstantsAndTemplates) {
  EXPECT_TRUE(has_edit(kernel("int g = (n + kTall - 1) / kWide;",
                              "constexpr int kTall = 8, kWide = 32;\nconst int kWide = 4;"),
                       "int g = (n + kWide - 1) / kWide;"));
  EXPECT_TRUE(
      has_edit("template <int32_t Rows, int32_t Cols>\n__global__ void k(float* y, int n) {\n"
               "  y[n + Cols] = 1.f;\n}\n",
               "y[n + Rows] = 1.f;"));
}

TEST(EditsTogether, OfMembersAndLists) {
  EXPECT_TRUE(has_edit(kernel("float s = p.y;"), "float s = p.w;"));
  EXPECT_TRUE(has_edit(kernel("Pair pair = {high, low};"), "Pair pair = {low, high};"));
}

TEST(EditsTogether, OfCalls) {
  EXPECT_TRUE(has_edit(kernel("float s = fmaxf(fabsf(low), high);"), "float s = fmaxf(low, fabsf(high));"));
  EXPECT_TRUE(has_edit(kernel("float s = floorf(low - high);"), "float s = (floorf(low) - floorf(high));"));
  EXPECT_TRUE(has_edit(kernel("float s = expf(-low);"), "float s = expf(-expf(low));"));
  EXPECT_TRUE(
      has_edit(kernel("float s = fminf(low, high);"), "float s = fminf(low, 1.0f);", "x.clamp(max=1)"));
  EXPECT_TRUE(has_edit(kernel("int s = __popc(n) - 1;"), "int s = 31 - __clz(n);"));
}

TEST(EditsTogether, OfQuotientsAndTerms) {
  EXPECT_TRUE(has_edit(kernel("float s = 5000 / n;"), "float s = static_cast<float>(5000) / n;"));
  EXPECT_TRUE(has_edit(kernel("float s = (low + high) / x[i];"), "float s = (low / x[i] + high);"));
  EXPECT_TRUE(has_edit(kernel("int s = i + n / 2;"), "int s = i + half;"));
  EXPECT_TRUE(has_edit(kernel("float s = low * (float)(uint8_t)n;"), "float s = low * (float)(int8_t)n;"));
}

TEST(EditsTogether, OfPairsAndGroups) {
  EXPECT_TRUE(has_edit(kernel("float s = 3.f * (2.f * high - low) * x[i];"),
                       "float s = 3.f * (2.f * low - high) * x[i];"));
  EXPECT_TRUE(has_edit(kernel("int g = i % half;"), "int g = i / (n / half);"));
  EXPECT_TRUE(has_edit(kernel("int g = i / (n / half);"), "int g = i % half;"));
  EXPECT_TRUE(has_edit(kernel("int g = i % half;"), "int g = (i - 1) % half;"));
}

TEST(EditsTogether, OfDimensionsAndOfTheOrderOfStatements) {
  EXPECT_TRUE(has_edit(kernel("float s = x[((i * n + n / 2) * half + i) * 4 + 1];"),
                       "float s = x[((i * n + n / 2) * 4 + 1) * half + i];") ||
              has_edit(kernel("float s = x[((i * n + i) * half + n) * 4];"),
                       "float s = x[((i * half + n) * n + i) * 4];"));
  EXPECT_TRUE(has_edit(kernel("float s = x[(((size_t)i * n + i) * half + n) * 4 + i];"),
                       "float s = x[(((size_t)i * half + n) * n + i) * 4 + i];"));
  EXPECT_TRUE(has_edit(kernel("low *= high;\n  if (n > 2) low += x[i];"), "if (n > 2) low += x[i];"));
  // Of other variables the order is no matter.
  EXPECT_FALSE(has_edit(kernel("low *= 3.f;\n  high += x[i];"), "high += x[i];"));
}

TEST(EditsTogether, OfCountsAndTermsOnceMore) {
  EXPECT_TRUE(has_edit(kernel("float s = (float)(n - 1) / half;"), "float s = (float)(n - 1) / (half - 1);"));
  EXPECT_TRUE(has_edit(kernel("float s = static_cast<float>(n) / 3.f;"),
                       "float s = static_cast<float>(n - 1) / 3.f;"));
  EXPECT_TRUE(has_edit(kernel("int s = min(i, n);"), "int s = min(i, n - 1);"));
  EXPECT_TRUE(has_edit(kernel("float s = (x[i] + low) / high;"), "float s = (x[i] + low) / high - low;"));
  EXPECT_TRUE(
      has_edit("void f(int n, int rows) {\n  dim3 grid(n / 32, 2);\n}\n", "dim3 grid(n / 32, 2 * rows);"));
}

TEST(EditsTogether, OfMembersAndWhatIsMadeOfThem) {
  EXPECT_TRUE(has_edit(kernel("Pair q = {low, high};\n  const float later = q.first + low;\n"
                              "  float s = fmaxf(q.first, high);"),
                       "float s = fmaxf(later, high);"));
}

TEST(EditsTogether, ThatChooseAnotherWayAreNotTheFirst) {
  const std::vector<Exchange> edits =
      exchangeable(kernel("if (n % 4 == 0) low += x[i];\n  if (i % 4 == 0) high += x[i];"), {}, of_label(""))
          .edits;
  for (const Exchange& each : edits) {
    if (each.was == "if (n % 4 == 0) low += x[i];" && each.becomes == "if (n % 4 != 0) low += x[i];")
      EXPECT_TRUE(each.chooses);
    if (each.was == "if (i % 4 == 0) high += x[i];") EXPECT_FALSE(each.chooses) << each.becomes;
  }
}

TEST(EditsTogether, OfSumsUnderAMaximum) {
  EXPECT_TRUE(
      has_edit(kernel("if (high > low) {\n    y[i] = 0.f;\n    high = high + 1.f;\n    low = x[i];\n  }"),
               "high *= expf(low - x[i]); high = high + 1.f;"));
  const std::string merged =
      "struct Part {\n  float top, sum;\n};\n__device__ void merge(Part& a, const Part& b) {\n"
      "  if (b.top > a.top) a.top = b.top;\n  a.sum += b.sum;\n}\n";
  EXPECT_TRUE(has_edit(merged, "a.sum += b.sum * expf(b.top - a.top);"));
}

TEST(EditsTogether, WhatTheCompilerDecidesStays) {
  const std::string body =
      "if constexpr (N > 2) y[i] = low;\n  const int threads = 64;\n  other<threads><<<1, threads>>>(n);";
  EXPECT_FALSE(has_edit(kernel(body), "if constexpr (N >= 2) y[i] = low;"));
  EXPECT_FALSE(has_edit(kernel(body), "const int threads = 65;"));
  EXPECT_TRUE(has_edit(kernel("if (n > 2) y[i] = low;"), "if (n >= 2) y[i] = low;"));
}

TEST(EditsTogether, OfWhatIsKeptAndWhatIsGuarded) {
  const std::string body =
      "best[i] = low;\n  const float other = best[i + 1];\n  const int rank = i + 1;\n  if (other < best[i]) "
      "{\n"
      "    code[i] = rank;\n  }";
  EXPECT_TRUE(has_edit(kernel(body), "code[i] = rank; best[i] = other;"));
  EXPECT_TRUE(has_edit(kernel("const int rank = i + 1;\n  y[i] += low;"), "if (rank < half) y[i] += low;"));
}

TEST(EditsTogether, AnotherWayIsTriedLast) {
  const std::string source =
      kernel("") +
      "extern \"C\" void f(const float* x, const float4* v, float* y, const unsigned char* b, int n) {\n"
      "  if (n == 64) {\n    k<<<1, 32>>>(x, v, y, b, n, 1, 0.f, 1.f);\n  } else {\n"
      "    k<<<2, 32>>>(x, v, y, b, n, 1, 0.f, 1.f);\n  }\n}\n";
  const std::vector<Exchange> edits = exchangeable(source).edits;
  const auto chooses = [](const Exchange& each) { return each.was == "if (n == 64) {"; };
  ASSERT_TRUE(std::any_of(edits.begin(), edits.end(), chooses));
  for (const Exchange& each : edits)
    if (chooses(each)) EXPECT_GE(each.rank, 6) << each.becomes;
}

TEST(EditsTogether, AValueThatDoesNotCompileIsLeftOutAlone) {
  const std::string source = kernel("float s = floorf(low - high);");
  const Exchangeable made = exchangeable(source);
  const auto refused = std::find_if(made.values.begin(), made.values.end(), [](const auto& each) {
    return each.second.front().second == "(floorf(low) - floorf(high))";
  });
  ASSERT_NE(refused, made.values.end());
  const Exchangeable other = exchangeable(source, {{}, {refused->second.front()}});
  EXPECT_EQ(other.edits.size() + 1, made.edits.size());
  EXPECT_EQ(other.source.find("(floorf(low) - floorf(high))"), std::string::npos);
}

TEST(EditsTogether, AnEditNamesWhatLooksLikeItsConsequence) {
  Finding seen, edit;
  seen.code = Code::layout_convention;
  edit.code = Code::off_by_one;
  edit.edited_from = "if (!(at >= first && at < last - 1)) continue;";
  edit.edited = "if (!(at >= first && at <= last - 1)) continue;";
  EXPECT_EQ(code_of_both(seen, edit), Code::off_by_one);
  seen.code = Code::tail_mask;
  edit.edited_from = "for (int i = 0; i < rounds; ++i) {";
  edit.edited = "for (int i = 0; i <= rounds; ++i) {";
  EXPECT_EQ(code_of_both(seen, edit), Code::tail_mask);
  seen.code = Code::race;
  edit.code = Code::wrong_expression;
  EXPECT_EQ(code_of_both(seen, edit), Code::wrong_expression);
  edit.code = Code::missing_barrier;
  EXPECT_EQ(code_of_both(seen, edit), Code::missing_barrier);
}

TEST(EditsTogether, AnEditNamesWhatOnlyLooksLikeAFactorOrAReduction) {
  Finding seen, edit;
  seen.code = Code::missing_scale;
  edit.code = Code::wrong_expression;
  edit.edited_from = "g = s * w[i];";
  edit.edited = "g = t * w[i];";
  EXPECT_EQ(code_of_both(seen, edit), Code::missing_scale);
  seen.row_factor = true;
  EXPECT_EQ(code_of_both(seen, edit), Code::wrong_expression);
  seen.row_factor = false;
  edit.edited_from = "if (rank < k) sum += g;";
  edit.edited = "if (ideal < k) sum += g;";
  EXPECT_EQ(code_of_both(seen, edit), Code::wrong_expression);
  edit.edited_from = "step_kernel<true, false><<<blocks, 64>>>(x);";
  edit.edited = "step_kernel<false, false><<<blocks, 64>>>(x);";
  EXPECT_EQ(code_of_both(seen, edit), Code::wrong_expression);
  seen.code = Code::other_reduction;
  edit.edited_from = "sum += fminf(q, 0.f) * upper;";
  edit.edited = "sum += fminf(q, 0.f) * lower;";
  EXPECT_EQ(code_of_both(seen, edit), Code::wrong_expression);
  edit.edited_from = "mean = sum / rows;";
  edit.edited = "mean = sum / cols;";
  EXPECT_EQ(code_of_both(seen, edit), Code::other_reduction);
}

TEST(EditsTogether, AnEditNamesWhatOnlyLooksLikeAnEpsilonAFunctionOrAnArgument) {
  Finding seen, edit;
  seen.code = Code::epsilon;
  edit.code = Code::off_by_one;
  edit.edited_from = "filled += counts[b] >= 0;";
  edit.edited = "filled += counts[b] > 0;";
  EXPECT_EQ(code_of_both(seen, edit), Code::off_by_one);
  edit.edited_from = "y = x / (s + eps);";
  edit.edited = "y = x / s;";
  EXPECT_EQ(code_of_both(seen, edit), Code::epsilon);
  seen.code = Code::approximation;
  edit.code = Code::wrong_expression;
  edit.edited_from = "ret = d * val[t];";
  edit.edited = "ret = d * next;";
  EXPECT_EQ(code_of_both(seen, edit), Code::wrong_expression);
  edit.edited_from = "y = tanhf(x);";
  edit.edited = "y = erff(x);";
  EXPECT_EQ(code_of_both(seen, edit), Code::approximation);
  // The label would ignore what the source names elsewhere; or the edit brings just that.
  seen = {};
  seen.code = Code::ignores_argument;
  seen.strength = Strength::consistent;
  seen.decides = true;
  seen.argument = "slope";
  edit.edited_from = "float best = FLT_MIN;";
  edit.edited = "float best = -FLT_MAX;";
  EXPECT_EQ(code_of_both(seen, edit), Code::wrong_expression);
  edit.edited_from = "y = 0.1f * x;";
  edit.edited = "y = slope * x;";
  EXPECT_EQ(code_of_both(seen, edit), Code::ignores_argument);
}

TEST(EditsTogether, WhichOfTwoEqualValuesComesFirstIsATie) {
  Finding edit;
  edit.code = Code::inverted_condition;
  edit.edited_from = "if (p[j] > own || (p[j] == own && j > i)) n += p[j];";
  edit.edited = "if (p[j] > own || (p[j] == own && j < i)) n += p[j];";
  EXPECT_TRUE(is_of_ties(edit));
  edit.edited = "if (p[j] < own || (p[j] == own && j > i)) n += p[j];";
  EXPECT_FALSE(is_of_ties(edit));
}

}  // namespace
}  // namespace isomer::lab
