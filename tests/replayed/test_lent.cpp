// Memory that callers lend, calls of several ranks, and how far an answer may be off.
#include <gtest/gtest.h>

#include "lab/ask/recorded/replayed.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <cfloat>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "lent.cu";

Value counted(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value value = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i) f32(value)[i] = static_cast<float>(1 + i * 7 % 31);
  return value;
}

Recording sums_of_rows(const char* name) {
  Recording recording;
  for (const std::int64_t rows : {6, 9}) {
    constexpr std::int64_t kCols = 13;
    record(recording, name, {counted("x", {rows, kCols}), tensor_value("y", DType::f32, {rows})},
           [=](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < rows * kCols; ++i)
               f32(v[1])[i / kCols] = (i % kCols == 0 ? 0 : f32(v[1])[i / kCols]) + f32(v[0])[i];
           });
  }
  return recording;
}

TEST(Lent, AWorkspaceIsMemoryOfAnyContent) {
  const Diagnosis said = judged(kFile, "sum_rows", sums_of_rows("sum_rows"));
  EXPECT_EQ(said.verdict(), "pass") << said.error;
  EXPECT_TRUE(std::any_of(said.notes.begin(), said.notes.end(), [](const std::string& each) {
    return each.find("workspace is lent memory") != std::string::npos;
  }));
}

TEST(Lent, RoomIsForThemTooWhoRefuseWithoutIt) {
  const Diagnosis said = judged(kFile, "sum_rows_or_refuse", sums_of_rows("sum_rows_or_refuse"));
  EXPECT_EQ(said.verdict(), "pass") << said.error;
}

TEST(Lent, TwoStreamsMayEachHaveAPartOfIt) {
  const Diagnosis said = judged(kFile, "sum_rows_joined", sums_of_rows("sum_rows_joined"));
  EXPECT_EQ(said.verdict(), "pass") << (said.findings.empty() ? said.error : said.findings[0].evidence);
}

/// The same with one more argument of the label's.
Recording with_argument(const char* name, const Value& value) {
  Recording recording = sums_of_rows(name);
  for (RecordedCall& call : recording.calls) {
    Value own = value;
    if (own.kind == Value::Kind::integer) own.integer = call.before[0].tensor.size(1);
    call.before.push_back(own);
    call.after.push_back(own);
    call.keyword.push_back(false);
  }
  return recording;
}

TEST(Lent, ANumberThatIsNoneIsWhatTheSourceTakesForIt) {
  Value none;
  none.name = "limit";
  const Diagnosis said = judged(kFile, "sum_rows_limited", with_argument("sum_rows_limited", none));
  EXPECT_EQ(said.verdict(), "pass") << (said.findings.empty() ? said.error : said.findings[0].evidence);
}

TEST(Lent, AColumnsNumberCountsNoRows) {
  const Diagnosis said =
      judged(kFile, "sum_rows_of_columns", with_argument("sum_rows_of_columns", integer_value("columns", 0)));
  EXPECT_EQ(said.verdict(), "pass") << (said.findings.empty() ? said.error : said.findings[0].evidence);
  EXPECT_EQ(said.called_with, "N=6, K=13");
}

TEST(Lent, WhatIsReadOfItAndNobodyClearedIsTold) {
  const Diagnosis said = judged(kFile, "sum_rows_half_cleared", sums_of_rows("sum_rows_half_cleared"));
  expect_told(said, {Code::uninitialised_read}, "right where workspace holds zeros");
}

TEST(Lent, SizesOfCallsWithMoreDimensionsAreCountedFromTheLast) {
  Recording recording;
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{4, 17}, std::vector<std::int64_t>{2, 3, 45}}) {
    const std::int64_t cols = shape.back();
    record(recording, "scale_last",
           {counted("x", shape), counted("g", {cols}), tensor_value("y", DType::f32, shape)},
           [=](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < v[0].tensor.numel(); ++i)
               f32(v[2])[i] = f32(v[0])[i] * f32(v[1])[i % cols];
           });
  }
  const Diagnosis said = judged(kFile, "scale_last", recording);
  EXPECT_EQ(said.verdict(), "pass") << said.error;
}

Recording hidden(const char* name) {
  Recording recording;
  for (const std::int64_t shown : {9, 14})
    record(recording, name,
           {counted("x", {5, 20}), tensor_value("y", DType::f32, {5, 20}), integer_value("shown", shown)},
           [=](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < 100; ++i)
               f32(v[1])[i] = i % 20 < shown ? 2 * f32(v[0])[i] : -FLT_MAX;
           });
  return recording;
}

TEST(Lent, ANumberThatStandsForNoneIsNoMeasureOfTheOthers) {
  EXPECT_EQ(judged(kFile, "hide_behind", hidden("hide_behind")).verdict(), "pass");
  EXPECT_EQ(judged(kFile, "hide_behind_by_less", hidden("hide_behind_by_less")).verdict(), "fail");
}

TEST(Lent, WhatRoundingMovesMayBeOffUnlessTheUserSaysHowFar) {
  Replayed::Output output;
  const Value want = counted("y", {4});
  output.want = want.tensor;
  output.noise = {0, 0, 0.5, 0};
  const std::vector<double> elements = {1, 8, 15, 22};
  Approach approach;
  const std::vector<double> bounds = bounds_of(approach, output, elements);
  EXPECT_GT(bounds[2], 1);
  EXPECT_LT(bounds[1], 1e-3);
  approach.rtol = 1e-4;
  EXPECT_LT(bounds_of(approach, output, elements)[2], 1e-2);
}

}  // namespace
}  // namespace isomer::lab
