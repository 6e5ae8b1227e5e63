// Attention's decode kernel over bytes with one fault each: the emulator, or the comparison, names every one.
#include "planted.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

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
  const planted::Planted planted = planted::attention_decode_faults();
  std::set<std::string_view> lines = {planted.line};
  for (const planted::Fault& fault : planted.faults)
    if (!fault.line.empty()) lines.insert(fault.line);
  EXPECT_EQ(lines.size(), 2u);
  for (const std::string_view line : lines) {
    const lab::Outcome outcome = planted::checked(
        planted, [](gpu::Step&) {}, line);
    EXPECT_EQ(outcome.status, lab::Status::passed) << line << ": " << outcome.reason;
  }
}

}  // namespace
}  // namespace isomer
