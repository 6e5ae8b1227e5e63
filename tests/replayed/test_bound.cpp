// How recorded calls are made where no caller says the sizes, and what is not told of a candidate for it.
#include <gtest/gtest.h>

#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>

namespace isomer::lab {
namespace {

using Act = std::function<void(std::vector<Value>&)>;
using Shape = std::vector<std::int64_t>;

float* f32(const Value& value) { return static_cast<float*>(value.tensor.data); }

Value counted(const std::string& name, const Shape& shape) {
  Value value = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    f32(value)[i] = 0.125F * static_cast<float>(1 + i * 7 % 31);
  return value;
}

RecordedCall answered(const std::vector<Value>& arguments, const Act& act) {
  RecordedCall call{.function = "label", .before = arguments};
  call.keyword.resize(arguments.size());
  for (const Value& each : arguments) call.after.push_back(deep_copy(each));
  act(call.after);
  return call;
}

Diagnosis said_of(const char* file, const char* entry, Recording recording) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  BuildFailure failure;
  const std::shared_ptr<const Candidate> built =
      build_candidate(std::filesystem::path(ISOMER_CANDIDATES) / file, {}, failure);
  EXPECT_NE(built, nullptr) << failure.place.line << ": " << failure.message;
  DiagnoseRequest request;
  request.entry = entry;
  request.recording = std::make_shared<Recording>(std::move(recording));
  return diagnose(*built, request);
}

std::string words_of(const Diagnosis& said) {
  std::string text = said.verdict() + " (" + said.called_with + ") " + said.error;
  for (const Finding& each : said.findings) text += "\n" + said_against(each) + ": " + each.evidence;
  return text;
}
bool has(const Diagnosis& said, Code code) {
  return std::any_of(said.findings.begin(), said.findings.end(),
                     [&](const Finding& each) { return each.code == code; });
}

Recording channels() {
  Recording recording;
  for (const Shape& shape : {Shape{2, 4, 3, 5}, Shape{1, 6, 2, 7}})
    recording.calls.push_back(
        answered({counted("x", shape), counted("gamma", {shape[1]}), tensor_value("y", DType::f32, shape)},
                 [&](std::vector<Value>& v) {
                   for (std::int64_t i = 0; i < v[0].tensor.numel(); ++i)
                     f32(v[2])[i] = f32(v[0])[i] * f32(v[1])[i / (shape[2] * shape[3]) % shape[1]];
                 }));
  return recording;
}

Recording products() {
  Recording recording;
  for (const auto& [b, m, n, k] : {std::array<std::int64_t, 4>{2, 3, 5, 7}, {3, 8, 20, 40}})
    recording.calls.push_back(
        answered({counted("A", {b, m, k}), counted("B", {b, k, n}), counted("C", {b, m, n})},
                 [b = b, m = m, n = n, k = k](std::vector<Value>& v) {
                   for (std::int64_t i = 0; i < b * m * n; ++i) {
                     double sum = 0;
                     for (std::int64_t j = 0; j < k; ++j)
                       sum += static_cast<double>(f32(v[0])[i / n * k + j]) *
                              f32(v[1])[(i / (m * n) * k + j) * n + i % n];
                     f32(v[2])[i] = static_cast<float>(sum);
                   }
                 }));
  return recording;
}

RecordedCall halves(std::int64_t n, std::int64_t half) {
  return answered({counted("x", {n}), tensor_value("y", DType::f32, {half})}, [=](std::vector<Value>& v) {
    for (std::int64_t i = 0; i < half; ++i)
      f32(v[1])[i] = f32(v[0])[i] * f32(v[0])[std::min(half + i, n - 1)];
  });
}

RecordedCall weights(std::int64_t n) {
  return answered({counted("x", {n}), tensor_value("y", DType::f32, {n})}, [=](std::vector<Value>& v) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::exp(f32(v[0])[i]);
    for (std::int64_t i = 0; i < n; ++i) f32(v[1])[i] = static_cast<float>(std::exp(f32(v[0])[i]) / sum);
  });
}

RecordedCall total(std::int64_t n) {
  return answered({counted("x", {n}), tensor_value("y", DType::f32, {1})}, [=](std::vector<Value>& v) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += f32(v[0])[i];
    f32(v[1])[0] = static_cast<float>(sum);
  });
}

