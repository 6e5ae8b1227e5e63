// Sizes that no recorded call has and the label answered: what is right for whole blocks alone is told so.
#include <gtest/gtest.h>

#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"

#include <cstdlib>
#include <functional>

namespace isomer::lab {
namespace {

using Act = std::function<void(std::vector<Value>&)>;

float* f32(const Value& value) { return static_cast<float*>(value.tensor.data); }

Value counted(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value value = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i) f32(value)[i] = static_cast<float>(1 + i * 7 % 31);
  return value;
}
RecordedCall answered(const char* label, const std::vector<Value>& arguments, const Act& act) {
  RecordedCall call{.function = label, .before = arguments, .keyword = {false, false}};
  for (const Value& each : arguments) call.after.push_back(deep_copy(each));
  act(call.after);
  return call;
}

/// Calls of `make(size)` for the test's sizes, and for others in place of the first.
Recording with(const std::function<RecordedCall(std::int64_t)>& make, const std::vector<std::int64_t>& sizes,
               const std::vector<std::int64_t>& others) {
  Recording recording;
  for (const std::int64_t size : sizes) recording.calls.push_back(make(size));
  for (const std::int64_t size : others) {
    recording.asked.push_back(make(size));
    recording.asked.back().asked = "size";
    recording.asked.back().size_before = sizes.front();
    recording.asked.back().size = size;
  }
  return recording;
}

RecordedCall row_mean(std::int64_t width) {
  return answered("row_mean", {counted("x", {3, width}), tensor_value("mean", DType::f32, {3})},
                  [=](std::vector<Value>& v) {
                    for (int r = 0; r < 3; ++r) {
                      double sum = 0;
                      for (int c = 0; c < width; ++c) sum += f32(v[0])[r * width + c];
                      f32(v[1])[r] = static_cast<float>(sum / static_cast<double>(width));
                    }
                  });
}
RecordedCall copy_all(std::int64_t n) {
  return answered("copy_all", {counted("x", {n}), tensor_value("y", DType::f32, {n})},
                  [=](std::vector<Value>& v) { std::copy_n(f32(v[0]), n, f32(v[1])); });
}
RecordedCall double_rows(std::int64_t width) {
  return answered("double_rows", {counted("x", {3, width}), tensor_value("y", DType::f32, {3, width})},
                  [=](std::vector<Value>& v) {
                    for (int i = 0; i < 3 * width; ++i) f32(v[1])[i] = 2 * f32(v[0])[i];
                  });
}

Diagnosis said_of(const char* entry, Recording recording, const std::string& label = {}) {
  static const std::shared_ptr<const Candidate> built = [] {
    setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
    BuildFailure failure;
    auto made = build_candidate(std::filesystem::path(ISOMER_CANDIDATES) / "sizes.hip.cpp", {}, failure);
    EXPECT_NE(made, nullptr) << failure.place.line << ": " << failure.message;
    return made;
  }();
  DiagnoseRequest request;
  request.entry = entry;
  request.recording = std::make_shared<Recording>(std::move(recording));
  if (!label.empty()) request.texts = {label};
  return diagnose(*built, request);
}

/// Rows of k and v, of which one has no slot.
Recording store_both() {
  Value slots = tensor_value("slots", DType::i64, {3});
  for (int i = 0; i < 3; ++i) static_cast<std::int64_t*>(slots.tensor.data)[i] = i - 1;
  RecordedCall call =
      answered("store_both",
               {counted("k", {3, 8}), counted("v", {3, 8}), slots, tensor_value("keys", DType::f32, {4, 8}),
                tensor_value("values", DType::f32, {4, 8})},
               [](std::vector<Value>& v) {
                 for (int i = 8; i < 24; ++i)
                   for (int t = 0; t < 2; ++t) f32(v[3 + t])[i - 8] = f32(v[t])[i];
               });
  call.keyword.resize(5);
  return {.calls = {call}};
}

TEST(Overruns, OfTwoArgumentsInOneLineAreBothTold) {
  EXPECT_EQ(said_of("store_both", store_both()).verdict(), "pass");
  const Diagnosis diagnosis = said_of("store_both_anywhere", store_both());
  std::vector<std::string> found;
  for (const Finding& each : diagnosis.findings)
    if (each.code == Code::out_of_bounds_write) found.push_back(each.argument);
  EXPECT_EQ(found, (std::vector<std::string>{"keys", "values"})) << diagnosis.findings.at(0).evidence;
  for (const Finding& each : diagnosis.findings)
    EXPECT_EQ(each.code, Code::out_of_bounds_write) << each.evidence;
}

/// A label that returns what it makes, over tiles whose size its callers say.
Recording double_by_tiles() {
  Value x = counted("x", {100}), y = tensor_value("", DType::f32, {100});
  for (int i = 0; i < 100; ++i) f32(y)[i] = 2 * f32(x)[i];
  RecordedCall call{.function = "double_by_tiles", .before = {x, integer_value("BLOCK_SIZE", 1024)}};
  call.keyword = {false, true};
  call.after = call.before;
  call.returned = {y};
  return {.calls = {call}};
}

TEST(ANumber, IsACountAndNotTheSizeOfATile) {
  const Diagnosis right = said_of("double_by_tiles", double_by_tiles());
  EXPECT_EQ(right.verdict(), "pass") << right.called_with;
  EXPECT_EQ(right.called_with, "n=100");
  EXPECT_EQ(said_of("double_all_but_last", double_by_tiles()).verdict(), "fail");
}

/// Sums of rows, of a tensor whose leading dimensions the label makes one.
Recording sum_flat() {
  Recording recording;
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{4, 5}, std::vector<std::int64_t>{2, 3, 5}}) {
    Value x = counted("x", shape);
    Value z = tensor_value("", DType::f32, {shape.begin(), shape.end() - 1});
    for (std::int64_t r = 0; r < z.tensor.numel(); ++r) {
      f32(z)[r] = 0;
      for (int c = 0; c < 5; ++c) f32(z)[r] += f32(x)[r * 5 + c];
    }
    RecordedCall call{.function = "sum_flat", .before = {x}, .keyword = {false}};
    call.after = call.before;
    call.returned = {z};
    recording.calls.push_back(call);
  }
  return recording;
}

