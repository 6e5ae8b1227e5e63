// What recorded answers say of an op: its name, where callers have another, and what its ports get wrong with
// the tensors that callers pass.
#include <gtest/gtest.h>

#include "diagnose/fake_candidate.hpp"
#include "lab/ask/reading.hpp"
#include "lab/ask/trial.hpp"
#include "lab/judge/diagnose.hpp"

#include <algorithm>
#include <cstdlib>

namespace isomer::lab {
namespace {

/// The call under another name, with the op's answers.
RecordedCall answered(const Port& port, const char* function, std::vector<Value> values) {
  RecordedCall call{.function = function, .before = std::move(values)};
  call.keyword.resize(call.before.size());
  const FakeCandidate original(port, {});
  call.after = original.call(original.entries()[0], call.before, {}).arguments;
  return call;
}

Recording packed_rows() {
  const Port& port = *find_port("quantize_copy_kv");
  Recording recording;
  for (const char* line : {"s=6 n=9 h=3 d=64", "s=5 n=8 h=2 d=32"})
    recording.calls.push_back(answered(port, "pack_rows", given_by_line(port, line)->values));
  return recording;
}

std::vector<std::string> found(const Diagnosis& diagnosis, std::string& text) {
  std::vector<std::string> list;
  text = diagnosis.error;
  for (const Finding& each : diagnosis.findings) {
    list.push_back(said_against(each));
    text += "\n" + said_against(each) + ": " + each.evidence;
  }
  for (const std::string& note : diagnosis.notes) text += "\nnote: " + note;
  return list;
}

Diagnosis of_packed_rows(const std::vector<std::string>& variations) {
  FakeCandidate candidate(*find_port("quantize_copy_kv"), variations);
  candidate.entries_[0].name = candidate.entries_[0].function = "pack_rows";
  DiagnoseRequest request;
  request.recording = std::make_shared<Recording>(packed_rows());
  return diagnose(candidate, request);
}

TEST(AnOpOfAnotherName, IsKnownByItsAnswers) {
  EXPECT_EQ(op_of_answers(packed_rows()), "quantize_copy_kv");
  Recording halved = packed_rows();
  for (RecordedCall& call : halved.calls) {
    auto* out = static_cast<std::int8_t*>(call.after[2].tensor.data);
    std::for_each(out, out + call.after[2].tensor.numel(),
                  [](std::int8_t& each) { each = static_cast<std::int8_t>(each / 2); });
  }
  EXPECT_EQ(op_of_answers(halved), "");
}

TEST(AnOpOfAnotherName, IsNoneWhereOneCallIsNone) {
  Recording recording = packed_rows();
  const Value x = tensor_value("x", DType::f32, {4});
  recording.calls.push_back(
      {.function = "pack_rows", .before = {x}, .keyword = {false}, .after = {deep_copy(x)}});
  EXPECT_EQ(op_of_answers(recording), "");
}

TEST(AnOpOfAnotherName, HasItsFaultsToldAsItsOwn) {
  std::string text;
  const Diagnosis right = of_packed_rows({});
  EXPECT_EQ(found(right, text), std::vector<std::string>{}) << text;
  EXPECT_EQ(right.verdict(), "pass") << text;
  const Diagnosis floored = of_packed_rows({"rounding=floor"});
  EXPECT_EQ(found(floored, text), std::vector<std::string>{"rounding-mode"}) << text;
  EXPECT_EQ(floored.op, "quantize_copy_kv") << text;
  EXPECT_NE(text.find("judged as quantize_copy_kv"), std::string::npos) << text;
}

/// Rows of 24 of which the first 16 are taken.
Value padded(const Value& value) {
  const Tensor& tensor = value.tensor;
  const std::int64_t width = tensor.size(3), rows = tensor.numel() / width;
  Value wide =
      tensor_value(value.name, tensor.dtype, {tensor.size(0), tensor.size(1), tensor.size(2), width + 8});
  for (std::int64_t i = 0; i < rows * (width + 8); ++i) {
    const std::int64_t row = i / (width + 8), column = i % (width + 8);
    static_cast<float*>(wide.tensor.data)[i] =
        column < width ? static_cast<const float*>(tensor.data)[row * width + column] : 7.0f;
  }
  wide.tensor.shape[3] = width;
  return wide;
}

TEST(APortThatTakesViewsForCompact, IsToldThatAndWhatElseItGetsWrong) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  BuildFailure failure;
  const auto candidate =
      build_candidate(std::filesystem::path(ISOMER_CANDIDATES) / "stage2_of_compact.cu", {}, failure);
  ASSERT_NE(candidate, nullptr) << failure.message;
  const Port& port = *find_port("flash_decode_stage2");
  DiagnoseRequest request;
  Recording recording;
  for (const char* line : {"b=2 h=3 nb=4 d=16 lengths=full", "b=3 h=2 nb=3 d=16"}) {
    std::vector<Value> values = given_by_line(port, line, {{"dtype", DType::f32}})->values;
    values[0] = padded(values[0]);
    recording.calls.push_back(answered(port, "flash_decode_stage2", std::move(values)));
  }
  request.recording = std::make_shared<Recording>(std::move(recording));
  std::string text;
  request.entry = "flash_decode_stage2";
  EXPECT_EQ(found(diagnose(*candidate, request), text),
            std::vector<std::string>{"assumes-contiguous mid_out"})
      << text;
  request.entry = "flash_decode_stage2_of_two";
  EXPECT_EQ(found(diagnose(*candidate, request), text),
            (std::vector<std::string>{"assumes-contiguous mid_out", "log-base"}))
      << text;
}

}  // namespace
}  // namespace isomer::lab
