// The Hopper kernel of attention with one fault each: the emulator, or the comparison, names every one.
#include "first_tier.hpp"
#include "planted.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer {
namespace {

class AttentionFault : public testing::TestWithParam<planted::Fault> {};

TEST_P(AttentionFault, IsNamed) { planted::expect_named(planted::attention_faults(), GetParam()); }

/// Each says what a fault of the products or of tests/hopper says, too: the first tier has every sixth.
INSTANTIATE_TEST_SUITE_P(
    OfEachKind, AttentionFault,
    testing::ValuesIn(tests::every_nth(planted::first_of_each_kind(planted::attention_faults()), 6)),
    [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(
    Others, AttentionFault,
    testing::ValuesIn(tests::in_second_tier(planted::others(planted::attention_faults()))),
    [](const auto& info) { return std::string(info.param.name); });

class AttentionWideFault : public testing::TestWithParam<planted::Fault> {};

TEST_P(AttentionWideFault, IsNamed) { planted::expect_named(planted::attention_wide_faults(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    OfEachKind, AttentionWideFault,
    testing::ValuesIn(tests::every_nth(planted::first_of_each_kind(planted::attention_wide_faults()), 2)),
    [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(
    Others, AttentionWideFault,
    testing::ValuesIn(tests::in_second_tier(planted::others(planted::attention_wide_faults()))),
    [](const auto& info) { return std::string(info.param.name); });

TEST(AttentionWideFaults, AreNoneInTheKernelItself) {
  const lab::Outcome outcome = planted::checked(planted::attention_wide_faults(), [](gpu::Step&) {});
  EXPECT_EQ(outcome.status, lab::Status::passed) << outcome.reason;
}

/// Of pages, packed heads, parts of the keys, their combine and appended keys.
struct OfPieces {
  planted::Planted planted;
  planted::Fault fault;
};
void PrintTo(const OfPieces& of, std::ostream* out) { *out << of.fault.name; }

std::vector<OfPieces> of_pieces(std::vector<planted::Fault> (*some)(const planted::Planted&)) {
  std::vector<OfPieces> list;
  for (const planted::Planted& planted :
       {planted::attention_piece_faults(), planted::attention_combine_faults(),
        planted::attention_append_faults()})
    for (const planted::Fault& fault : some(planted)) list.push_back({planted, fault});
  return list;
}

class AttentionPieceFault : public testing::TestWithParam<OfPieces> {};

TEST_P(AttentionPieceFault, IsNamed) { planted::expect_named(GetParam().planted, GetParam().fault); }

INSTANTIATE_TEST_SUITE_P(OfEachKind, AttentionPieceFault,
                         testing::ValuesIn(tests::every_nth(of_pieces(planted::first_of_each_kind), 3)),
                         [](const auto& info) { return std::string(info.param.fault.name); });
INSTANTIATE_TEST_SUITE_P(Others, AttentionPieceFault,
                         testing::ValuesIn(tests::in_second_tier(of_pieces(planted::others))),
                         [](const auto& info) { return std::string(info.param.fault.name); });

TEST(AttentionPieceFaults, AreNoneInTheKernelsThemselves) {
  std::set<std::string_view> known;
  std::vector<std::pair<planted::Planted, std::string_view>> cases;
  for (const OfPieces& of : of_pieces([](const planted::Planted& planted) {
         return std::vector<planted::Fault>(planted.faults.begin(), planted.faults.end());
       }))
    for (const std::string_view line : {of.planted.line, of.fault.line})
      if (!line.empty() && known.insert(line).second) cases.emplace_back(of.planted, line);
  EXPECT_GE(cases.size(), 3u);
  // Of the first tier every third.
  for (const auto& [planted, line] : tests::every_nth(cases, 3)) {
    const lab::Outcome outcome = planted::checked(
        planted, [](gpu::Step&) {}, line);
    EXPECT_EQ(outcome.status, lab::Status::passed) << line << ": " << outcome.reason;
  }
}

TEST(AttentionFaults, AreNoneInTheKernelItself) {
  const lab::Outcome outcome = planted::checked(planted::attention_faults(), [](gpu::Step&) {});
  EXPECT_EQ(outcome.status, lab::Status::passed) << outcome.reason;
}

}  // namespace
}  // namespace isomer
