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

/// `steps` of `layers` of `length` launches each, between one before and one behind; the first of a layer is
/// launched again at its end.
Sequence model(std::size_t steps, std::size_t layers, std::uint32_t length, bool one_more) {
  Sequence sequence;
  for (std::size_t step = 0; step < steps; ++step) {
    sequence.push_back(100);
    for (std::size_t layer = 0; layer < layers; ++layer) {
      for (std::uint32_t i = 0; i < length; ++i) sequence.push_back(i);
      if (one_more) sequence.push_back(50);
      sequence.push_back(0);
    }
    sequence.push_back(101);
  }
  return sequence;
}

TEST(RepeatedLayers, AreFoundInEachStep) {
  const Sequence sequence = model(3, 32, 8, false);
  const RepeatedLayers layers = RepeatedLayers::of(sequence);
  EXPECT_EQ(layers.launches(), 9u);
  ASSERT_EQ(layers.runs().size(), 3u);
  EXPECT_EQ(layers.layers_of_each_run(), 32u);
  EXPECT_EQ(layers.runs()[1].begin, 291u);
  EXPECT_EQ(layers.layer_of(0), std::nullopt) << "before the first";
  EXPECT_EQ(layers.layer_of(1 + 9 * 5 + 2), 5u);
  EXPECT_EQ(layers.layer_of(291), 32u) << "the second step's first";
  const RepeatedLayers::Share seventh = layers.share({6, 38, 70});
  EXPECT_EQ(seventh.layers, 1u);
  EXPECT_EQ(seventh.of, 32u);
  EXPECT_EQ(seventh.first, 7u);
  const RepeatedLayers::Share uneven = layers.share({6, 38});
  EXPECT_EQ(uneven.layers, 2u);
  EXPECT_EQ(uneven.of, 96u);
}

TEST(RepeatedLayers, AreNoneInOneLaunchOverAndOverAndInNoOrder) {
  EXPECT_TRUE(RepeatedLayers::of(Sequence(1000, 7)).empty());
  std::mt19937 random(7);
  Sequence any(5000);
  for (std::uint32_t& each : any) each = random() % 50;
  EXPECT_TRUE(RepeatedLayers::of(any).empty());
  EXPECT_TRUE(RepeatedLayers::of({}).empty());
  EXPECT_TRUE(RepeatedLayers::of(Sequence{1, 2, 1, 2, 1, 2, 1, 2}).empty());
}

TEST(RepeatedLayers, AreOneLayerWhereverItBegins) {
  const Sequence a = {9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}, b = {2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1},
                 other = {1, 3, 2, 1, 3, 2, 1, 3, 2, 1, 3, 2};
  const RepeatedLayers in_a = RepeatedLayers::of(a), in_b = RepeatedLayers::of(b),
                       in_other = RepeatedLayers::of(other);
  ASSERT_FALSE(in_a.empty() || in_b.empty() || in_other.empty());
  EXPECT_TRUE(same_layer(a, in_a, b, in_b));
  EXPECT_FALSE(same_layer(a, in_a, other, in_other));
}

TEST(Alignment, PairsLayerByLayerWhereEachOfThousandsDiffers) {
  const Sequence a = model(100, 80, 9, false), b = model(100, 80, 9, true);
  EXPECT_FALSE(align(a, b).by_order) << "more places than are aligned as a whole";
  const Alignment alignment = align_by_layers(a, RepeatedLayers::of(a), b, RepeatedLayers::of(b));
  EXPECT_TRUE(alignment.by_order);
  EXPECT_EQ(alignment.gaps.size(), 8000u);
  EXPECT_EQ(matched(a, b, alignment), a.size());
}

}  // namespace
}  // namespace isomer::lab
