// Candidates on a real device of this machine, through its vendor's compiler. Where there is none, not run.
#include <gtest/gtest.h>

#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"

#include <isomer/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Diagnosis& diagnosis) {
  std::string text = diagnosis.error;
  for (const Finding& finding : diagnosis.findings)
    text += "\n" + said_against(finding) + ": " + finding.evidence;
  for (const std::string& note : diagnosis.notes) text += "\nnote: " + note;
  return text;
}

class OnADevice : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = device_missing(Backend::cuda); !why.empty())
      GTEST_SKIP() << "not run: " << why;
    setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
    BuildFailure failure;
    BuildSettings settings;
    settings.backend = Backend::cuda;
    candidate_ = build_candidate(fs::path(ISOMER_CANDIDATES) / "device.cu", settings, failure);
    ASSERT_NE(candidate_, nullptr) << failure.place.line << ": " << failure.message;
  }

  Diagnosis said_of(const char* entry, std::shared_ptr<const Recording> recording = nullptr) const {
    DiagnoseRequest request;
    request.op = "sin";
    request.entry = entry;
    request.recording = std::move(recording);
    request.settings.timeout_seconds = 5;
    return diagnose(*candidate_, request);
  }

  const Entry& entry(const char* name) const {
    return *std::find_if(candidate_->entries().begin(), candidate_->entries().end(),
                         [&](const Entry& e) { return e.name == name; });
  }

  Answer measured(const char* name, int count) const {
    CallSettings settings;
    settings.measured = 30;
    return candidate_->call(entry(name),
                            {tensor_value("x", DType::f32, {count}), tensor_value("out", DType::f32, {count}),
                             integer_value("n", count)},
                            settings);
  }

  /// A call of sin with the times of the right candidate for the original's.
  std::shared_ptr<const Recording> recorded() const {
    const int count = 1 << 16;
    const Answer answer = measured("sin_right", count);
    auto recording = std::make_shared<Recording>();
    RecordedCall call;
    call.function = "call_kernel";
    call.before = {tensor_value("x", DType::f32, {count})};
    call.keyword = {false};
    call.seconds = answer.seconds;
    recording->calls = {call};
    recording->metadata["device"] = answer.device;
    return recording;
  }

  void expect(const char* name, Code code) const {
    const Diagnosis said = said_of(name);
    EXPECT_TRUE(std::any_of(said.findings.begin(), said.findings.end(),
                            [&](const Finding& finding) { return finding.code == code; }))
        << name << text_of(said);
  }

  std::shared_ptr<const Candidate> candidate_;
};

TEST_F(OnADevice, ARightCandidatePasses) {
  const Diagnosis said = said_of("sin_right", recorded());
  EXPECT_EQ(said.verdict(), "pass") << text_of(said);
  EXPECT_TRUE(said.findings.empty()) << text_of(said);
  EXPECT_GT(said.calls, 10);
}

TEST_F(OnADevice, MeasuredCallsHaveTheDevicesTimeAndTheSameBytes) {
  const Answer answer = measured("sin_right", 1 << 16);
  ASSERT_TRUE(answer.ok()) << answer.message;
  EXPECT_EQ(answer.seconds.size(), 30u);
  EXPECT_EQ(answer.differing, 0);
  EXPECT_FALSE(answer.device.empty());
  for (const double each : answer.seconds) {
    EXPECT_GT(each, 0);
    EXPECT_LT(each, 1e-3);
  }
}

TEST_F(OnADevice, SlowIsNamed) {
  const Diagnosis said = said_of("sin_slow", recorded());
  ASSERT_EQ(said.findings.size(), 1u) << text_of(said);
  EXPECT_EQ(said.findings[0].code, Code::slow) << text_of(said);
}

TEST_F(OnADevice, NondeterministicIsNamed) {
  const Diagnosis said = said_of("sin_by_chance");
  ASSERT_EQ(said.findings.size(), 1u) << text_of(said);
  EXPECT_EQ(said.findings[0].code, Code::nondeterministic) << text_of(said);
}

TEST_F(OnADevice, AWriteBehindABufferIsSeenByItsGuard) { expect("sin_overruns", Code::out_of_bounds_write); }
TEST_F(OnADevice, AKernelThatStopsTheDeviceIsACrash) { expect("sin_stops_the_device", Code::crash); }
TEST_F(OnADevice, AKernelThatNeverEndsIsATimeout) { expect("sin_hangs", Code::timeout); }
TEST_F(OnADevice, ALaunchThatTheDeviceRefusesIsNamed) {
  expect("sin_launches_too_much", Code::launch_failed);
}

/// Compiling for a device needs none: a HIP source by CUDA's names, and what it offers.
TEST(ThroughNvcc, AHipSourceOffersItsFunctionsAndKernels) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  BuildFailure failure;
  BuildSettings settings;
  settings.backend = Backend::cuda;
  std::shared_ptr<const Candidate> candidate;
  try {
    candidate = build_candidate(fs::path(ISOMER_CANDIDATES) / "lanes.hip.cpp", settings, failure);
  } catch (const Error& error) {
    GTEST_SKIP() << "not run: " << error.what();
  }
  ASSERT_NE(candidate, nullptr) << failure.place.line << ": " << failure.message;
  EXPECT_EQ(candidate->backend(), Backend::cuda);
  EXPECT_FALSE(candidate->carries_sparse_storages());
  int functions = 0, kernels = 0;
  for (const Entry& entry : candidate->entries()) {
    (entry.form == Entry::Form::kernel ? kernels : functions) += 1;
    EXPECT_FALSE(entry.parameters.empty()) << entry.name;
    EXPECT_GT(entry.place.line, 0) << entry.name;
  }
  EXPECT_GT(functions, 0);
  EXPECT_GT(kernels, 0);
}

TEST(ThroughNvcc, AComplaintHasItsPlace) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  BuildFailure failure;
  BuildSettings settings;
  settings.backend = Backend::cuda;
  try {
    EXPECT_EQ(build_candidate(fs::path(ISOMER_CANDIDATES) / "broken.cu", settings, failure), nullptr);
  } catch (const Error& error) {
    GTEST_SKIP() << "not run: " << error.what();
  }
  EXPECT_FALSE(failure.message.empty());
  EXPECT_EQ(fs::path(failure.place.file).filename(), "broken.cu");
  EXPECT_GT(failure.place.line, 0);
}

TEST(DeviceMissing, SaysWhyOrThatNothingIs) {
  EXPECT_EQ(device_missing(Backend::emulated), "");
  const std::string why = device_missing(Backend::hip);
  if (why.empty()) GTEST_SKIP() << "not run: this machine has an AMD device and hipcc";
  EXPECT_GT(why.size(), 20u);
}

}  // namespace
}  // namespace isomer::lab
