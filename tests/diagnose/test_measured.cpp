// Findings of a real device's clock and schedule, by a candidate whose times and bytes are given.
#include <gtest/gtest.h>

#include "diagnose/fake_candidate.hpp"
#include "lab/candidate/recording.hpp"
#include "lab/evidence/probes/speed.hpp"
#include "lab/judge/diagnose.hpp"

#include <isomer/error.hpp>

#include <algorithm>

namespace isomer::lab {
namespace {

/// `count` times round a middle, evenly within ± spread of it.
std::vector<double> times(double middle, double spread, int count = 30) {
  std::vector<double> list;
  for (int i = 0; i < count; ++i) list.push_back(middle * (1 - spread + 2 * spread * i / (count - 1)));
  return list;
}

TEST(Speed, IsToldBeyondTheMarginAndTheNoise) {
  const Speed speed = compare_speed(times(30e-6, 0.01), times(10e-6, 0.01));
  EXPECT_TRUE(speed.slow);
  EXPECT_NEAR(speed.ratio, 3, 0.05);
  EXPECT_GT(speed.noise, 0);
  EXPECT_LT(speed.noise, 0.1);
}

TEST(Speed, WithinATenthIsNoFault) { EXPECT_FALSE(compare_speed(times(10.8e-6, 0), times(10e-6, 0)).slow); }

TEST(Speed, OfATenthAndMoreIs) { EXPECT_TRUE(compare_speed(times(112e-6, 0), times(100e-6, 0)).slow); }

TEST(Speed, WithinTheNoiseIsNoFault) {
  const Speed speed = compare_speed(times(130e-6, 0.5), times(100e-6, 0.5));
  EXPECT_FALSE(speed.slow);
  EXPECT_GT(speed.noise, 0.3);
}

TEST(Speed, OfTwoMicrosecondsIsTheEventsOwn) {
  EXPECT_FALSE(compare_speed(times(4.5e-6, 0), times(3e-6, 0)).slow);
}

TEST(Speed, OfFewTimesIsRefused) {
  EXPECT_THROW(compare_speed(times(1e-5, 0, 4), times(1e-5, 0)), Error);
  EXPECT_THROW(compare_speed(times(1e-5, 0), {}), Error);
}

/// What a real device would tell of the reference's own answers.
class Timed final : public FakeCandidate {
 public:
  Timed(const Port& port, std::vector<double> seconds, int differing)
      : FakeCandidate(port, {}), seconds_(std::move(seconds)), differing_(differing) {}
  Backend backend() const override { return Backend::cuda; }
  Answer call(const Entry& entry, const std::vector<Value>& arguments,
              const CallSettings& settings) const override {
    Answer answer = FakeCandidate::call(entry, arguments, settings);
    answer.device = "a device";
    if (settings.measured == 0) return answer;
    answer.seconds = seconds_;
    answer.differing = differing_;
    return answer;
  }

 private:
  std::vector<double> seconds_;
  int differing_;
};

/// A recorded call of sin of 300 elements, with times of the original.
std::shared_ptr<const Recording> recorded(std::vector<double> seconds, const std::string& device) {
  auto recording = std::make_shared<Recording>();
  RecordedCall call;
  call.function = find_port("sin")->functions.front();
  call.before = {tensor_value("x", DType::f32, {300})};
  call.keyword = {false};
  call.seconds = std::move(seconds);
  recording->calls = {call};
  recording->metadata["device"] = device;
  return recording;
}

Diagnosis said_of(std::vector<double> seconds, int differing, std::shared_ptr<const Recording> recording) {
  const Port& port = *find_port("sin");
  const Timed candidate(port, std::move(seconds), differing);
  DiagnoseRequest request;
  request.op = "sin";
  request.function = port.functions.front();
  request.recording = std::move(recording);
  return diagnose(candidate, request);
}

std::vector<Code> codes(const Diagnosis& diagnosis) {
  std::vector<Code> list;
  for (const Finding& finding : diagnosis.findings) list.push_back(finding.code);
  return list;
}

bool notes(const Diagnosis& diagnosis, const std::string& part) {
  return std::any_of(diagnosis.notes.begin(), diagnosis.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

TEST(Measured, AnAnswerOfOtherBytesIsNondeterministic) {
  const Diagnosis said = said_of(times(1e-5, 0.01), 3, nullptr);
  EXPECT_EQ(codes(said), std::vector<Code>{Code::nondeterministic});
  EXPECT_NE(said.findings.at(0).evidence.find("3 of 30"), std::string::npos) << said.findings.at(0).evidence;
  EXPECT_EQ(said.verdict(), "fail");
  EXPECT_EQ(said.backend, "cuda");
}

TEST(Measured, ACallThatTakesLongerThanTheOriginalIsSlow) {
  const Diagnosis said = said_of(times(60e-6, 0.01), 0, recorded(times(20e-6, 0.01), "a device"));
  EXPECT_EQ(codes(said), std::vector<Code>{Code::slow});
  EXPECT_NE(said.findings.at(0).evidence.find("60.0 µs, and the original 20"), std::string::npos)
      << said.findings.at(0).evidence;
}

TEST(Measured, ACallAsFastAsTheOriginalPassesWithANote) {
  const Diagnosis said = said_of(times(20e-6, 0.01), 0, recorded(times(20e-6, 0.01), "a device"));
  EXPECT_EQ(said.verdict(), "pass");
  EXPECT_TRUE(said.findings.empty());
  EXPECT_TRUE(notes(said, "its time is not a fault"));
}

TEST(Measured, TimesOfAnotherDeviceAreNotCompared) {
  const Diagnosis said = said_of(times(60e-6, 0.01), 0, recorded(times(20e-6, 0.01), "another"));
  EXPECT_TRUE(said.findings.empty());
  EXPECT_TRUE(notes(said, "the original was recorded on another, but this device is a device"));
}

TEST(Measured, WithoutTimesOfTheOriginalThatIsTold) {
  const Diagnosis said = said_of(times(60e-6, 0.01), 0, recorded({}, "none"));
  EXPECT_TRUE(said.findings.empty());
  EXPECT_TRUE(notes(said, "its time is not compared"));
}

TEST(Measured, WhatNeedsTheWatchIsToldAsNotRun) {
  EXPECT_TRUE(notes(said_of(times(1e-5, 0.01), 0, nullptr), "not checked on a real device"));
}

}  // namespace
}  // namespace isomer::lab
