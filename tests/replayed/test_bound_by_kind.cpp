// Numbers of a function over raw memory that are dtypes, kinds, sizes and sides of the label's arguments.
#include "recorded_call.hpp"

#include "core/codec.hpp"
#include "core/temporary_folder.hpp"
#include "lab/ask/names/shape_comments.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/judge/diagnose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "bound_by_kind.cu";

Value filled(const char* name, const std::vector<std::int64_t>& shape) {
  Value x = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < x.tensor.numel(); ++i)
    f32(x)[i] = static_cast<float>((i * 29 + x.tensor.numel()) % 19) - 8.75F;
  return x;
}

/// A call of a label that returns these.
void record_results(Recording& recording, const char* label, const std::vector<Value>& arguments,
                    const std::vector<Value>& results) {
  record(recording, label, arguments, [](std::vector<Value>&) {});
  recording.calls.back().returned = results;
}

Diagnosis judged_as(const char* entry, const Recording& recording, const std::string& label,
                    const std::string& test = {}) {
  return judged(kFile, entry, recording, {"", label, test});
}

TEST(BoundByKind, AResultHasATypeOfItsOwn) {
  Recording recording;
  for (const DType dtype : {DType::f32, DType::f16}) {
    Value x = tensor_value("x", dtype, {70}), y = tensor_value("y", DType::f32, {70});
    for (std::int64_t i = 0; i < 70; ++i) {
      const double own = static_cast<double>(i % 13) - 4.5;
      core::encode(dtype, own, static_cast<std::byte*>(x.tensor.data) + i * size_of(dtype));
      f32(y)[i] = static_cast<float>(2 * own);
    }
    record_results(recording, "widen", {x}, {y});
  }
  const std::string label = "def widen(x, dtype=None):\n    n = x.numel()\n";
  const Diagnosis said = judged_as("widen_by_types", recording, label);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "n=70, in_type=0, out_type=0");
  EXPECT_EQ(judged_as("widen_by_one_type", recording, label).verdict(), "fail");
}

TEST(BoundByKind, ASizeIsNoWordThatTheSourceHasANumberFor) {
  Recording recording;
  std::int64_t rows = 4;
  for (const std::string how : {"first", "total", "largest"}) {
    const Value x = filled("x", {rows, 7});
    Value y = tensor_value("y", DType::f32, {rows});
    for (std::int64_t i = 0; i < rows; ++i) {
      const float* row = f32(x) + i * 7;
      for (int k = 0; k < 7; ++k) f32(y)[i] += row[k];
      if (how != "total") f32(y)[i] = how == "first" ? row[0] : *std::max_element(row, row + 7);
    }
    record_results(recording, "reduce", {x, text_value("reduction", how)}, {y});
    rows += 3;
  }
  const std::string label = "def reduce(x, reduction):\n    BT, V = x.shape\n";
  const Diagnosis said = judged_as("reduce_classes", recording, label);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "BT=4, classes=7, reduction=3");
  EXPECT_EQ(judged_as("reduce_few_classes", recording, label).verdict(), "fail");
}

TEST(BoundByKind, WhatTheCandidateCallsItsSizesCountsMoreThanTheTestsNames) {
  Recording recording;
  const Value x = filled("x", {2, 3, 8});
  Value y = tensor_value("y", DType::f32, {2, 3, 8});
  for (std::int64_t i = 0; i < 48; ++i) f32(y)[i] = f32(x)[i] + (i % 8 == 0 ? 0 : f32(y)[i - 1]);
  record_results(recording, "sum_up", {x}, {y});
  recording.calls.back().computed = {integer_value("K", 8), integer_value("stride_xm", 24),
                                     integer_value("stride_xn", 8), integer_value("stride_ym", 24),
                                     integer_value("stride_yn", 8)};
  const std::string label =
      "def sum_up(x):\n    K = x.shape[-1]\n    stride_xm, stride_xn = x.stride()[:-1]\n";
  const std::string test = "x = torch.randn((B, M, N))\n";
  const Diagnosis said = judged_as("sum_up", recording, label, test);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "B=2, N=3, K=8, stride_xm=24, stride_xn=8, stride_ym=24, stride_yn=8");
  EXPECT_EQ(judged_as("sum_most_up", recording, label, test).verdict(), "fail");
}

TEST(BoundByKind, AShapeThatStandsAloneIsOfTheTensorWithItsRank) {
  const NamedSizes sizes = sizes_in_comments("// x: [m, n]\n// of a [B, N, K] tensor, arr[i, j]\n");
  const auto tensor_of = [](int rank) { return rank == 3 ? std::string("q") : std::string(); };
  const NamedSizes all = with_tensors_of_shapes(sizes, {"B", "N", "K"}, tensor_of);
  const auto is = [&](const std::string& name, const std::string& tensor, int dim) {
    return std::any_of(all.begin(), all.end(), [&](const NamedSize& each) {
      return each.name == name && each.tensor == tensor && each.dim == dim;
    });
  };
  EXPECT_TRUE(is("m", "x", 0));
  EXPECT_TRUE(is("B", "q", 0) && is("N", "q", 1) && is("K", "q", 2));
  const NamedSizes fewer = with_tensors_of_shapes(sizes, {"B", "N"}, tensor_of);
  EXPECT_TRUE(
      std::none_of(fewer.begin(), fewer.end(), [](const NamedSize& each) { return each.tensor == "q"; }));
}

