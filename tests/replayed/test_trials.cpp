// What makes the trial of an edit, or of another call, cost little.
#include <gtest/gtest.h>

#include "lab/ask/recorded/replayed.hpp"
#include "lab/evidence/edits/exchangeable.hpp"
#include "lab/evidence/recorded/quick.hpp"
#include "lab/judge/sampled.hpp"
#include "recorded_call.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

Value of_numbers(const std::vector<float>& numbers) {
  Value value = tensor_value("y", DType::f32, {static_cast<std::int64_t>(numbers.size())});
  for (std::size_t i = 0; i < numbers.size(); ++i) f32(value)[i] = numbers[i];
  return value;
}

// An inner loop asks its condition in every round: with no edit of it chosen it is the source's own.
TEST(Trials, AConditionInWhichNoEditIsChosenIsAskedAsItStands) {
  const std::string source = exchangeable(R"(
void sums(const float* x, float* y, int n, int first) {
  for (int i = first; i < n; ++i)
    if (x[i] > 0 && i != first) y[i] += x[i];
  while (first < n - 1) ++first;
}
)")
                                 .source;
  for (const char* each : {"return i < n; }", "return x[i] > 0 && i != first; }", "return first < n - 1; }"})
    EXPECT_NE(source.find(each), std::string::npos) << each << " in " << source;
}

// Some of the blocks write some of the elements of an argument: the others are as they were given.
TEST(Trials, WhatAnArgumentHadBeforeIsWrittenByNoBlock) {
  const Value before = of_numbers({7, 7, 7, 7}), want = of_numbers({1, 2, 3, 4});
  Replayed call;
  Replayed::Output output;
  output.name = "y";
  output.want = want.tensor;
  output.before = before.tensor;
  call.outputs.push_back(output);
  CallOutcome sampled;
  sampled.got = {{1, 2, 7, 7}};
  sampled.wrong = {2};
  EXPECT_TRUE(may_be_right(call, sampled));
  sampled.got = {{1, 5, 7, 7}};
  sampled.wrong = {3};
  EXPECT_FALSE(may_be_right(call, sampled));
}

// Once the time that calls share is over none is made, and nothing is said of the candidate, which is not
// there.
TEST(Trials, ACallForWhichNoTimeIsLeftIsNotMade) {
  const Value want = of_numbers({1, 2, 3});
  Replayed call;
  Replayed::Output output;
  output.want = want.tensor;
  call.outputs.push_back(output);
  Approach approach;
  approach.left = std::make_shared<double>(0);
  const CallOutcome outcome = replay_once(approach, call);
  EXPECT_TRUE(lost(outcome));
  EXPECT_TRUE(outcome.answer.message.empty());
  EXPECT_FALSE(outcome.right());
  EXPECT_TRUE(outcome.got.front().empty());
}

TEST(Trials, NumbersAreAskedWithoutAWatchThatIsSlowAndSawNothing) {
  Approach approach;
  CallOutcome slow;
  slow.answer.worked_seconds = 2;
  EXPECT_FALSE(for_numbers(approach, {slow}).settings.watch);
  CallOutcome quick;
  EXPECT_TRUE(for_numbers(approach, {quick}).settings.watch);
  slow.answer.seen.emplace_back();
  EXPECT_TRUE(for_numbers(approach, {slow}).settings.watch);
}

}  // namespace
}  // namespace isomer::lab