TEST(ANumber, OfRowsIsThatOfAllLeadingDimensionsWhereTheLabelMakesThemOne) {
  const std::string label = "def sum_flat(x):\n    x = x.view(-1, x.shape[-1])\n    N, D = x.shape\n";
  EXPECT_EQ(said_of("sum_flat", sum_flat(), label).verdict(), "pass");
  EXPECT_EQ(said_of("sum_flat_but_first", sum_flat(), label).verdict(), "fail");
}

TEST(AResult, ThatIsAnArgumentIsNotTheMemoryOfTheOther) {
  Value a = counted("a", {50}), c = tensor_value("", DType::f32, {50});
  for (int i = 0; i < 50; ++i) f32(c)[i] = 2 * f32(a)[i];
  RecordedCall call{.function = "keep_and_double", .before = {a}, .keyword = {false}};
  call.after = call.before;
  call.returned = {a, c};
  const Diagnosis said = said_of("keep_and_double", {.calls = {call}});
  EXPECT_EQ(said.verdict(), "pass") << (said.findings.empty() ? said.error : said.findings.front().evidence);
}

struct Row {
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.entry; }
  RecordedCall (*label)(std::int64_t);
  const char* entry;
  std::vector<std::string> found;  ///< codes with their arguments
  const char* evidence;            ///< what the first says
};

class OtherSizes : public testing::TestWithParam<Row> {};

TEST_P(OtherSizes, ShowWhatTheTestsHide) {
  const Row& row = GetParam();
  const Diagnosis diagnosis = said_of(row.entry, with(row.label, {64, 32}, {63, 61, 32}));
  std::vector<std::string> found;
  std::string text = diagnosis.error;
  for (const Finding& each : diagnosis.findings) {
    found.push_back(said_against(each));
    text += std::string(name_of(each.code)) + ": " + each.evidence + "\n";
    EXPECT_GT(each.location.line, 0);
  }
  EXPECT_EQ(found, row.found) << text;
  EXPECT_EQ(diagnosis.verdict(), row.found.empty() ? "pass" : "fail") << text;
  EXPECT_EQ(diagnosis.calls, 2) << "what the recorder asked is no call of the test";
  EXPECT_NE(text.find(row.evidence), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Candidates, OtherSizes,
    testing::ValuesIn(std::vector<Row>{
        {row_mean, "row_mean", {}, ""},
        {row_mean, "row_mean_of_fours", {"tail-mask mean"}, "wrong for 63, 61"},
        {row_mean, "row_mean_that_refuses", {"shape-refused"}, "the width has to be a multiple of 4"},
        {copy_all, "copy_all", {}, ""},
        {copy_all,
         "copy_all_in_fours",
         {"out-of-bounds-write y", "out-of-bounds-read x"},
         "63 instead of 64"},
        {double_rows, "double_rows", {}, ""},
        {double_rows, "double_rows_of_vectors", {"crash"}, "right for 32 and 64"},
    }),
    [](const auto& info) { return std::string(info.param.entry); });

TEST(OtherSizesAlone, ForWhichNothingIsLaunchedAreALimit) {
  const Diagnosis said = said_of("row_mean_that_launches_nothing", with(row_mean, {64, 32}, {63, 61, 32}));
  EXPECT_EQ(said.verdict(), "pass");
  ASSERT_EQ(said.findings.size(), 1u);
  EXPECT_NE(said.findings.front().evidence.find("it launches no kernel for it"), std::string::npos)
      << said.findings.front().evidence;
}

TEST(OtherSizesAlone, ForWhichNothingIsLaunchedAreAFaultOfWhoReturnsNoStatus) {
  const Diagnosis said = said_of("row_mean_that_says_nothing", with(row_mean, {64, 32}, {63, 61, 32}));
  EXPECT_EQ(said.verdict(), "fail");
  ASSERT_EQ(said.findings.size(), 1u);
  EXPECT_EQ(said.findings.front().code, Code::tail_mask) << said.findings.front().evidence;
}

TEST(OtherSizesAlone, SayNothingWhereAnEvenOneIsWrongAsWell) {
  // An answer to 32 that no candidate gives: then the size is no cause.
  Recording recording = with(row_mean, {64}, {63, 32});
  EXPECT_EQ(said_of("row_mean_of_fours", recording).verdict(), "fail");
  for (int i = 0; i < 3; ++i) f32(recording.asked[1].after[1])[i] += 1;
  EXPECT_EQ(said_of("row_mean_of_fours", recording).verdict(), "pass");
}

TEST(OtherSizesAlone, AreNotAskedOfWhatIsWrongAnyway) {
  Recording recording = with(row_mean, {64, 32}, {63});
  for (RecordedCall& call : recording.calls)
    for (int i = 0; i < 3; ++i) f32(call.after[1])[i] *= 3;
  const Diagnosis diagnosis = said_of("row_mean_of_fours", recording);
  EXPECT_EQ(diagnosis.verdict(), "fail");
  for (const Finding& each : diagnosis.findings) EXPECT_NE(each.code, Code::tail_mask) << each.evidence;
}

}  // namespace
}  // namespace isomer::lab
