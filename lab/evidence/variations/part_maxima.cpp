#include "lab/evidence/variations/part_maxima.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace isomer::lab {
namespace {

constexpr std::size_t kFewestScales = 3, kFewOfBlocks = 12;  // of fewer, chance

/// How far what a scale says of its element may be from it, for its type.
double near_to_element(DType scale) {
  return scale == DType::f16 ? 0x1p-10 : scale == DType::bf16 ? 0x1p-7 : 0x1p-20;
}

/// Which elements of blocks were seen to be left out, by their places in a block, and, for each block, those
/// of which one is what counts: of a narrow type several are alike.
struct Places {
  std::vector<std::vector<std::size_t>> counted;
  std::vector<std::size_t> left_out;

  /// The bit of an element's place that all that are left out have, and one that counts has not; 0: there is
  /// none.
  std::size_t telling_bit() const {
    for (std::size_t bit = 1; bit < (std::size_t{1} << 15); bit *= 2) {
      const auto has = [bit](std::size_t at) { return (at & bit) != 0; };
      if (std::all_of(left_out.begin(), left_out.end(), has) &&
          std::none_of(counted.begin(), counted.end(), [&](const std::vector<std::size_t>& alike) {
            return std::all_of(alike.begin(), alike.end(), has);
          }))
        return bit;
    }
    return 0;
  }
  std::string said(std::size_t block) const {
    const std::size_t first = *std::min_element(left_out.begin(), left_out.end());
    if (first == *std::max_element(left_out.begin(), left_out.end()) && (first == 0 || first + 1 == block))
      return fmt::format("; it is the {} element of a block that is left out", first == 0 ? "first" : "last");
    const bool before =
        std::all_of(counted.begin(), counted.end(),
                    [&](const std::vector<std::size_t>& alike) { return alike.front() < first; });
    if (before && std::has_single_bit(first))
      return fmt::format("; those that are left out begin with element {} of a block", first);
    const std::size_t bit = telling_bit();
    if (bit == 0 || 2 * bit > block) return {};
    if (bit == 1) return "; every second element is left out";
    return fmt::format("; of every {} elements of a block the second {} are left out", 2 * bit, bit);
  }
};

}  // namespace

std::optional<Finding> maximum_of_a_part(const Port& port, const Numbers& numbers) {
  if (port.original == nullptr || !port.original->scaling.magnitudes) return std::nullopt;
  const auto& scaling = port.original->scaling;
  std::size_t wrong = 0, others = 0, all = 0, size = 0;
  Places places;
  bool by_another_rule = false;
  double least = 0;
  std::string name;
  bool narrow = false;
  for (const Evidence& evidence : numbers.evidence) {
    if (scaling.output >= evidence.given->plain.tensors.size()) return std::nullopt;
    const oracle::ExpectedTensor& want = evidence.given->plain.tensors[scaling.output];
    const std::vector<std::vector<double>> blocks = scaling.magnitudes(evidence.given->problem->call());
    name = want.name;
    const double near = near_to_element(want.dtype);
    narrow = narrow || want.dtype != DType::f32;
    for (std::size_t i = 0; i < std::min(blocks.size(), want.value.size()); ++i) {
      const bool open = evidence.given->open[scaling.output][i] || !want.written[i] || blocks[i].empty();
      const double got = evidence.outputs[scaling.output][i];
      // Of rows that two tokens go to either may be there.
      if (open || std::isnan(want.value[i]) || want.others.count(i) > 0) continue;
      ++all;
      // Below the normal numbers of f16 a scale says little of its element.
      if (want.dtype == DType::f16 && got < 0x1p-14) continue;
      if (holds(want, i, got)) continue;
      const double largest = *std::max_element(blocks[i].begin(), blocks[i].end()),
                   counted = got * scaling.largest;
      // Zeros, and a maximum that is under the op's least one, have scales by another rule.
      if (largest == 0 || std::fabs(counted - largest) <= near * largest) {
        by_another_rule = true;
        continue;
      }
      // What one least scale is put under says nothing.
      if (counted > largest && (least == 0 || got == least)) {
        by_another_rule = true;
        least = got;
        continue;
      }
      std::vector<std::size_t> alike;
      for (std::size_t e = 0; e < blocks[i].size(); ++e)
        if (std::fabs(blocks[i][e] - counted) <= near * blocks[i][e]) alike.push_back(e);
      if (!(counted < largest) || !std::isfinite(got)) return std::nullopt;
      // What is put under a small maximum is no element.
      if (alike.empty()) {
        ++others;
        continue;
      }
      ++wrong;
      // Of a ragged block the places are others.
      if (blocks[i].size() < size) continue;
      if (blocks[i].size() > size) places = {};
      size = blocks[i].size();
      double most = 0;
      for (const std::size_t e : alike) most = std::max(most, blocks[i][e]);
      for (std::size_t e = 0; e < blocks[i].size(); ++e)
        if (blocks[i][e] > most * (1 + near)) places.left_out.push_back(e);
      places.counted.push_back(std::move(alike));
    }
  }
  if (wrong < kFewestScales || 4 * others > wrong || places.left_out.empty()) return std::nullopt;
  // Of few blocks the places have to say the same, and where another rule makes scales too, or rounds them.
  const std::string said = places.said(size);
  if ((wrong < kFewOfBlocks || by_another_rule || narrow) && said.empty()) return std::nullopt;
  Finding finding;
  finding.code = Code::other_reduction;
  finding.argument = name;
  finding.evidence = fmt::format(
      "{} of {} scales are made of an element that is not the largest of its block: "
      "the maximum leaves elements out{}",
      wrong, all, said);
  finding.fix = "take the maximum over all elements of the block, and over all warps that share it";
  finding.decides = true;
  return finding;
}

}  // namespace isomer::lab
