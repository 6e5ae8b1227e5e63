// Words and dtypes that callers say, and a C function takes as numbers.
#include "recorded_call.hpp"

#include "core/codec.hpp"
#include "lab/ask/recorded/option_words.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "options.cu";
constexpr const char* kLabel =
    "def reduce(x, out, kind=\"rows\"):\n    \"\"\"x [rows, n], out [rows].\"\"\"\n    rows, n = x.shape\n";

/// Calls that say each of the words once for the argument of that name, and one that says none.
Recording reductions(const std::string& option) {
  Recording recording;
  std::int64_t rows = 5;
  for (const std::string said : {"largest", "total", "rows", ""}) {
    Value x = tensor_value("x", DType::f32, {rows, 9});
    for (std::int64_t i = 0; i < x.tensor.numel(); ++i)
      *x.tensor.at<float>(i / 9, i % 9) = static_cast<float>((i * 37 + rows) % 23) - 14.5F;
    std::vector<Value> arguments = {x, tensor_value("out", DType::f32, {rows})};
    if (!said.empty()) arguments.push_back(text_value(option, said));
    record(recording, "reduce", arguments, [&](std::vector<Value>& v) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const float* of = v[0].tensor.at<float>(row, 0);
        float sum = 0;
        for (int i = 0; i < 9; ++i) sum += of[i];
        *v[1].tensor.at<float>(row) = said == "largest" ? *std::max_element(of, of + 9)
                                      : said == "total" ? sum
                                                        : of[0];
      }
    });
    if (said.empty()) recording.calls.back().left_out = {text_value(option, "rows")};
    rows += 2;
  }
  return recording;
}

Diagnosis judged_as(const char* entry, const std::string& option, const char* file = kFile) {
  return judged(file, entry, reductions(option), {"", std::string(kLabel), ""});
}

TEST(Options, AWordIsTheNumberThatTheSourceSays) {
  expect_told(judged_as("by_comment", "reduction"), {}, "");
  expect_told(judged_as("by_enumeration", "kind"), {}, "");
  expect_told(judged_as("by_comparison", "how"), {}, "");
}

TEST(Options, ANumberThatTheSourceDoesNotSayIsTried) {
  expect_told(judged_as("by_trial", "way", "option_tried.cu"), {}, "");
}

TEST(Options, AFaultOfOneWordIsTold) {
  const Diagnosis said = judged_as("with_magnitudes", "reduction");
  EXPECT_EQ(said.verdict(), "fail") << said.error;
  EXPECT_EQ(said.called_with, "rows=5, n=9, reduction=1");
}

TEST(Options, ADtypeIsANumberOrAFlag) {
  Recording recording;
  for (const DType dtype : {DType::f32, DType::f16}) {
    Value x = tensor_value("x", dtype, {70});
    const auto put = [&](const Tensor& tensor, double factor) {
      for (std::int64_t i = 0; i < 70; ++i)
        core::encode(dtype, factor * (static_cast<double>(i % 13) - 4.5),
                     static_cast<std::byte*>(tensor.data) + i * size_of(dtype));
    };
    put(x.tensor, 1);
    record(recording, "twice", {x, tensor_value("out", dtype, {70})},
           [&](std::vector<Value>& v) { put(v[1].tensor, 2); });
  }
  const std::vector<std::string> texts = {"", "def twice(x, out):\n    n = x.numel()\n", ""};
  for (const char* entry : {"twice_of_dtype", "twice_by_flag"})
    expect_told(judged(kFile, entry, recording, texts), {}, "");
  EXPECT_EQ(judged(kFile, "twice_of_floats", recording, texts).verdict(), "fail");
}

TEST(Options, WhatASourceSaysOfWords) {
  using Codes = std::map<std::string, int>;
  const std::vector<OptionWord> words = {{"mean", {"mean"}}, {"sum", {"sum"}}};
  const auto codes = [&](const std::string& source) { return codes_in_source(source, "mode", words); };
  EXPECT_EQ(codes("// mode: 1 = mean, 2 = sum\n"), (Codes{{"mean", 1}, {"sum", 2}}));
  EXPECT_EQ(codes("enum class Mode { kNone, kMean, kSum };"), (Codes{{"mean", 1}, {"sum", 2}}));
  EXPECT_EQ(codes("#define REDUCE_MEAN 3\n#define REDUCE_SUM 7\n"), (Codes{{"mean", 3}, {"sum", 7}}));
  EXPECT_EQ(codes("switch (mode) { case 4: return mean(x); case 5: return sum(x); }"),
            (Codes{{"mean", 4}, {"sum", 5}}));
  // What is left is what is done otherwise, by the first number that is not asked for.
  EXPECT_EQ(codes("if (mode == 0) return sum(x);\nreturn average(x);"), (Codes{{"mean", 1}, {"sum", 0}}));
  EXPECT_EQ(codes("int summary = 3; // of the means\n"), Codes());
}

TEST(Options, AFlagSaysWhetherAnotherArgumentIsGiven) {
  Recording recording;
  for (const double limit : {0.0, 2.5}) {
    Value x = tensor_value("x", DType::f32, {90});
    for (std::int64_t i = 0; i < 90; ++i) *x.tensor.at<float>(i) = static_cast<float>(i % 11);
    std::vector<Value> arguments = {x, tensor_value("out", DType::f32, {90})};
    if (limit > 0) arguments.push_back(real_value("limit", limit));
    record(recording, "bounded", arguments, [limit](std::vector<Value>& v) {
      for (std::int64_t i = 0; i < 90; ++i) {
        const float own = *v[0].tensor.at<float>(i);
        *v[1].tensor.at<float>(i) = limit > 0 ? std::min(own, static_cast<float>(limit)) : own;
      }
    });
  }
  expect_told(judged(kFile, "bounded_by_flag", recording,
                     {"", "def bounded(x, out, limit=None):\n    n = x.shape[0]\n", ""}),
              {}, "");
}

}  // namespace
}  // namespace isomer::lab
