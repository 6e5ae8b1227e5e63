// Attention's mma.sync kernel with one fault each: the emulator, or the comparison, names every one.
#include "first_tier.hpp"
#include "planted.hpp"

#include <gtest/gtest.h>

#include <string>

namespace isomer {
namespace {

class AttentionSm80Fault : public testing::TestWithParam<planted::Fault> {};

TEST_P(AttentionSm80Fault, IsNamed) { planted::expect_named(planted::attention_sm80_faults(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    OfEachKind, AttentionSm80Fault,
    testing::ValuesIn(tests::every_nth(planted::first_of_each_kind(planted::attention_sm80_faults()), 3)),
    [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(
    Others, AttentionSm80Fault,
    testing::ValuesIn(tests::in_second_tier(planted::others(planted::attention_sm80_faults()))),
    [](const auto& info) { return std::string(info.param.name); });

TEST(AttentionSm80Faults, AreNoneInTheKernelItself) {
  planted::expect_right(planted::attention_sm80_faults(), 6);
}

}  // namespace
}  // namespace isomer
