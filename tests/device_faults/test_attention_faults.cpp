// The Hopper kernel of attention with one fault each: the emulator, or the comparison, names every one.
#include "planted.hpp"

#include <gtest/gtest.h>

namespace isomer {
namespace {

class AttentionFault : public testing::TestWithParam<planted::Fault> {};

TEST_P(AttentionFault, IsNamed) { planted::expect_named(planted::attention_faults(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, AttentionFault, testing::ValuesIn(planted::attention_faults().faults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AttentionFaults, AreNoneInTheKernelItself) {
  const lab::Outcome outcome = planted::checked(planted::attention_faults(), [](gpu::Step&) {});
  EXPECT_EQ(outcome.status, lab::Status::passed) << outcome.reason;
}

}  // namespace
}  // namespace isomer
