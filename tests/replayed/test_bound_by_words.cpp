// Tensors, results and sizes that a function over raw memory calls by names of its own.
#include "recorded_call.hpp"

#include "lab/ask/names/alike.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "bound_by_words.cu";

Value filled(const char* name, const std::vector<std::int64_t>& shape) {
  Value x = tensor_value(name, DType::f32, shape);
  auto* elements = static_cast<float*>(x.tensor.data);
  for (std::int64_t i = 0; i < x.tensor.numel(); ++i)
    elements[i] = static_cast<float>((i * 29 + x.tensor.numel()) % 19) - 8.75F;
  return x;
}

Diagnosis judged_as(const char* entry, const Recording& recording, const std::string& label) {
  return judged(kFile, entry, recording, {"", label, ""});
}

TEST(BoundByWords, AResultMayBeLeftInAnArgument) {
  Recording recording;
  for (const std::int64_t count : {70, 33})
    record_returned(recording, "halve", {filled("x", {count})}, tensor_value("y", DType::f32, {count}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < count; ++i) f32(y)[i] = 0.5F * f32(v[0])[i];
                    });
  const std::string label = "def halve(x):\n    n = x.numel()\n";
  const Diagnosis said = judged_as("halve_in_place", recording, label);
  expect_told(said, {}, "");
  EXPECT_NE(std::find(said.notes.begin(), said.notes.end(), "after the call x holds what halve returns"),
            said.notes.end());
  EXPECT_EQ(judged_as("third_in_place", recording, label).verdict(), "fail");
}

TEST(BoundByWords, AResultThatIsCalledAsAnArgumentHasItsPointer) {
  Recording recording;
  for (const std::int64_t count : {70, 33})
    record_returned(recording, "halve", {filled("x", {count})}, tensor_value("x", DType::f32, {count}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < count; ++i) f32(y)[i] = 0.5F * f32(v[0])[i];
                    });
  const Diagnosis said = judged_as("halve_out_of_place", recording,
                                   "def halve(x):\n    n = x.numel()\n    x = x / 2\n    return x\n");
  expect_told(said, {}, "");
}

TEST(BoundByWords, OfTwoPointersTheResultIsTheOneThatIsRight) {
  Recording recording;
  for (const std::int64_t count : {70, 33})
    record_returned(recording, "energy", {filled("x", {count})}, tensor_value("", DType::f32, {1}),
                    [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < count; ++i) f32(y)[0] += f32(v[0])[i] * f32(v[0])[i];
                    });
  const std::string label = "def energy(x):\n    n = x.numel()\n";
  expect_told(judged_as("sum_of_squares", recording, label), {}, "");
  EXPECT_EQ(judged_as("sum_of_most_squares", recording, label).verdict(), "fail");
}

TEST(BoundByWords, TensorsPlanesAndHalvesAreTakenByTheirWords) {
  Recording recording;
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{2, 3, 5, 8}, {1, 4, 6, 12}}) {
    record_returned(recording, "scaled",
                    {filled("x", shape), filled("scale_first", {1}), filled("scale_second", {1})},
                    tensor_value("y", DType::f32, shape), [&](const std::vector<Value>& v, Value& y) {
                      for (std::int64_t i = 0; i < y.tensor.numel(); ++i)
                        f32(y)[i] = f32(v[0])[i] * (i % shape[3] < shape[3] / 2 ? 0.5F : 2.0F);
                    });
    // Scales of which each call has its own.
    for (Value& value : recording.calls.back().before)
      if (value.name != "x") f32(value)[0] = value.name == "scale_first" ? 0.5F : 2.0F;
    recording.calls.back().after = recording.calls.back().before;
    recording.calls.back().computed = {integer_value("half", shape[3] / 2)};
  }
  const std::string label =
      "def scaled(x, scale_first, scale_second):\n    n, c, h, w = x.shape\n    half = w // 2\n";
  const Diagnosis said = judged_as("scale_halves", recording, label);
  expect_told(said, {}, "");
  EXPECT_EQ(said.called_with, "planes=6, height=5, width=8, half_width=4");
  EXPECT_EQ(judged_as("scale_halves_alike", recording, label).verdict(), "fail");
}

TEST(BoundByWords, ANumberThatNothingExplainsIsNoFault) {
  Recording recording;
  record_returned(recording, "scaled", {filled("x", {90}), integer_value("sample_rate", 16000)},
                  tensor_value("y", DType::f32, {90}), [&](const std::vector<Value>& v, Value& y) {
                    for (std::int64_t i = 0; i < 90; ++i) f32(y)[i] = 8000.0F * f32(v[0])[i];
                  });
  const Diagnosis said =
      judged_as("scale_by_nyquist", recording, "def scaled(x, sample_rate=16000):\n    n = x.numel()\n");
  EXPECT_EQ(said.verdict(), "error");
  EXPECT_NE(said.error.find("what nyquist_hz of scale_by_nyquist is is not known"), std::string::npos)
      << said.error;
  EXPECT_TRUE(said.findings.empty());
}

TEST(BoundByWords, WhatANameOfATensorSays) {
  EXPECT_GT(likeness_of_tensors("input_indptr", "indptr"), 0);
  EXPECT_GT(likeness_of_tensors("first_scale", "scale_first"), 0);
  EXPECT_GT(likeness_of_tensors("indices", "ids"), 0);
  EXPECT_EQ(likeness_of_tensors("shingles", "offsets"), 0);
  EXPECT_TRUE(are_of_the_same_words("num_pairs", "pairs"));
  EXPECT_FALSE(are_of_the_same_words("head_dim", "dim"));
  EXPECT_GT(shared_words("save_stride", "save_every"), 0);
}

}  // namespace
}  // namespace isomer::lab
