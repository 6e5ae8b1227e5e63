// What a port puts under its maxima has a constant that no list has: it is measured, and named.
#include "diagnose/fake_candidate.hpp"
#include "lab/evidence/variations/measured_guards.hpp"
#include "lab/evidence/variations/numbers.hpp"

#include <gtest/gtest.h>

namespace isomer::lab {
namespace {

struct Guarded {
  const char* op;
  std::vector<std::string> variations;
  Code code;
};

void PrintTo(const Guarded& guarded, std::ostream* out) {
  *out << guarded.op;
  for (const std::string& each : guarded.variations) *out << ' ' << each;
}

class AGuard : public testing::TestWithParam<Guarded> {};

TEST_P(AGuard, IsNamedWithItsConstant) {
  const Port& port = *find_port(GetParam().op);
  const FakeCandidate candidate(port, GetParam().variations);
  const Numbers numbers =
      explain_numbers(candidate, original_form(candidate.entries().front(), port), port, {});
  EXPECT_TRUE(numbers.explanation.explains);
  EXPECT_EQ(numbers.explanation.set, GetParam().variations);
  std::vector<std::string> notes;
  const std::vector<Finding> findings = findings_of(port, numbers, notes);
  ASSERT_EQ(findings.size(), GetParam().variations.size());
  EXPECT_EQ(findings.back().code, GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(
    Of, AGuard,
    testing::Values(Guarded{"quantize_copy_kv", {"zero_guard=amax-1e-3"}, Code::zero_guard},
                    Guarded{"quantize_copy_kv", {"zero_guard=scale-2e-4"}, Code::zero_guard},
                    Guarded{"quantize_copy_kv", {"zero_guard=below-1e-2-1"}, Code::zero_guard},
                    Guarded{
                        "quantize_copy_kv", {"rounding=nearest", "zero_guard=amax-1e-2"}, Code::zero_guard},
                    Guarded{"act_quant", {"floor=1e-3"}, Code::epsilon},
                    Guarded{"act_quant", {"floor=1e-6"}, Code::epsilon},
                    Guarded{"act_quant", {"zero_guard=scale-1e-5"}, Code::zero_guard},
                    Guarded{"act_quant", {"floor=none", "zero_guard=zeros-1"}, Code::zero_guard},
                    Guarded{"act_quant", {"rounding=truncation", "floor=1e-5"}, Code::epsilon}),
    [](const auto& info) { return std::string(info.param.op) + "_" + std::to_string(info.index); });

TEST(AGuardOfTiles, IsMeasuredFromTheirScales) {
  const Port& port = *find_port("weight_quant");
  const FakeCandidate candidate(port, {"floor=none", "zero_guard=scale-1e-12"});
  std::vector<Evidence> evidence;
  for (const char* line : {"m=3 n=300 scale=1e-11", "m=130 n=5"}) {
    const auto given = given_by_line(port, line, {{"dtype", DType::f32}});
    Trial trial =
        try_call(candidate, original_form(candidate.entries().front(), port), port, *given, CallSettings());
    evidence.push_back({given, std::move(trial.outputs), std::move(trial.untouched), false});
  }
  const std::vector<oracle::Variation> guards = measured_guards(port, evidence);
  ASSERT_EQ(guards.size(), 1u);
  EXPECT_EQ(guards.front().name, "zero_guard=scale-1e-12");
}

TEST(AConstant, IsTheSimplestNumberThatFits) {
  EXPECT_EQ(simplest_between(0.0008, 0.0013), "1e-3");
  EXPECT_EQ(simplest_between(0.0019, 0.0023), "2e-3");
  EXPECT_EQ(simplest_between(0.01269, 0.01271), "1.27e-2");
  EXPECT_EQ(simplest_between(0.9, 1.1), "1");
  EXPECT_EQ(simplest_between(2.9999, 3.0001), "3");
}

}  // namespace
}  // namespace isomer::lab
