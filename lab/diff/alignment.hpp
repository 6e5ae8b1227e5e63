#pragma once

#include "lab/diff/repeated_layers.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace isomer::lab {

/// A stretch of two sequences between launches that match.
struct Gap {
  std::size_t a_begin = 0, a_end = 0, b_begin = 0, b_end = 0;
};

/// Two sequences side by side: what lies in no gap matches in order.
struct Alignment {
  std::vector<Gap> gaps;
  bool by_order = true;  ///< false: they differ too much, and all between the common ends is one gap
};

/// The longest common subsequence (Myers), as long as it costs at most about 10^9 steps and 64 MB: sequences
/// that differ in more than a few thousand places are given as one gap between their common ends.
Alignment align(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);

/// The same; sequences that differ in more places, but repeat as many layers, are compared layer by layer.
Alignment align_by_layers(std::span<const std::uint32_t> a, const RepeatedLayers& layers_a,
                          std::span<const std::uint32_t> b, const RepeatedLayers& layers_b);

}  // namespace isomer::lab
