// The Hopper kernel of block-scaled products with one fault each: the emulator, or the comparison, names
// every one.
#include "first_tier.hpp"
#include "planted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace isomer {
namespace {

class Fp8GemmFault : public testing::TestWithParam<planted::Fault> {};

TEST_P(Fp8GemmFault, IsNamed) { planted::expect_named(planted::fp8_gemm_faults(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(OfEachKind, Fp8GemmFault,
                         testing::ValuesIn(planted::first_of_each_kind(planted::fp8_gemm_faults())),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(
    Others, Fp8GemmFault,
    testing::ValuesIn(tests::in_second_tier(planted::others(planted::fp8_gemm_faults()))),
    [](const auto& info) { return std::string(info.param.name); });

/// The cases and candidates that show the faults, each once.
std::vector<planted::Fault> shown_by() {
  std::vector<planted::Fault> list;
  for (const planted::Fault& fault : planted::fp8_gemm_faults().faults)
    if (std::none_of(list.begin(), list.end(), [&](const planted::Fault& each) {
          return each.line == fault.line && each.candidate == fault.candidate;
        }))
      list.push_back(fault);
  return list;
}

class Fp8GemmCleanTwin : public testing::TestWithParam<planted::Fault> {};

TEST_P(Fp8GemmCleanTwin, HoldsWhereTheFaultIsShown) {
  const planted::Fault& fault = GetParam();
  const lab::Outcome outcome = planted::checked(
      planted::fp8_gemm_faults(), [](gpu::Step&) {}, fault.line, fault.candidate);
  EXPECT_EQ(outcome.status, lab::Status::passed) << outcome.reason;
}

INSTANTIATE_TEST_SUITE_P(All, Fp8GemmCleanTwin, testing::ValuesIn(tests::every_nth(shown_by(), 3)),
                         [](const auto& info) { return std::string(info.param.name); });

/// Tiles that no ordinary case takes, or that a table alone takes.
class Fp8GemmTile : public testing::TestWithParam<const char*> {};

TEST_P(Fp8GemmTile, GivesWhatTheOpAsksFor) {
  const lab::Outcome outcome = planted::checked(
      planted::fp8_gemm_faults(), [](gpu::Step&) {}, "fp8_gemm m=40 n=328 k=1168 bf16 seed=7", GetParam());
  EXPECT_EQ(outcome.status, lab::Status::passed) << outcome.reason;
}

INSTANTIATE_TEST_SUITE_P(All, Fp8GemmTile,
                         testing::ValuesIn(tests::every_nth(std::vector{"64x192 split 3", "64x256 split 4",
                                                                        "128x256 cluster 2", "128x64",
                                                                        "128x64 split 2"},
                                                            2)),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST(Fp8GemmFaults, ATailOfKThatIsNotZeroedIsNamed) {
  // The rest of the last block of K is what the rows after hold.
  const auto whole_blocks = [](gpu::Step& step) {
    for (std::size_t i = 0; i < 2; ++i)
      step.maps[i].map.size[0] = (step.maps[i].map.size[0] + 127) / 128 * 128;
  };
  const lab::Outcome outcome =
      planted::checked(planted::fp8_gemm_faults(), whole_blocks, "fp8_gemm m=40 n=72 k=272 bf16 seed=7");
  EXPECT_EQ(outcome.status, lab::Status::failed);
  EXPECT_NE(outcome.reason.find("expected"), std::string::npos) << outcome.reason;
}

}  // namespace
}  // namespace isomer
