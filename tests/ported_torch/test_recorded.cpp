// A port of an op beside recorded calls that have no answers, as on a machine with no Triton.
#include <gtest/gtest.h>

#include "lab/ask/port.hpp"
#include "lab/ask/trial.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/judge/diagnose.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace isomer::lab {
namespace {

std::shared_ptr<const Recording> unanswered(const char* line) {
  const Port* port = nullptr;
  for (const Port& each : ports())
    if (port == nullptr && each.op == "attention" && each.roles.back().returned) port = &each;
  const std::shared_ptr<Given> given = given_by_line(*port, line);
  RecordedCall call;
  call.function = "attention";
  // q, k, v and causal: what callers leave out is not recorded.
  call.before.assign(given->values.begin(), given->values.begin() + 4);
  call.keyword.assign(call.before.size(), false);
  auto recording = std::make_shared<Recording>();
  recording->calls = {call};
  return recording;
}

Diagnosis said_of(const char* name) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  const BuildSettings settings;
  BuildFailure failure;
  const auto candidate = build_candidate(std::filesystem::path(ISOMER_PORTED) / name, settings, failure);
  if (candidate == nullptr) throw std::runtime_error(failure.message);
  DiagnoseRequest request;
  request.op = request.function = "attention";
  request.recording = unanswered("b=1 sq=5 sk=7 hq=4 hkv=2 d=16 causal");
  return diagnose(*candidate, request);
}

TEST(UnansweredCalls, LeaveTheNumberOfResultsToTheCandidate) {
  EXPECT_EQ(said_of("attention_two_answers.hip.cpp").verdict(), "pass");
  const Diagnosis wrong = said_of("attention_two_answers_lse_of_base_2.hip.cpp");
  ASSERT_EQ(wrong.findings.size(), 1u);
  EXPECT_EQ(wrong.findings[0].code, Code::log_base);
}

}  // namespace
}  // namespace isomer::lab
