// Memory that a candidate takes and no caller passes: tensors that the label computes on its way, and room.
#include "recorded_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "own_tensors.cu";
constexpr const char* kLabel =
    "def segments(x, lengths, out):\n    \"\"\"x [N, D], lengths [S], out [S, D].\"\"\"\n";
constexpr const char* kNote = "starts is what the label computes on its way";

Value whole(const std::string& name, const std::vector<std::int64_t>& list) {
  Value value = tensor_value(name, DType::i64, {static_cast<std::int64_t>(list.size())});
  std::copy(list.begin(), list.end(), static_cast<std::int64_t*>(value.tensor.data));
  return value;
}

/// Calls with segments of these lengths; `known`: what the label sums up is recorded.
Recording segments(const std::vector<std::vector<std::int64_t>>& calls, bool known = true) {
  Recording recording;
  constexpr std::int64_t kWidth = 6;
  for (const std::vector<std::int64_t>& lengths : calls) {
    std::vector<std::int64_t> starts = {0};
    for (const std::int64_t each : lengths) starts.push_back(starts.back() + each);
    Value x = tensor_value("x", DType::f32, {starts.back(), kWidth});
    for (std::int64_t i = 0; i < x.tensor.numel(); ++i) f32(x)[i] = static_cast<float>(1 + i * 7 % 31);
    const auto count = static_cast<std::int64_t>(lengths.size());
    record(recording, "segments",
           {x, whole("lengths", lengths), tensor_value("out", DType::f32, {count, kWidth})},
           [&](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < count * kWidth; ++i) {
               f32(v[2])[i] = 0;
               for (std::int64_t row = starts[static_cast<std::size_t>(i / kWidth)];
                    row < starts[static_cast<std::size_t>(i / kWidth) + 1]; ++row)
                 f32(v[2])[i] += f32(v[0])[row * kWidth + i % kWidth];
             }
           });
    if (known)
      recording.calls.back().computed = {integer_value("total", starts.back()), whole("starts", starts)};
  }
  return recording;
}

Diagnosis judged_as(const char* entry, const Recording& recording) {
  return judged(kFile, entry, recording, {"", kLabel, ""});
}

bool notes(const Diagnosis& said, const std::string& note) {
  return std::find(said.notes.begin(), said.notes.end(), note) != said.notes.end();
}

const std::vector<std::vector<std::int64_t>> kCalls = {{3, 1, 5, 2}, {1, 12, 4}};

TEST(OwnTensors, AreThePointersOfTheirNames) {
  for (const char* entry : {"given", "given_loosely"}) {
    const Diagnosis said = judged_as(entry, segments(kCalls));
    EXPECT_EQ(said.verdict(), "pass") << entry << said.error;
    EXPECT_TRUE(said.findings.empty()) << entry;
    EXPECT_TRUE(notes(said, kNote)) << entry;
  }
  const Diagnosis wrong = judged_as("given_late", segments(kCalls));
  EXPECT_EQ(wrong.verdict(), "fail") << wrong.error;
  EXPECT_TRUE(notes(wrong, kNote));
}

TEST(OwnTensors, AreKeptInAFile) {
  const std::string path = testing::TempDir() + "own_tensors.safetensors";
  save_recording(path, segments(kCalls));
  const Recording loaded = load_recording(path);
  std::filesystem::remove(path);
  ASSERT_EQ(loaded.calls.at(0).computed.size(), 2u);
  EXPECT_EQ(loaded.calls[0].computed[1].tensor.describe(), "i64[5]");
  EXPECT_EQ(judged_as("given", loaded).verdict(), "pass");
}

TEST(OwnTensors, ACallWithoutThemIsNotAsked) {
  Recording recording = segments(kCalls);
  recording.calls.back().computed.clear();
  const Diagnosis said = judged_as("given", recording);
  EXPECT_EQ(said.verdict(), "pass") << said.error;
  EXPECT_NE(judged_as("given", segments(kCalls, false)).verdict(), "pass");
}

TEST(OwnTensors, WhatTheCandidateWritesItselfIsRoomAndNotRightBefore) {
  const Diagnosis right = judged_as("fills", segments(kCalls));
  EXPECT_EQ(right.verdict(), "pass") << right.error;
  EXPECT_TRUE(notes(right, "starts is lent memory, which the label has none of"));
  EXPECT_EQ(judged_as("fills_in_part", segments(kCalls)).verdict(), "fail");
}

TEST(OwnTensors, RoomOfAnyNameIsLentWhereTheCandidateFillsIt) {
  const std::string note = "first is lent memory, which the label has none of";
  const Diagnosis right = judged_as("first_rows", segments(kCalls));
  EXPECT_EQ(right.verdict(), "pass") << right.error;
  EXPECT_TRUE(notes(right, note));
  const Diagnosis wrong = judged_as("first_rows_late", segments(kCalls));
  EXPECT_EQ(wrong.verdict(), "fail") << wrong.error;
  EXPECT_TRUE(notes(wrong, note));
  // Who reads there what it has not written was meant to be given it.
  const Diagnosis unknown = judged_as("unknown_rows", segments(kCalls));
  EXPECT_EQ(unknown.verdict(), "error");
  EXPECT_NE(unknown.error.find("takes first, for which the recorded calls pass nothing"), std::string::npos)
      << unknown.error;
}

}  // namespace
}  // namespace isomer::lab
