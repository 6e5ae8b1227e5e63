// Faults whose cause shows in one experiment alone, and labels that leave elements of their answer unset: who
// leaves them as well, or writes them, is right.
#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace isomer::lab {
namespace {

std::mt19937& numbers() {
  static std::mt19937 engine;
  return engine;
}
Value drawn(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value value = tensor_value(name, DType::f32, shape);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    static_cast<float*>(value.tensor.data)[i] = normal(numbers());
  return value;
}
float* f32(const Value& value) { return static_cast<float*>(value.tensor.data); }

RecordedCall returned(const char* label, std::vector<Value> arguments, Value answer) {
  RecordedCall call{.function = label, .before = std::move(arguments)};
  call.keyword.resize(call.before.size());
  for (const Value& each : call.before) call.after.push_back(deep_copy(each));
  call.returned = {std::move(answer)};
  return call;
}

/// The second half of each row is what lay there.
void half_rows(Recording& recording) {
  for (const std::int64_t width : {16, 24}) {
    const Value x = drawn("x", {5, width});
    Value y = tensor_value("", DType::f32, {5, width}), unset = tensor_value("", DType::u8, {5, width});
    unset.boolean = true;
    for (std::int64_t i = 0; i < 5 * width; ++i) {
      const bool open = i % width >= width / 2;
      f32(y)[i] = open ? 1e30F * static_cast<float>(i % 3) : 2 * f32(x)[i];
      static_cast<std::uint8_t*>(unset.tensor.data)[i] = open ? 1 : 0;
    }
    recording.calls.push_back(returned("half_rows", {x}, y));
    recording.calls.back().unset = {unset};
  }
}

void log_sums(Recording& recording) {
  for (const double scale : {0.5, 3.0}) {
    const Value x = drawn("x", {6, 40});
    const Value z = tensor_value("", DType::f32, {6});
    for (int r = 0; r < 6; ++r) {
      double sum = 0;
      for (int c = 0; c < 40; ++c) sum += std::exp(scale * f32(x)[40 * r + c]);
      f32(z)[r] = static_cast<float>(std::log(sum));
    }
    recording.calls.push_back(returned("log_sums", {x, real_value("scale", scale)}, z));
  }
  recording.metadata["facts"] =
      R"({"label": {"file": "1_label_source.py", "subtracts_maximum": true, "functions": []},
      "test": {"file": "3_test_code.py", "functions": [], "observes": true, "draws": 0, "seeds": true}})";
}

void bent_sums(Recording& recording) {
  for (const std::int64_t width : {16, 24}) {
    const Value a = drawn("a", {7, width}), b = drawn("b", {7, width}), bias = drawn("bias", {width});
    const Value out = tensor_value("", DType::f32, {7, width});
    for (std::int64_t i = 0; i < 7 * width; ++i)
      f32(out)[i] = static_cast<float>(std::tanh(double(f32(a)[i]) + 0.5 * f32(b)[i] + f32(bias)[i % width]));
    recording.calls.push_back(returned("bent_sums", {a, b, bias}, out));
  }
}

std::string text_of(const Diagnosis& said) {
  std::string text = said.verdict() + " " + said.error;
  for (const Finding& each : said.findings) text += "\n" + said_against(each) + ": " + each.evidence;
  return text;
}

struct Row {
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.entry; }
  const char *label, *entry;
  std::vector<std::string> found;  ///< codes; empty: it passes
};
class Causes : public testing::TestWithParam<Row> {};

TEST_P(Causes, AreNamedAndNoOthers) {
  const Row& row = GetParam();
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  static BuildFailure failure;
  static const std::shared_ptr<const Candidate> built =
      build_candidate(std::filesystem::path(ISOMER_CANDIDATES) / "causes.hip.cpp", {}, failure);
  ASSERT_NE(built, nullptr) << failure.place.line << ": " << failure.message;
  numbers().seed(5);
  Recording recording;
  if (row.label == std::string("half_rows")) half_rows(recording);
  if (row.label == std::string("log_sums")) log_sums(recording);
  if (row.label == std::string("bent_sums")) bent_sums(recording);
  DiagnoseRequest request;
  request.entry = row.entry;
  request.texts = {row.label == std::string("bent_sums") ? "rows, width = a.shape" : "rows, width = x.shape"};
  for (RecordedCall& call : recording.calls) call.function = row.entry;
  request.recording = std::make_shared<Recording>(std::move(recording));
  const Diagnosis said = diagnose(*built, request);
  std::vector<std::string> codes;
  for (const Finding& each : said.findings) codes.emplace_back(name_of(each.code));
  EXPECT_EQ(codes, row.found) << text_of(said);
  EXPECT_EQ(said.verdict(), row.found.empty() ? "pass" : "fail") << text_of(said);
}

INSTANTIATE_TEST_SUITE_P(Of, Causes,
                         testing::Values(Row{"half_rows", "half_rows", {}},
                                         Row{"half_rows", "half_rows_and_more", {}},
                                         Row{"half_rows", "half_rows_thrice", {"missing-scale"}},
                                         Row{"log_sums", "log_sums", {}},
                                         Row{"log_sums", "log_sums_scaled_late", {"missing-scale"}},
                                         Row{"log_sums", "log_sums_from_second", {"off-by-one"}},
                                         // Its maximum is that of all, so that -inf comes of large rows.
                                         Row{"log_sums", "log_sums_without_first", {"unexplained"}},
                                         Row{"bent_sums", "bent_sums", {}},
                                         Row{"bent_sums", "bent_sums_of_whole", {"missing-scale"}},
                                         Row{"bent_sums", "bent_sums_by_the_host", {"no-kernel"}}),
                         [](const auto& info) { return std::string(info.param.entry); });

}  // namespace
}  // namespace isomer::lab