TEST(Sizes, OfAnImageAreThoseOfItsDimensionsInTheirOrder) {
  const Diagnosis right = said_of("bound.cu", "scale_channels", channels());
  EXPECT_EQ(right.verdict(), "pass") << words_of(right);
  EXPECT_EQ(right.called_with, "N=2, C=4, H=3, W=5");
  const Diagnosis wrong = said_of("bound.cu", "scale_next_channels", channels());
  EXPECT_EQ(wrong.verdict(), "fail") << words_of(wrong);
  EXPECT_EQ(wrong.called_with, right.called_with) << "a fault makes no other sizes likelier";
  EXPECT_FALSE(has(wrong, Code::out_of_bounds_read) || has(wrong, Code::unwritten_output)) << words_of(wrong);
}

TEST(Sizes, OfAProductAreByTheirLetters) {
  const Diagnosis right = said_of("bound.cu", "multiply_batches", products());
  EXPECT_EQ(right.verdict(), "pass") << words_of(right);
  EXPECT_EQ(right.called_with, "BATCH=2, M=3, N=5, K=7");
  const Diagnosis wrong = said_of("bound.cu", "multiply_whole_tiles", products());
  EXPECT_EQ(wrong.called_with, right.called_with);
  EXPECT_TRUE(has(wrong, Code::tail_mask)) << words_of(wrong);
  EXPECT_FALSE(has(wrong, Code::ignores_argument)) << words_of(wrong);
}

TEST(AMadeSize, OfWhichTheLabelMakesAnotherShapeSaysNothing) {
  Recording recording = {.calls = {halves(8, 4), halves(40, 20)}};
  recording.asked.push_back(halves(3, 2));
  recording.asked.back().asked = "size";
  recording.asked.back().size_before = 8;
  recording.asked.back().size = 3;
  const Diagnosis right = said_of("bound.cu", "gate_halves", recording);
  EXPECT_EQ(right.verdict(), "pass") << words_of(right);
  EXPECT_EQ(said_of("bound.cu", "gate_halves_but_last", recording).verdict(), "fail");
}

TEST(AMadeSize, ThatIsRefusedIsALimitWhereTheLabelHasNoKernels) {
  const auto mean = [](std::int64_t width) {
    return answered({counted("x", {3, width}), tensor_value("mean", DType::f32, {3})},
                    [=](std::vector<Value>& v) {
                      for (int r = 0; r < 3; ++r) {
                        double sum = 0;
                        for (std::int64_t c = 0; c < width; ++c) sum += f32(v[0])[r * width + c];
                        f32(v[1])[r] = static_cast<float>(sum / static_cast<double>(width));
                      }
                    });
  };
  Recording recording = {.calls = {mean(64), mean(32)}, .asked = {mean(63), mean(32)}};
  for (RecordedCall& each : recording.asked) {
    each.asked = "size";
    each.size_before = 64;
    each.size = each.before[0].tensor.size(1);
  }
  EXPECT_TRUE(has(said_of("sizes.hip.cpp", "row_mean_that_refuses", recording), Code::shape_refused));
  recording.metadata["facts"] =
      R"({"label": {"functions": [], "has_kernels": false}, "test": {"functions": []}})";
  const Diagnosis said = said_of("sizes.hip.cpp", "row_mean_that_refuses", recording);
  EXPECT_EQ(said.verdict(), "pass") << words_of(said);
  EXPECT_TRUE(has(said, Code::convention)) << words_of(said);
}

TEST(AMaximum, IsMissingWhereLargeValuesOverflowAndNotWhereSumsAreOfNothing) {
  Recording recording = {.calls = {weights(7), weights(40)}};
  recording.metadata["facts"] =
      R"({"label": {"functions": [], "subtracts_maximum": true}, "test": {"functions": []}})";
  const Diagnosis tiles = said_of("bound.cu", "weigh_by_tiles", recording);
  EXPECT_EQ(tiles.verdict(), "fail") << words_of(tiles);
  EXPECT_FALSE(has(tiles, Code::missing_max_subtraction)) << words_of(tiles);
  const Diagnosis without = said_of("bound.cu", "weigh_without_maximum", recording);
  EXPECT_TRUE(has(without, Code::missing_max_subtraction)) << words_of(without);
}

