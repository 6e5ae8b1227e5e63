// Options that callers of the label pass, or leave to its defaults, and a C function takes under names of its
// own.
#include "recorded_call.hpp"

#include "lab/ask/names/alike.hpp"
#include "lab/ask/recorded/flag_bits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr const char* kFile = "option_numbers.cu";

Value numbers(const char* name, std::int64_t count) {
  Value x = tensor_value(name, DType::f32, {count});
  for (std::int64_t i = 0; i < count; ++i)
    *x.tensor.at<float>(i) = static_cast<float>((i * 37 + count) % 23) - 11.25F;
  return x;
}

/// Calls of a label that makes a number of each of `x`, by the options that a call gives.
void record_of_each(Recording& recording, const char* label, std::int64_t count,
                    const std::vector<Value>& options, const std::vector<Value>& left_out,
                    const std::function<float(float)>& what) {
  std::vector<Value> arguments = {numbers("x", count), tensor_value("out", DType::f32, {count})};
  arguments.insert(arguments.end(), options.begin(), options.end());
  record(recording, label, arguments, [&](std::vector<Value>& v) {
    for (std::int64_t i = 0; i < count; ++i) *v[1].tensor.at<float>(i) = what(*v[0].tensor.at<float>(i));
  });
  recording.calls.back().left_out = left_out;
}

Diagnosis judged_as(const char* entry, const Recording& recording, const std::string& label) {
  return judged(kFile, entry, recording, {"", label, ""});
}

Recording steps() {
  Recording recording;
  std::int64_t count = 70;
  for (const bool maximize : {false, true})
    for (const bool adds_one : {false, true}) {
      std::vector<Value> given, left;
      (maximize ? given : left).push_back(boolean_value("maximize", maximize));
      (adds_one ? given : left).push_back(boolean_value("adds_one", adds_one));
      record_of_each(recording, "step", count += 13, given, left,
                     [=](float x) { return (maximize ? -x : x) + (adds_one ? 1.0F : 0.0F); });
    }
  return recording;
}

TEST(OptionNumbers, ABitOfFlagsSaysEachOption) {
  const std::string label = "def step(x, out, maximize=False, adds_one=False):\n    n = x.numel()\n";
  expect_told(judged_as("step_by_flags", steps(), label), {}, "");
  EXPECT_EQ(judged_as("step_by_one_flag", steps(), label).verdict(), "fail");
}

Recording clips() {
  Recording recording;
  struct Clips {
    std::optional<double> rho, pg;
    bool given;
  };
  std::int64_t count = 90;
  for (const Clips& each :
       {Clips{1.0, 1.0, false}, Clips{0.5, 3.0, true}, Clips{std::nullopt, std::nullopt, true}}) {
    const auto option = [](const char* name, const std::optional<double>& value) {
      Value none;
      none.name = name;
      return value ? real_value(name, *value) : none;
    };
    const std::vector<Value> both = {option("clip_rho", each.rho), option("clip_pg_rho", each.pg)};
    const auto clip = [](float x, const std::optional<double>& most) {
      return most ? std::min(x, static_cast<float>(*most)) : x;
    };
    record_of_each(recording, "clip", count += 7, each.given ? both : std::vector<Value>(),
                   each.given ? std::vector<Value>() : both,
                   [&](float x) { return clip(x, each.rho) + 2.0F * clip(x, each.pg); });
  }
  return recording;
}

TEST(OptionNumbers, RealNumbersOfOtherNamesAreInTheLabelsOrder) {
  const std::string label = "def clip(x, out, clip_rho=1.0, clip_pg_rho=1.0):\n    n = x.numel()\n";
  expect_told(judged_as("clip_by_bars", clips(), label), {}, "");
  EXPECT_EQ(judged_as("clip_by_one_bar", clips(), label).verdict(), "fail");
}

TEST(OptionNumbers, ANameOfTheSameWordsIsTheOption) {
  Recording recording;
  std::int64_t count = 50;
  for (const int bits : {8, 3, 4}) {
    const Value option = integer_value("bits", bits);
    record_of_each(recording, "clip", count += 9,
                   bits == 8 ? std::vector<Value>() : std::vector<Value>{option},
                   bits == 8 ? std::vector<Value>{option} : std::vector<Value>(),
                   [=](float x) { return std::min(x, static_cast<float>((1 << (bits - 1)) - 1)); });
  }
  const std::string label = "def clip(x, out, bits=8):\n    n = x.numel()\n";
  expect_told(judged_as("clip_to_bits", recording, label), {}, "");
  EXPECT_EQ(judged_as("clip_to_more_bits", recording, label).verdict(), "fail");
}

TEST(OptionNumbers, ANumberThatTheLabelReturnsIsWrittenToMemory) {
  Recording recording;
  for (const std::int64_t count : {40, 130}) {
    std::int64_t positive = 0;
    record_of_each(recording, "twice", count, {}, {}, [&](float x) {
      positive += x > 0;
      return 2 * x;
    });
    recording.calls.back().returned = {integer_value("", positive)};
  }
  const std::string label = "def twice(x, out):\n    n = x.numel()\n";
  expect_told(judged_as("double_and_count", recording, label), {}, "");
  EXPECT_EQ(judged_as("double_and_miscount", recording, label).verdict(), "fail");
}

TEST(OptionNumbers, WhatANameSays) {
  EXPECT_GT(likeness_of_names("nbits", "bits"), 0);
  EXPECT_GT(likeness_of_names("n_steps", "steps"), 0);
  EXPECT_GT(likeness_of_names("shifted", "shift"), 0);
  EXPECT_GT(likeness_of_names("kUseBias", "bias"), 0);
  EXPECT_GT(likeness_of_names("trust_coef", "trust"), 0);
  EXPECT_EQ(likeness_of_names("rho_bar", "clip_rho"), 0);
  EXPECT_EQ(likeness_of_names("n", "count"), 0);
}

TEST(OptionNumbers, WhichBitASourceSays) {
  using Bits = std::map<std::string, int>;
  const auto bits = [](const std::string& source) {
    return flag_bits(source, "flags", {"causal", "use_bias"});
  };
  EXPECT_EQ(bits("enum { ATTN_CAUSAL = 1 << 0, ATTN_BIAS = 1 << 1 };"),
            (Bits{{"causal", 1}, {"use_bias", 2}}));
  EXPECT_EQ(bits("#define HAS_BIAS 0x1u\n#define IS_CAUSAL 0x4u\n"), (Bits{{"causal", 4}, {"use_bias", 1}}));
  EXPECT_EQ(bits("const bool causal = flags & 2; const bool bias = (flags >> 3) & 1;"),
            (Bits{{"causal", 2}, {"use_bias", 8}}));
  EXPECT_EQ(bits("// flags: bit 0: causal, bit 2: bias\n"), (Bits{{"causal", 1}, {"use_bias", 4}}));
  EXPECT_EQ(bits("const int tile = 64;"), Bits());
  // One bit cannot say both.
  EXPECT_EQ(bits("#define CAUSAL_BIAS 1\n"), Bits());
}

}  // namespace
}  // namespace isomer::lab