Recording centered() {
  Recording recording;
  for (const std::int64_t rows : {2, 5}) {
    const Value x = filled("x", {rows, 3});
    Value output = tensor_value("output", DType::f32, {rows, 3}), loss = tensor_value("loss", DType::f32, {});
    for (std::int64_t i = 0; i < rows; ++i) {
      const float* row = f32(x) + 3 * i;
      const float sum = row[0] + row[1] + row[2];
      for (int k = 0; k < 3; ++k) f32(output)[3 * i + k] = row[k] - sum / 3;
      f32(loss)[0] += sum / static_cast<float>(rows);
    }
    record_results(recording, "center", {x, integer_value("normalized_shape", 3)}, {loss, output});
  }
  return recording;
}

TEST(BoundByKind, MemoryThatNoNameSaysIsLentBesideTheResults) {
  const std::string label = "def center(x, normalized_shape):\n    pass\n";
  const Diagnosis said = judged_as("center_rows", centered(), label);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "rows=2, classes=3");
  const Diagnosis uncleared = judged_as("center_rows_uncleared", centered(), label);
  EXPECT_NE(uncleared.verdict(), std::string("pass"));
}

/// The mean of rows by way of two sums that the caller lends and nobody clears.
std::string sums_in(const std::string& lent) {
  return "__global__ void center_kernel(const float* x, float* output, float* sums, int n) {\n"
         "  float sum = 0;\n"
         "  for (int i = 0; i < n; ++i) sum += x[blockIdx.x * n + i];\n"
         "  for (int i = 0; i < n; ++i) output[blockIdx.x * n + i] = x[blockIdx.x * n + i] - sum / n;\n"
         "  atomicAdd(&sums[0], sum);\n"
         "  atomicAdd(&sums[1], 1.0f);\n"
         "}\n"
         "__global__ void divide(const float* sums, float* loss) { *loss = sums[0] / sums[1]; }\n"
         "extern \"C\" void center_rows(const float* x, float* loss, float* output, " +
         lent +
         ",\n    int rows, int classes) {\n"
         "  center_kernel<<<rows, 1>>>(x, output, sums, classes);\n"
         "  divide<<<1, 1>>>(sums, loss);\n"
         "}\n";
}

TEST(BoundByKind, WhatIsSaidToBeScratchNobodyElseClears) {
  const auto said_of = [](const std::string& lent) {
    const core::TemporaryFolder place("test", "bound-by-kind");
    return diagnose_folder(case_of(place.path(), "#include <cuda_runtime.h>\n" + sums_in(lent), centered()))
        .at(0);
  };
  expect_told(said_of("float* sums /* two floats of scratch */"), {Code::uninitialised_read},
              "right where sums holds zeros");
  // Else its callers may.
  EXPECT_EQ(said_of("float* sums /* two floats of zeros */").verdict(), std::string("pass"));
}

Recording with_others() {
  Recording recording;
  for (const int kind : {0, 1, 2, 2}) {
    const Value x = filled("x", {4, 6});
    const std::int64_t step = recording.calls.size() == 3 ? 1 : 2, height = 4 / step, width = 6 / step;
    Value y = tensor_value("y", DType::f32, {height, width}), tensor = filled("other", {height, width});
    for (std::int64_t i = 0; i < height * width; ++i)
      f32(y)[i] = f32(x)[i / width * step * 6 + i % width * step] + (kind == 0   ? 0
                                                                     : kind == 1 ? 1.5F
                                                                                 : f32(tensor)[i]);
    std::vector<Value> arguments = {x};
    if (kind == 1) arguments.push_back(real_value("other", 1.5));
    if (kind == 2) arguments.push_back(tensor);
    if (step == 2) arguments.push_back(integer_value("step", step));
    record_results(recording, "add_other", arguments, {y});
    if (step == 1) recording.calls.back().left_out = {integer_value("step", 1)};
  }
  return recording;
}

TEST(BoundByKind, ANumberInOneCallAndATensorInAnotherArePassedAsTheyAre) {
  const std::string label = "def add_other(x, other=None, step=1):\n    h, w = x.shape\n";
  const Diagnosis said = judged_as("add_other", with_others(), label);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "other_scalar=0, other_kind=0, h=4, w=6, stepH=2, stepW=2");
  EXPECT_EQ(judged_as("add_number", with_others(), label).verdict(), "fail");
}

}  // namespace
}  // namespace isomer::lab
