// The case lists are worth something only if a wrong implementation cannot pass them: every variation of
// every op, and three implementations that compute nothing, must fail.
#include <gtest/gtest.h>

#include "first_tier.hpp"
#include "lab/check/check_case.hpp"
#include "lab/check/planted.hpp"
#include "oracle/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace isomer::oracle {
inline void PrintTo(const Oracle* oracle, std::ostream* out) { *out << oracle->contract->op; }
}  // namespace isomer::oracle

namespace isomer {
namespace {

oracle::Case fixed(const oracle::Case& c) { return c.seed() != 0 ? c : c.with_seed(20240607); }

/// The op's ordinary cases, those of few elements first: any of them may show a fault.
std::vector<oracle::Case> smallest_first(const oracle::Oracle& oracle) {
  std::vector<std::pair<std::int64_t, oracle::Case>> list;
  for (const oracle::Case& c : oracle.cases()) {
    oracle::Problem shapes(fixed(c), oracle::Contents::none);
    oracle.make(fixed(c), shapes);
    std::int64_t elements = 0;
    for (int i = 0; i < shapes.call().count; ++i) elements += shapes.call().tensor(i).numel();
    list.emplace_back(elements, c);
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<oracle::Case> cases;
  for (auto& [elements, c] : list) cases.push_back(std::move(c));
  return cases;
}

class EveryVariation : public testing::TestWithParam<const oracle::Oracle*> {};

TEST_P(EveryVariation, FailsTheOrdinaryCases) {
  const oracle::Oracle& oracle = *GetParam();
  lab::Queues queues;
  const std::vector<oracle::Case> cases = smallest_first(oracle);
  // Of the first tier every third.
  for (const oracle::Variation& variation : tests::every_nth(oracle.variations, 3)) {
    const auto planted = lab::plant_variation(oracle, {variation.name, ""});
    const bool fails = std::any_of(cases.begin(), cases.end(), [&](const oracle::Case& c) {
      return lab::check_case(oracle, fixed(c), {planted.get()}, queues, false, nullptr, 1)[0].status ==
             lab::Status::failed;
    });
    EXPECT_TRUE(fails) << oracle.contract->op << "/" << variation.name << " passes every case";
  }
}

std::string test_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return text;
}

class EveryOp : public testing::TestWithParam<const oracle::Oracle*> {};

/// Whether the op writes anything that zeros, or its own mean, are not: an answer that is all zero, all NaN
/// or all the same cannot tell them apart, whatever the tolerance.
bool says_something(const oracle::Oracle& oracle, const oracle::Case& c, const std::string& against) {
  oracle::Problem problem(fixed(c));
  oracle.make(fixed(c), problem);
  oracle::Expected expected(problem.call());
  oracle.reference(problem.call(), {}, expected);
  for (const oracle::ExpectedTensor& output : expected.tensors) {
    double low = INFINITY, high = -INFINITY;
    for (std::size_t i = 0; i < output.value.size(); ++i) {
      const double value = core::round_to(output.dtype, output.value[i]);
      if (!output.written[i] || !std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (against == "zero" && low <= high && (low != 0 || high != 0)) return true;
    if (against == "mean" && high > low) return true;
  }
  return false;
}

/// What implementations that are asked together make of a case: each runs twice, and the reference once more
/// for all.
class Asked {
 public:
  explicit Asked(const oracle::Oracle& oracle)
      : oracle_(&oracle),
        reference_(lab::plant_reference([this](const core::Call& call) -> auto& { return answer(call); })),
        mean_(lab::plant_mean([this](const core::Call& call) -> auto& { return answer(call); })),
        zero_(lab::plant_zero()),
        copy_(lab::plant_copy()) {}

  std::vector<lab::Outcome> of(const oracle::Case& c) {
    answer_.reset();
    return lab::check_case(*oracle_, c, {reference_.get(), zero_.get(), mean_.get(), copy_.get()}, queues_);
  }

 private:
  const oracle::Expected& answer(const core::Call& call) {
    if (!answer_) oracle_->reference(call, {}, answer_.emplace(call));
    return *answer_;
  }

  const oracle::Oracle* oracle_;
  std::optional<oracle::Expected> answer_;
  std::unique_ptr<core::Implementation> reference_, mean_, zero_, copy_;
  lab::Queues queues_;
};

TEST_P(EveryOp, ReferencePassesEveryCaseAndWhatComputesNothingFailsThoseThatHaveAnAnswer) {
  const oracle::Oracle& oracle = *GetParam();
  Asked asked(oracle);
  std::size_t copies_failed = 0;
  const std::vector<oracle::Case> cases = tests::cases_of_tier(oracle, 24);
  for (const oracle::Case& each : cases) {
    const oracle::Case c = fixed(each);
    const std::vector<lab::Outcome> outcomes = asked.of(c);
    ASSERT_EQ(outcomes.size(), 4u) << c.line();
    EXPECT_EQ(outcomes[0].status, lab::Status::passed) << c.line() << ": " << outcomes[0].reason;
    // What failed needs no second look at its reference.
    if (outcomes[1].status != lab::Status::failed) {
      EXPECT_FALSE(says_something(oracle, c, "zero")) << c.line();
    }
    if (outcomes[2].status != lab::Status::failed) {
      EXPECT_FALSE(says_something(oracle, c, "mean")) << c.line();
    }
    copies_failed += outcomes[3].status == lab::Status::failed;
    if (HasFailure()) return;
  }
  EXPECT_GT(copies_failed, cases.size() / 2);
}

std::vector<const oracle::Oracle*> all_oracles() {
  std::vector<const oracle::Oracle*> list;
  for (const oracle::Oracle& oracle : oracle::oracles()) list.push_back(&oracle);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Of, EveryVariation, testing::ValuesIn(all_oracles()),
                         [](const auto& info) { return test_name(info.param->contract->op); });
INSTANTIATE_TEST_SUITE_P(Of, EveryOp, testing::ValuesIn(all_oracles()),
                         [](const auto& info) { return test_name(info.param->contract->op); });

TEST(Runs, AResultThatDiffersFromTheThirdRunOnIsSeenByThoseWhoAskForThree) {
  const oracle::Oracle& oracle = *oracle::find_oracle("sin");
  const oracle::Case c = oracle::parse_case("sin n=100 seed=5");
  int runs = 0;
  std::optional<oracle::Expected> answer;
  const auto unsteady = lab::plant_reference([&](const core::Call& call) -> auto& {
    if (!answer) oracle.reference(call, {}, answer.emplace(call));
    if (++runs == 3) answer->tensors[0].value[7] *= 1 + 0x1p-23;  // within the bounds of f32
    return *answer;
  });
  lab::Queues queues;
  EXPECT_EQ(lab::check_case(oracle, c, {unsteady.get()}, queues)[0].status, lab::Status::passed);
  answer.reset();
  runs = 0;
  const auto outcome = lab::check_case(oracle, c, {unsteady.get()}, queues, false, nullptr, 3)[0];
  EXPECT_EQ(outcome.status, lab::Status::failed);
  EXPECT_NE(outcome.reason.find("differs between run 1 and run 3 of one plan, first in element 7"),
            std::string::npos)
      << outcome.reason;
}

TEST(Bounds, OfARoundedResultHasTheRoundingOfAllThatItMayBe) {
  // An element of h lies at the border of two codes: out[1, 10] is 0.00533, or with the other code 0.03412,
  // which bf16 rounds to 0.0341796875, further than it rounds 0.00533.
  const oracle::Case c = oracle::parse_case("expert_layer g=4 seed=223855320");
  const oracle::Oracle& oracle = *oracle::find_oracle("expert_layer");
  oracle::Problem problem(c);
  oracle.make(c, problem);
  oracle::Expected expected(problem.call());
  oracle.reference(problem.call(), {}, expected);
  oracle::ExpectedTensor& out = expected["out"];
  const std::size_t at = out.index(1, 10);
  EXPECT_LE(std::fabs(0.0341796875 - out.value[at]), out.bound[at]);
  EXPECT_GT(0.0345 - out.value[at], out.bound[at]);
}

}  // namespace
}  // namespace isomer
