// What is said about candidates whose faults are known because they were planted.
#include <gtest/gtest.h>

#include "diagnose/fake_candidate.hpp"
#include "lab/evidence/variations/numbers.hpp"
#include "lab/findings/variation_codes.hpp"
#include "lab/judge/diagnose.hpp"

#include <algorithm>

namespace isomer::lab {
namespace {

std::string text_of(const Diagnosis& diagnosis) {
  std::string text = diagnosis.error;
  for (const Finding& finding : diagnosis.findings)
    text += "\n" + std::string(name_of(finding.code)) + " (" + name_of(finding.strength) + ") " +
            finding.argument + ": " + finding.evidence;
  for (const std::string& note : diagnosis.notes) text += "\nnote: " + note;
  return text;
}

std::vector<Code> codes(const Diagnosis& diagnosis) {
  std::vector<Code> list;
  for (const Finding& finding : diagnosis.findings) list.push_back(finding.code);
  return list;
}

const Finding* find(const Diagnosis& diagnosis, Code code) {
  for (const Finding& finding : diagnosis.findings)
    if (finding.code == code) return &finding;
  return nullptr;
}

TEST(Diagnosis, OfThePlainReferenceIsAPassForEveryOriginal) {
  for (const Port& port : ports()) {
    // Which of two layouts of k and v such a one has is told by trying: Strangers, attend_one_query_of_heads.
    const auto& parameters = port.original->parameters;
    if (port.original->of_tensors &&
        std::any_of(parameters.begin(), parameters.end(), [](const auto& p) { return !p.axes.empty(); }))
      continue;
    const FakeCandidate candidate(port, {});
    DiagnoseRequest request;
    request.op = port.op;
    request.function = port.functions.front();
    if (!port.original->parameters.front().axes.empty())
      request.texts = {"q: [batch, heads, seqlen_q, head_dim]"};
    const Diagnosis diagnosis = diagnose(candidate, request);
    EXPECT_EQ(diagnosis.verdict(), "pass") << port.functions.front() << text_of(diagnosis);
    EXPECT_TRUE(diagnosis.findings.empty()) << port.functions.front() << text_of(diagnosis);
    EXPECT_GT(diagnosis.calls, 10) << port.functions.front();
  }
}

TEST(Diagnosis, OfAPortThatRefusesAndRoundsNamesEachFaultInOneRun) {
  const Port& port = *find_port("quantize_copy_kv");
  FakeCandidate candidate(port, {"rounding=nearest", "scale=f32", "zero_guard=1e-6", "clamp=127"});
  candidate.wants = {DType::f32, DType::none, DType::none, DType::f32};
  candidate.ranks = {-1, -1, -1, 2};
  DiagnoseRequest request;
  request.op = port.op;
  request.source = "void f() {\n  q = roundf(v / scale);\n  if (q < -127) q = -127;\n}\n";
  request.source_file = "f.hip.cpp";
  const Diagnosis diagnosis = diagnose(candidate, request);
  EXPECT_EQ(codes(diagnosis),
            (std::vector<Code>{Code::dtype_refused, Code::dtype_refused, Code::rank_refused,
                               Code::rounding_mode, Code::scale_precision, Code::zero_guard, Code::clamp}))
      << text_of(diagnosis);
  for (const Code code : {Code::rounding_mode, Code::scale_precision, Code::zero_guard}) {
    ASSERT_NE(find(diagnosis, code), nullptr) << code;
    EXPECT_EQ(find(diagnosis, code)->strength, Strength::proved) << text_of(diagnosis);
  }
  ASSERT_NE(find(diagnosis, Code::clamp), nullptr);
  EXPECT_EQ(find(diagnosis, Code::clamp)->strength, Strength::unobservable) << text_of(diagnosis);
  EXPECT_EQ(find(diagnosis, Code::rounding_mode)->location.line, 2);
  EXPECT_EQ(diagnosis.verdict(), "fail");
}

TEST(Diagnosis, OfAClampBesideTheRightScaleIsAFinding) {
  const Port& port = *find_port("quantize_copy_kv");
  const FakeCandidate candidate(port, {"clamp=127"});
  DiagnoseRequest request;
  request.op = port.op;
  EXPECT_EQ(codes(diagnose(candidate, request)), std::vector<Code>{Code::clamp});
}

TEST(Diagnosis, OfWhatTheOriginalLeavesOpenIsANoteAndAPass) {
  const Port& port = *find_port("quantize_copy_kv");
  for (const char* variation : {"nan=ignored", "saturation=wrap"}) {
    const FakeCandidate candidate(port, {variation});
    DiagnoseRequest request;
    request.op = port.op;
    const Diagnosis diagnosis = diagnose(candidate, request);
    EXPECT_EQ(diagnosis.verdict(), "pass") << variation << text_of(diagnosis);
    ASSERT_FALSE(diagnosis.notes.empty()) << variation;
    EXPECT_NE(diagnosis.notes.front().find(variation), std::string::npos) << text_of(diagnosis);
  }
}

TEST(Diagnosis, OfAPortThatReadsKAsIfItWereCompact) {
  const Port& port = *find_port("quantize_copy_kv");
  const FakeCandidate candidate(port, {"indexing=contiguous"});
  DiagnoseRequest request;
  request.op = port.op;
  const Diagnosis diagnosis = diagnose(candidate, request);
  ASSERT_EQ(codes(diagnosis), std::vector<Code>{Code::assumes_contiguous}) << text_of(diagnosis);
  EXPECT_EQ(diagnosis.findings[0].argument, "K");
  EXPECT_NE(diagnosis.findings[0].evidence.find("exactly the answer for a compact tensor"),
            std::string::npos);
}

TEST(Diagnosis, OfAPortThatIgnoresItsIndices) {
  const Port& port = *find_port("quantize_copy_kv");
  const FakeCandidate candidate(port, {"dest=identity"});
  DiagnoseRequest request;
  request.op = port.op;
  const Diagnosis diagnosis = diagnose(candidate, request);
  EXPECT_EQ(codes(diagnosis), std::vector<Code>{Code::ignores_index}) << text_of(diagnosis);
}

TEST(Diagnosis, OfAnotherNameThanTheCallersUse) {
  const Port& port = *find_port("sin");
  FakeCandidate candidate(port, {});
  candidate.entries_[0].name = "kernel_function";
  DiagnoseRequest request;
  request.op = "sin";
  request.function = "call_kernel";
  const Diagnosis diagnosis = diagnose(candidate, request);
  EXPECT_EQ(codes(diagnosis), std::vector<Code>{Code::symbol_name}) << text_of(diagnosis);
}

TEST(Diagnosis, OfNothingToHoldItAgainstIsAnError) {
  const Port& port = *find_port("sin");
  FakeCandidate candidate(port, {});
  candidate.entries_[0].name = "something_else";
  const Diagnosis diagnosis = diagnose(candidate, {});
  EXPECT_EQ(diagnosis.verdict(), "error");
  EXPECT_NE(diagnosis.error.find("--op"), std::string::npos);
}

TEST(Findings, AreProvedForOpsWhoseToleranceIsExact) {
  for (const Port& port : ports())
    EXPECT_EQ(is_exact(port), port.oracle->contract->tolerance.rfind("exact", 0) == 0) << port.op;
}

TEST(Findings, EveryVariationHasACodeThatThereIs) {
  for (const oracle::Oracle& oracle : oracle::oracles())
    for (const oracle::Variation& variation : oracle.variations)
      EXPECT_NE(code_of(variation.name).code, Code::none) << variation.name;
}

}  // namespace
}  // namespace isomer::lab
