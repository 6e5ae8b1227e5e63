#include "lab/diff/alignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace isomer::lab {
namespace {

using Sequence = std::vector<std::uint32_t>;

/// Length of the longest common subsequence, by its definition.
std::size_t longest(const Sequence& a, const Sequence& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j)
      table[i][j] =
          a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
  return table[a.size()][b.size()];
}

/// How many match; fails where what lies between the gaps does not.
std::size_t matched(const Sequence& a, const Sequence& b, const Alignment& alignment) {
  std::size_t at_a = 0, at_b = 0, count = 0;
  const auto run = [&](std::size_t to_a, std::size_t to_b) {
    EXPECT_EQ(to_a - at_a, to_b - at_b);
    for (; at_a < to_a; ++at_a, ++at_b, ++count) EXPECT_EQ(a.at(at_a), b.at(at_b));
  };
  for (const Gap& gap : alignment.gaps) {
    run(gap.a_begin, gap.b_begin);
    EXPECT_TRUE(gap.a_end > gap.a_begin || gap.b_end > gap.b_begin);
    at_a = gap.a_end;
    at_b = gap.b_end;
  }
  run(a.size(), b.size());
  return count;
}

TEST(Alignment, IsTheLongestCommonSubsequence) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    Sequence a(random() % 12), b(random() % 12);
    const std::uint32_t letters = 1 + static_cast<std::uint32_t>(random() % 4);
    for (auto& each : a) each = static_cast<std::uint32_t>(random()) % letters;
    for (auto& each : b) each = static_cast<std::uint32_t>(random()) % letters;
    const Alignment alignment = align(a, b);
    EXPECT_TRUE(alignment.by_order);
    EXPECT_EQ(matched(a, b, alignment), longest(a, b));
  }
}

TEST(Alignment, FindsOneInsertionInAMillionLaunches) {
  Sequence a;
  for (std::uint32_t i = 0; i < 1'000'000; ++i) a.push_back(i % 37);
  Sequence b = a;
  b.insert(b.begin() + 400'007, 99);
  const Alignment alignment = align(a, b);
  ASSERT_EQ(alignment.gaps.size(), 1u);
  EXPECT_EQ(alignment.gaps[0].a_begin, 400'007u);
  EXPECT_EQ(alignment.gaps[0].a_end, 400'007u);
  EXPECT_EQ(alignment.gaps[0].b_end, 400'008u);
}

TEST(Alignment, GivesUpOrderWhereNothingMatches) {
  Sequence a(20'000), b(20'000);
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    a[i] = i;
    b[i] = 19'999 - i;
  }
  const Alignment alignment = align(a, b);
  EXPECT_FALSE(alignment.by_order);
  EXPECT_EQ(alignment.gaps.size(), 1u);
}

}  // namespace
}  // namespace isomer::lab