TEST(AnEnd, IsNoCauseWhereOtherElementsAreLeftOutToo) {
  const Recording recording = {.calls = {total(8), total(100)}};
  EXPECT_EQ(said_of("bound.cu", "add_all", recording).verdict(), "pass");
  const Diagnosis said = said_of("bound.cu", "add_every_second", recording);
  EXPECT_EQ(said.verdict(), "fail") << words_of(said);
  EXPECT_FALSE(has(said, Code::tail_mask)) << words_of(said);
}

/// x of 4 rows times a factor for each column, where the test's launch reaches so many columns.
RecordedCall spread(std::int64_t reached, float before) {
  constexpr std::int64_t kRows = 4, kColumns = 10;
  Value y = tensor_value("y", DType::f32, {kRows, kColumns});
  for (std::int64_t i = 0; i < kRows * kColumns; ++i) f32(y)[i] = before;
  return answered({counted("x", {kRows, kColumns}), counted("factor", {kColumns}), y},
                  [=](std::vector<Value>& v) {
                    for (std::int64_t i = 0; i < kRows * kColumns; ++i)
                      if (i % kColumns < reached) f32(v[2])[i] = f32(v[0])[i] * f32(v[1])[i % kColumns];
                  });
}

TEST(AnElement, ThatTheTestsOwnLaunchDoesNotReachIsOpenWhereAnotherCallWritesIt) {
  const Recording recording = {.calls = {spread(10, -1), spread(5, -2)}};
  const Diagnosis right = said_of("bound.cu", "spread_columns", recording);
  EXPECT_EQ(right.verdict(), "pass") << words_of(right);
  const Diagnosis wrong = said_of("bound.cu", "spread_rows", recording);
  EXPECT_EQ(wrong.verdict(), "fail") << words_of(wrong);
  // Where no call says what is written there, that it is left as it was is the label's answer.
  EXPECT_EQ(said_of("bound.cu", "spread_columns", {.calls = {spread(5, -2), spread(5, -1)}}).verdict(),
            "fail");
}

TEST(AnInput, OfWhichInfinitiesAloneAreWrongIsTheirCauseAndNoEnd) {
  const auto numbers = [](std::int64_t n) {
    Value x = counted("x", {n});
    f32(x)[0] = NAN;
    f32(x)[n - 1] = INFINITY;
    return answered({x, tensor_value("y", DType::f32, {n})}, [=](std::vector<Value>& v) {
      for (std::int64_t i = 0; i < n; ++i) f32(v[1])[i] = std::isfinite(f32(v[0])[i]) ? f32(v[0])[i] : 0.0F;
    });
  };
  const Recording recording = {.calls = {numbers(9), numbers(40)}};
  const Diagnosis right = said_of("bound.cu", "keep_numbers", recording);
  EXPECT_EQ(right.verdict(), "pass") << words_of(right);
  const Diagnosis wrong = said_of("bound.cu", "keep_numbers_and_infinities", recording);
  EXPECT_TRUE(has(wrong, Code::nan_inf)) << words_of(wrong);
  EXPECT_FALSE(has(wrong, Code::tail_mask)) << words_of(wrong);
}

TEST(AChoice, OfTheLeastForTheLargestIsAConditionThatIsTurned) {
  const auto places = [](std::int64_t rows, std::int64_t columns) {
    return answered(
        {counted("x", {rows, columns}), tensor_value("y", DType::i64, {rows})}, [=](std::vector<Value>& v) {
          for (std::int64_t r = 0; r < rows; ++r) {
            const float* row = f32(v[0]) + r * columns;
            static_cast<std::int64_t*>(v[1].tensor.data)[r] = std::max_element(row, row + columns) - row;
          }
        });
  };
  const Recording recording = {.calls = {places(5, 12), places(9, 31)}};
  EXPECT_EQ(said_of("bound.cu", "find_largest", recording).verdict(), "pass");
  const Diagnosis wrong = said_of("bound.cu", "find_least", recording);
  EXPECT_TRUE(has(wrong, Code::inverted_condition)) << words_of(wrong);
}

}  // namespace
}  // namespace isomer::lab
