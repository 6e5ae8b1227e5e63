// PyTorch extensions of operators of which only a label's calls are recorded, with answers and without.
#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace isomer::lab {
namespace {

std::shared_ptr<const Candidate> built(const char* file) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  BuildFailure failure;
  auto made = build_candidate(std::filesystem::path(ISOMER_CANDIDATES) / file, {}, failure);
  EXPECT_NE(made, nullptr) << failure.place.line << ": " << failure.message;
  return made;
}

const Candidate& candidate() {
  static const std::shared_ptr<const Candidate> extension = built("extension.hip.cpp");
  return *extension;
}

Value counting(const std::string& name, DType dtype, std::int64_t size) {
  Value value = tensor_value(name, dtype, {size});
  if (dtype == DType::f32)
    for (std::int64_t i = 0; i < size; ++i) *value.tensor.at<float>(i) = static_cast<float>(i % 7) - 2;
  return value;
}

/// mixed(x, y, shift=2): half of each, and the shift.
RecordedCall call_of_mixed(double shift) {
  RecordedCall call{.function = "mixed", .group = "test_mixed:3"};
  call.before = {counting("x", DType::f32, 70), counting("y", DType::f32, 70), real_value("shift", shift)};
  call.keyword = {false, false, true};
  call.after = call.before;
  call.returned = {tensor_value("", DType::f32, {70})};
  for (std::int64_t i = 0; i < 70; ++i)
    *call.returned[0].tensor.at<float>(i) = *call.before[0].tensor.at<float>(i) + static_cast<float>(shift);
  return call;
}

/// A call without an answer.
RecordedCall call_of(const std::string& function, std::vector<Value> before) {
  RecordedCall call{.function = function, .before = std::move(before), .group = "test:9"};
  call.keyword.resize(call.before.size());
  return call;
}

Diagnosis said_of(std::vector<RecordedCall> calls, const Candidate& asked = candidate()) {
  DiagnoseRequest request;
  request.recording = std::make_shared<Recording>(Recording{std::move(calls), {{"unanswered", "no device"}}});
  return diagnose(asked, request);
}

std::vector<std::string> found(const Diagnosis& diagnosis) {
  std::vector<std::string> all;
  for (const Finding& each : diagnosis.findings) {
    all.push_back(said_against(each));
    EXPECT_FALSE(each.evidence.empty()) << each.code;
    EXPECT_GT(each.location.line, 0) << each.code;
  }
  return all;
}

using Texts = std::vector<std::string>;

TEST(ReplayedExtension, ADefaultHoldsForWhatCallersLeaveOutBetweenOthers) {
  const Diagnosis diagnosis = said_of({call_of_mixed(2), call_of_mixed(-1)});
  EXPECT_EQ(found(diagnosis), Texts{});
  EXPECT_EQ(diagnosis.verdict(), "pass") << diagnosis.error;
  EXPECT_EQ(diagnosis.calls, 2);
}

/// f(module, x), where the module holds the rest and a number that no port asks for.
RecordedCall call_with_module(const char* function, double shift) {
  RecordedCall call = call_of_mixed(shift);
  call.function = function;
  call.before.push_back(real_value("weight", 0.5));
  call.before.push_back(integer_value("features", 70));
  call.keyword = {false, true, true, true, true};
  call.held = {false, true, true, true, true};
  call.after = call.before;
  return call;
}

TEST(ReplayedExtension, WhatAModuleHoldsIsPassedByItsNames) {
  const Diagnosis diagnosis =
      said_of({call_with_module("mixed_of_module", 2), call_with_module("mixed_of_module", -1)});
  EXPECT_EQ(found(diagnosis), Texts{});
  EXPECT_EQ(diagnosis.verdict(), "pass") << diagnosis.error;
}

TEST(ReplayedExtension, AModulesNumberThatIsNotAskedForIsNoArgumentTooFew) {
  const Diagnosis diagnosis =
      said_of({call_with_module("mixed_without_shift", 2), call_with_module("mixed_without_shift", -1)});
  EXPECT_EQ(diagnosis.verdict(), "fail");
  for (const std::string& each : found(diagnosis)) EXPECT_EQ(each.find("argument-count"), std::string::npos);
}

TEST(ReplayedExtension, NoneAmongItsResultsIsNoResult) {
  // The recorder keeps the tensors that a label returns, and None of them is none.
  RecordedCall call = call_of_mixed(2);
  call.function = "mixed_and_none";
  call.returned.push_back(call_of_mixed(0).returned[0]);
  const Diagnosis diagnosis = said_of({call});
  EXPECT_EQ(found(diagnosis), Texts{});
  EXPECT_EQ(diagnosis.verdict(), "pass") << diagnosis.error;
}

/// As `call_of_mixed`, of another function, with what is left out.
RecordedCall call_as_mixed(const std::string& function, double shift) {
  RecordedCall call = call_of_mixed(shift);
  call.function = function;
  call.left_out = {real_value("weight", 0.5)};
  return call;
}

TEST(ReplayedExtension, DefaultsAndNamesThatTheBindingDoesNotGiveAreNone) {
  EXPECT_EQ(found(said_of({call_as_mixed("mixed", 2)})), Texts{});
  EXPECT_EQ(found(said_of({call_as_mixed("mixed_unnamed", 2)})),
            (Texts{"argument-count", "keyword-name shift"}));
}

