// Sizes that stand to each other as in every call of a test, rows of sequences between offsets, and arguments
// that a call does not depend on.
#include "recorded_call.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace isomer::lab {
namespace {

std::int64_t* i64(const Value& value) { return static_cast<std::int64_t*>(value.tensor.data); }

Value counted(const std::string& name, const std::vector<std::int64_t>& shape) {
  Value value = tensor_value(name, DType::f32, shape);
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i) f32(value)[i] = static_cast<float>(1 + i * 7 % 31);
  return value;
}

void weigh(Recording& recording, std::int64_t dim, std::int64_t of_values) {
  record(
      recording, "weigh_by_sum",
      {counted("q", {3, dim}), counted("v", {3, of_values}), tensor_value("y", DType::f32, {3, of_values})},
      [=](std::vector<Value>& v) {
        for (int row = 0; row < 3; ++row) {
          double sum = 0;
          for (int d = 0; d < dim; ++d) sum += double(f32(v[0])[row * dim + d]);
          for (int d = 0; d < of_values; ++d)
            f32(v[2])[row * of_values + d] = static_cast<float>(sum * double(f32(v[1])[row * of_values + d]));
        }
      });
}

/// The answer to a call of which one size alone is another.
void ask_larger(Recording& recording, std::int64_t before, std::int64_t size, std::int64_t of_values) {
  Recording other;
  weigh(other, size, of_values);
  recording.asked.push_back(other.calls.front());
  recording.asked.back().asked = "larger";
  recording.asked.back().size_before = before;
  recording.asked.back().size = size;
}

TEST(Relations, OfSizesThatEveryCallHasAreKept) {
  Recording two;
  for (const std::int64_t dim : {8, 12}) weigh(two, dim, 2 * dim);
  ask_larger(two, 8, 131, 16);
  expect_told(judged("relations.cu", "weigh_by_sum", std::move(two)), {}, "");
  // Of one call alone, twice as many say so.
  Recording one;
  weigh(one, 8, 16);
  ask_larger(one, 8, 131, 16);
  expect_told(judged("relations.cu", "weigh_by_sum", std::move(one)), {}, "");
}

void share(Recording& recording, const std::vector<std::int64_t>& lengths, std::int64_t dim) {
  const auto count = static_cast<std::int64_t>(lengths.size());
  Value offsets = tensor_value("offsets", DType::i64, {count + 1});
  i64(offsets)[0] = 0;
  for (std::int64_t i = 0; i < count; ++i)
    i64(offsets)[i + 1] = i64(offsets)[i] + lengths[static_cast<std::size_t>(i)];
  const std::int64_t total = i64(offsets)[count];
  record(recording, "share_out",
         {counted("x", {total, dim}), offsets, tensor_value("y", DType::f32, {total, dim})},
         [=](std::vector<Value>& v) {
           for (std::int64_t s = 0; s < count; ++s)
             for (std::int64_t at = i64(v[1])[s] * dim; at < i64(v[1])[s + 1] * dim; ++at)
               f32(v[2])[at] = f32(v[0])[at] / static_cast<float>(lengths[static_cast<std::size_t>(s)]);
         });
}

TEST(Offsets, SayHowManySequencesThereAre) {
  Recording recording;
  share(recording, {3, 4, 2}, 6);
  share(recording, {5, 2, 3, 7}, 9);
  const Diagnosis said = judged("relations.cu", "share_out", recording);
  expect_told(said, {}, "B=3, D=6");
  const Diagnosis less = judged("relations.cu", "share_out_less", recording);
  EXPECT_EQ(less.verdict(), "fail");
  EXPECT_EQ(less.called_with, "B=3, D=6") << less.error;
}

Recording doubled(bool idle) {
  Recording recording;
  record(recording, "triple", {counted("x", {20}), counted("w", {20}), tensor_value("y", DType::f32, {20})},
         [](std::vector<Value>& v) {
           for (int i = 0; i < 20; ++i) f32(v[2])[i] = 2 * f32(v[0])[i];
         });
  if (idle) recording.calls[0].idle = {false, true, false};
  return recording;
}

bool is_ignored(const Diagnosis& said, const std::string& name) {
  return std::any_of(said.findings.begin(), said.findings.end(), [&](const Finding& each) {
    return (each.code == Code::ignores_argument || each.code == Code::ignores_index) && each.argument == name;
  });
}

TEST(Idle, ArgumentsOfACallAreNotToldAsIgnored) {
  EXPECT_TRUE(is_ignored(judged("relations.cu", "triple", doubled(false)), "w"));
  const Diagnosis said = judged("relations.cu", "triple", doubled(true));
  EXPECT_EQ(said.verdict(), "fail");
  EXPECT_FALSE(is_ignored(said, "w"));
}

Recording choices() {
  Recording recording;
  Value before = tensor_value("before", DType::i64, {6});
  for (int i = 0; i < 6; ++i) i64(before)[i] = i % 2;
  Value x = tensor_value("x", DType::f32, {6, 5});
  for (int i = 0; i < 30; ++i)
    f32(x)[i] = static_cast<float>(i % 5 == 0 ? 30 + i : i % 5 == 1 ? 20 + i : 10 - i % 5);
  Value y = tensor_value("y", DType::i64, {6});
  for (int i = 0; i < 6; ++i) i64(y)[i] = -7;
  record(recording, "choose", {x, before, y}, [](std::vector<Value>& v) {
    for (int row = 0; row < 6; ++row) i64(v[2])[row] = i64(v[1])[row] == 0 ? 1 : 0;
  });
  return recording;
}

TEST(Choices, ShowThatAnArgumentIsLookedAtWhereItIsWhatWasChosen) {
  expect_told(judged("relations.cu", "choose_another", choices()), {}, "");
  const Diagnosis any = judged("relations.cu", "choose_any", choices());
  EXPECT_TRUE(is_ignored(any, "before")) << (any.findings.empty() ? any.error : any.findings[0].evidence);
  const Diagnosis later = judged("relations.cu", "choose_another_later", choices());
  EXPECT_EQ(later.verdict(), "fail");
  EXPECT_FALSE(is_ignored(later, "before"));
}

}  // namespace
}  // namespace isomer::lab
