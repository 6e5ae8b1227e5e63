// Attention's decode kernel over bytes with one fault each: the emulator, or the comparison, names every one.
#include "first_tier.hpp"
#include "planted.hpp"

#include <gtest/gtest.h>

#include <string>

namespace isomer {
namespace {

class AttentionDecodeFault : public testing::TestWithParam<planted::Fault> {};

TEST_P(AttentionDecodeFault, IsNamed) {
  planted::expect_named(planted::attention_decode_faults(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    OfEachKind, AttentionDecodeFault,
    testing::ValuesIn(tests::every_nth(planted::first_of_each_kind(planted::attention_decode_faults()), 2)),
    [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(
    Others, AttentionDecodeFault,
    testing::ValuesIn(tests::in_second_tier(planted::others(planted::attention_decode_faults()))),
    [](const auto& info) { return std::string(info.param.name); });

TEST(AttentionDecodeFaults, AreNoneInTheKernelItself) {
  planted::expect_right(planted::attention_decode_faults(), 4);
}

}  // namespace
}  // namespace isomer