TEST(ReplayedExtension, AnotherDefaultIsFoundUnderAnotherNameToo) {
  RecordedCall without = call_as_mixed("mixed_renamed", 0);
  without.before.pop_back(), without.after.pop_back(), without.keyword.pop_back();
  without.left_out.push_back(real_value("shift", 0));
  EXPECT_EQ(found(said_of({call_as_mixed("mixed_renamed", 2), without})),
            (Texts{"keyword-name shift", "argument-default shift"}));
}

TEST(ReplayedExtension, ALaunchThatTheDeviceRefusesIsAllThatIsSaid) {
  EXPECT_EQ(found(said_of({call_as_mixed("mixed_too_wide", 2)})), Texts{"launch-failed"});
}

TEST(ReplayedExtension, EveryFunctionIsCalledByItsOwnName) {
  RecordedCall into = call_of("mixed_into", {counting("out", DType::f32, 70), counting("x", DType::f32, 70),
                                             counting("y", DType::f32, 70)});
  into.before[0] = tensor_value("out", DType::f32, {70});
  into.after = {counting("out", DType::f32, 70), into.before[1], into.before[2]};
  const Diagnosis diagnosis = said_of({call_of_mixed(2), into});
  EXPECT_EQ(found(diagnosis), Texts{});
  EXPECT_EQ(diagnosis.verdict(), "pass") << diagnosis.error;
  EXPECT_EQ(diagnosis.calls, 2);
}

TEST(ReplayedExtension, OfTwoFunctionsOfOneNameTheOneIsCalledThatTakesTheArguments) {
  RecordedCall one = call_of("plus", {counting("x", DType::f32, 70), integer_value("by", 3)});
  RecordedCall several = call_of("plus", {counting("x", DType::f32, 70)});
  Value list;
  list.kind = Value::Kind::list;
  list.name = "by";
  list.items = {integer_value("", 1), integer_value("", 2)};
  several.before.push_back(list);
  several.keyword.resize(2);
  for (RecordedCall* call : {&one, &several}) {
    call->after = call->before;
    call->returned = {counting("", DType::f32, 70)};
    for (std::int64_t i = 0; i < 70; ++i) *call->returned[0].tensor.at<float>(i) += 3;
  }
  const Diagnosis diagnosis = said_of({one, several});
  EXPECT_EQ(found(diagnosis), Texts{});
  EXPECT_EQ(diagnosis.verdict(), "pass") << diagnosis.error;
  EXPECT_EQ(diagnosis.calls, 2);
}

TEST(ReplayedExtension, WithoutAnAnswerTheOrderIsReadInTheNames) {
  const auto three = [](const std::string& function) {
    return call_of(function, {counting("out", DType::f32, 70), counting("x", DType::f32, 70),
                              counting("y", DType::f32, 70)});
  };
  EXPECT_EQ(found(said_of({three("mixed_from")})), Texts{"argument-order"});
  const Diagnosis right = said_of({three("mixed_into")});
  EXPECT_EQ(found(right), Texts{});
  EXPECT_EQ(right.verdict(), "error");
  EXPECT_NE(right.error.find("has no answer: no device"), std::string::npos) << right.error;
}

TEST(ReplayedExtension, WithoutAnAnswerARefusedRankIsStillTold) {
  EXPECT_EQ(
      found(said_of({call_of("mixed_rows", {counting("x", DType::f32, 70), counting("y", DType::f32, 70)})})),
      Texts{"rank-refused x"});
}

TEST(ReplayedExtension, ZerosHideNoArgumentThatIsUsed) {
  for (const std::string function : {"mixed", "mixed_halves"}) {
    RecordedCall call = call_of(function, {tensor_value("x", DType::f32, {70}),
                                           tensor_value("y", DType::f32, {70}), real_value("weight", 0.25)});
    call.after = call.before;
    call.returned = {counting("", DType::f32, 70)};  // a reference that does something else
    const Texts all = found(said_of({call}));
    EXPECT_FALSE(all.empty());
    EXPECT_EQ(std::count(all.begin(), all.end(), "ignores-argument weight"), function == "mixed" ? 0 : 1);
    EXPECT_EQ(std::count(all.begin(), all.end(), "ignores-argument x"), 0);
  }
}

TEST(ReplayedExtension, WhatTheLabelOfAKnownOpRefusesMayBeRefused) {
  const std::shared_ptr<const Candidate> sine = built("sine.hip.cpp");
  const auto refused = [](const Diagnosis& diagnosis) {
    const Texts all = found(diagnosis);
    return std::count(all.begin(), all.end(), "shape-refused");
  };
  RecordedCall right = call_of("call_kernel", {counting("x", DType::f32, 70)});
  RecordedCall three = call_of("call_kernel", {counting("x", DType::f32, 3)});
  EXPECT_EQ(refused(said_of({right, three}, *sine)), 1);
  three.raised = "AssertionError: three";
  EXPECT_EQ(refused(said_of({right, three}, *sine)), 0);
}

TEST(ReplayedExtension, WithoutAnAnswerARefusalIsTold) {
  const Diagnosis number = said_of({call_of("repeated", {integer_value("x", 3), integer_value("times", 2)})});
  ASSERT_FALSE(number.findings.empty());
  EXPECT_EQ(number.findings[0].code, Code::argument_kind);
  EXPECT_EQ(number.verdict(), "fail");
}

TEST(ReplayedExtension, SeveralTensorsOfOneRefusedDtypeAreCastTogether) {
  const Diagnosis half =
      said_of({call_of("mixed_into", {counting("out", DType::f16, 70), counting("x", DType::f16, 70),
                                      counting("y", DType::f16, 70)})});
  EXPECT_EQ(found(half), Texts{"dtype-refused out, x, y"});
}

}  // namespace
}  // namespace isomer::lab
