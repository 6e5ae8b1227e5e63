// Numbers that a candidate takes and no caller passes, where the label's function says what they are.
#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "lab/ask/names/named_sizes.hpp"
#include "lab/ask/names/shape_comments.hpp"
#include "lab/candidate/folder.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "computed.cu";

Value counted(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value value = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i) f32(value)[i] = static_cast<float>(1 + i * 7 % 31);
  return value;
}

/// A call with dim 0 of a tensor of three dimensions, and one with its last; `said`: what M and N are.
Recording scaled_along(bool said) {
  Recording recording;
  const auto add = [&](const std::vector<std::int64_t>& shape, std::int64_t dim, std::int64_t m,
                       std::int64_t n) {
    record(recording, "scale_along",
           {counted("x", shape), counted("g", {dim == 0 ? m : n}), tensor_value("y", DType::f32, shape),
            integer_value("dim", dim)},
           [=](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < m * n; ++i)
               f32(v[2])[i] = f32(v[0])[i] * f32(v[1])[dim == 0 ? i / n : i % n];
           });
    if (said) recording.calls.back().computed = {integer_value("M", m), integer_value("N", n)};
  };
  add({6, 7, 9}, 0, 6, 63);
  add({45, 37}, 1, 45, 37);
  add({5, 8, 24}, 2, 40, 24);
  return recording;
}

TEST(Computed, ANumberOfTheLabelIsTheParametersOfItsName) {
  const Diagnosis said = judged(kFile, "scale_along", scaled_along(true));
  EXPECT_EQ(said.verdict(), "pass") << said.error;
  EXPECT_NE(said.called_with.find("M=6, N=63"), std::string::npos) << said.called_with;
  EXPECT_NE(judged(kFile, "scale_along", scaled_along(false)).verdict(), "pass");
}

Recording spread(std::vector<std::int64_t> strides, bool by_default) {
  Recording recording;
  for (const std::int64_t stride : strides) {
    constexpr std::int64_t kLength = 29;
    std::vector<Value> arguments = {counted("x", {kLength}),
                                    tensor_value("y", DType::f32, {kLength * stride})};
    if (!by_default) arguments.push_back(integer_value("stride", stride));
    record(recording, "spread", arguments, [=](std::vector<Value>& v) {
      for (std::int64_t i = 0; i < kLength * stride; ++i)
        f32(v[1])[i] = i % stride == 0 ? f32(v[0])[i / stride] : 0;
    });
    if (by_default) recording.calls.back().left_out = {integer_value("stride", stride)};
  }
  return recording;
}

TEST(Computed, AStrideThatTheCallLeavesOutIsTheLabelsDefaultAndNotATensors) {
  const Diagnosis said = judged(kFile, "spread_cuda", spread({2}, true));
  EXPECT_EQ(said.verdict(), "pass") << said.error;
  EXPECT_NE(said.called_with.find("stride=2"), std::string::npos) << said.called_with;
}

TEST(Computed, AFunctionThatSaysWhereItRunsIsNoOtherFunction) {
  const core::TemporaryFolder place("test", "named");
  std::ofstream(place.path() / "candidate.cu")
      << "#include <cuda_runtime.h>\n__global__ void k(const float* x, float* y, int length, int stride) {\n"
         "  const int i = threadIdx.x;\n  if (i < length * stride) y[i] = i % stride == 0 ? x[i / stride] : "
         "0.f;\n}\n"
         "extern \"C\" void spread_cuda(const float* x, float* y, int length, int stride) {\n"
         "  k<<<1, length * stride>>>(x, y, length, stride);\n}\n";
  save_recording((place.path() / "recording.safetensors").string(), spread({2, 3}, false));
  CaseFolder folder;
  folder.folder = place.path();
  folder.candidates = {place.path() / "candidate.cu"};
  folder.recording = place.path() / "recording.safetensors";
  const Diagnosis said = diagnose_folder(folder).at(0);
  EXPECT_EQ(said.verdict(), "pass") << said.error;
  EXPECT_TRUE(std::any_of(said.notes.begin(), said.notes.end(), [](const std::string& each) {
    return each == "spread_cuda was called for the label's spread";
  }));
  std::ofstream(place.path() / "0_instruction.txt") << "Export it as spread.\n";
  folder.instruction = place.path() / "0_instruction.txt";
  const Diagnosis asked = diagnose_folder(folder).at(0);
  EXPECT_TRUE(std::any_of(asked.findings.begin(), asked.findings.end(),
                          [](const Finding& each) { return each.code == Code::symbol_name; }));
}

TEST(Computed, ItemsOfAListAreTheSidesThatAreNamedAfterIt) {
  Recording recording;
  for (const std::int64_t wide : {2, 3}) {
    Value sides = integer_value("pads", 0);
    sides.kind = Value::Kind::list;
    sides.items = {integer_value("", 1), integer_value("", wide)};
    record(recording, "padded",
           {counted("x", {4, 5}), tensor_value("y", DType::f32, {4 + 1, 5 + wide}), sides},
           [=](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 5 * (5 + wide); ++i) f32(v[1])[i] = 0;
             for (std::int64_t i = 0; i < 20; ++i)
               f32(v[1])[(i / 5 + 1) * (5 + wide) + i % 5 + wide] = f32(v[0])[i];
           });
  }
  const Diagnosis said =
      judged(kFile, "padded", recording, {"", "def padded(x, pads):\n    h, w = x.shape\n", ""});
  EXPECT_EQ(said.verdict(), "pass") << said.error;
  EXPECT_NE(said.called_with.find("pad_h=1, pad_w=2"), std::string::npos) << said.called_with;
}

TEST(Computed, LabelsSaySizesInQuotientsInCopiesAndInWords) {
  const NamedSizes sizes =
      named_sizes({"K = weight.shape[0]\ngroup_size = K // scales.shape[0]\nlp = "
                   "torch.log_softmax(logits.float(), dim=-1)\n"
                   "B, T = lp.shape\n"});
  const auto found = [](const NamedSizes& list, const std::string& name) {
    return *std::find_if(list.begin(), list.end(), [&](const NamedSize& each) { return each.name == name; });
  };
  EXPECT_EQ(found(sizes, "group_size").tensor, "weight");
  EXPECT_EQ(found(sizes, "group_size").over, "scales");
  EXPECT_EQ(found(sizes, "T").tensor, "logits");
  EXPECT_EQ(found(sizes, "T").dim, 1);
  const NamedSizes words =
      sizes_in_documents("def f(blocks, h0):\n    \"\"\"blocks uint8 [..., G, W], h0 [N, P].\"\"\"\n");
  EXPECT_EQ(found(words, "W").tensor, "blocks");
  EXPECT_EQ(found(words, "W").dim, -1);
  EXPECT_EQ(found(words, "P").tensor, "h0");
}

}  // namespace
}  // namespace isomer::lab
