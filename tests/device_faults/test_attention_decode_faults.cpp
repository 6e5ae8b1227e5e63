// Attention's decode kernel over bytes with one fault each: the emulator, or the comparison, names every one.
#include "planted.hpp"

#include <gtest/gtest.h>

#include <string>

namespace isomer {
namespace {

class AttentionDecodeFault : public testing::TestWithParam<planted::Fault> {};

TEST_P(AttentionDecodeFault, IsNamed) {
  planted::expect_named(planted::attention_decode_faults(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, AttentionDecodeFault,
                         testing::ValuesIn(planted::attention_decode_faults().faults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(AttentionDecodeFaults, AreNoneInTheKernelItself) {
  planted::expect_right(planted::attention_decode_faults(), 4);
}

}  // namespace
}  // namespace isomer
