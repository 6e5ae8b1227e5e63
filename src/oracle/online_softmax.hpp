#pragma once

#include "oracle/variation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

/// Faults of a softmax that goes through its keys in tiles under a running maximum, for the references of the
/// ops that have one. Which tiles a port has nobody says: each width is a variation of its own.
namespace isomer::oracle {

/// With the running maximum m(t) of the keys up to the tile of t, what was summed before is to be multiplied
/// by e^(m(t−1) − m(t)). Where that is left out of the accumulator, key t weighs e^(S_t − m(t)) there; where
/// it is left out of the sum, it counts as much there.
inline const std::vector<Variation>& rescaling_variations() {
  static const std::vector<Variation> list = {
      {"rescale=not-acc-1", "the accumulator is not rescaled when a key raises the maximum"},
      {"rescale=not-acc-16", "the accumulator is not rescaled when a tile of 16 keys raises the maximum"},
      {"rescale=not-acc-32", "the accumulator is not rescaled when a tile of 32 keys raises the maximum"},
      {"rescale=not-acc-64", "the accumulator is not rescaled when a tile of 64 keys raises the maximum"},
      {"rescale=not-sum-1", "the sum is not rescaled when a key raises the maximum"},
      {"rescale=not-sum-16", "the sum is not rescaled when a tile of 16 keys raises the maximum"},
      {"rescale=not-sum-32", "the sum is not rescaled when a tile of 32 keys raises the maximum"},
      {"rescale=not-sum-64", "the sum is not rescaled when a tile of 64 keys raises the maximum"},
      {"rescale=not-parts-2", "two parts of the keys are added as they are, each under its own maximum"},
      {"rescale=not-parts-4", "four parts of the keys are added as they are, each under its own maximum"},
      {"rescale=not-parts-8", "eight parts of the keys are added as they are, each under its own maximum"},
      {"rescale=not-parts-of-64", "parts of 64 keys are added as they are, each under its own maximum"},
      {"rescale=not-parts-of-128", "parts of 128 keys are added as they are, each under its own maximum"},
      {"rescale=not-parts-of-256", "parts of 256 keys are added as they are, each under its own maximum"},
      {"rescale=not-parts-of-512", "parts of 512 keys are added as they are, each under its own maximum"},
      {"rescale=not-parts-to-256",
       "equal parts of up to 256 keys are added as they are, each under its own maximum"},
      {"rescale=not-sums-of-64", "the sums of parts of 64 keys are added as they are, their results weighed"},
      {"rescale=not-sums-of-128", "the sums of parts of 128 keys are added as they are, their results weighed"},
      {"rescale=not-sums-of-256", "the sums of parts of 256 keys are added as they are, their results weighed"},
      {"rescale=not-sums-of-512", "the sums of parts of 512 keys are added as they are, their results weighed"},
      {"rescale=not-sums-to-256",
       "the sums of equal parts of up to 256 keys are added as they are, their results weighed"},
  };
  return list;
}

/// How many keys have a maximum of their own, of `count`, where parts are added without being weighed: as
/// they are (`added` "rescale=not-parts-"), or their sums alone ("rescale=not-sums-"). 0: all.
inline std::size_t unweighed_part(const Variations& vary, std::string_view added, std::size_t count) {
  constexpr std::array<std::pair<std::string_view, std::size_t>, 3> kParts = {{{"2", 2}, {"4", 4}, {"8", 8}}};
  constexpr std::array<std::pair<std::string_view, std::size_t>, 4> kWidths = {
      {{"of-64", 64}, {"of-128", 128}, {"of-256", 256}, {"of-512", 512}}};
  constexpr std::size_t kMost = 256;
  const std::string_view said = vary.after(added);
  for (const auto& [name, parts] : kParts)
    if (said == name) return (count + parts - 1) / parts;
  for (const auto& [name, width] : kWidths)
    if (said == name) return width;
  if (said != "to-256" || count == 0) return 0;
  const std::size_t parts = (count + kMost - 1) / kMost;
  return (count + parts - 1) / parts;
}

/// `logits`, −inf where hidden; `weights` e^(S − maximum), or powers of two (`base_2`), and `sum` of them, of
/// the rescaled softmax.
inline void leave_out_rescaling(const Variations& vary, const std::vector<double>& logits,
                                std::vector<double>& weights, double& sum, bool base_2 = false) {
  constexpr std::array<std::size_t, 4> kTiles = {1, 16, 32, 64};
  constexpr std::array<std::string_view, 4> kAcc = {"rescale=not-acc-1", "rescale=not-acc-16",
                                                    "rescale=not-acc-32", "rescale=not-acc-64"},
                                            kSum = {"rescale=not-sum-1", "rescale=not-sum-16",
                                                    "rescale=not-sum-32", "rescale=not-sum-64"};
  for (std::size_t w = 0; w < kTiles.size(); ++w) {
    const bool acc = vary.has(kAcc[w]), in_sum = vary.has(kSum[w]);
    if (!acc && !in_sum) continue;
    double maximum = -std::numeric_limits<double>::infinity(), larger = 0;
    for (std::size_t begin = 0; begin < logits.size(); begin += kTiles[w]) {
      const std::size_t end = std::min(logits.size(), begin + kTiles[w]);
      for (std::size_t t = begin; t < end; ++t) maximum = std::max(maximum, logits[t]);
      for (std::size_t t = begin; t < end; ++t) {
        if (!std::isfinite(logits[t])) continue;
        const double away = logits[t] - maximum;
        const double weight = base_2 ? std::exp2(away) : std::exp(away);
        larger += weight - weights[t];
        if (acc) weights[t] = weight;
      }
    }
    if (in_sum) sum += larger;
  }
  for (const std::string_view added : {"rescale=not-parts-", "rescale=not-sums-"}) {
    const std::size_t part = unweighed_part(vary, added, logits.size());
    for (std::size_t begin = 0; part > 0 && begin < logits.size(); begin += part) {
      const auto first = logits.begin() + static_cast<std::ptrdiff_t>(begin);
      const std::size_t end = std::min(logits.size(), begin + part);
      const double maximum = *std::max_element(first, logits.begin() + static_cast<std::ptrdiff_t>(end));
      for (std::size_t t = begin; t < end; ++t) {
        if (!std::isfinite(logits[t])) continue;
        const double weight = base_2 ? std::exp2(logits[t] - maximum) : std::exp(logits[t] - maximum);
        sum += weight - weights[t];
        if (added == "rescale=not-parts-") weights[t] = weight;
      }
    }
  }
}

/// Keys behind the last, up to a whole tile, that get the logit 0 of a zeroed tile where they should get
/// −inf.
inline const std::vector<Variation>& tail_variations() {
  static const std::vector<Variation> list = {
      {"tail=weighs-16", "keys behind the last, up to a whole tile of 16, weigh as much as a logit of 0"},
      {"tail=weighs-32", "keys behind the last, up to a whole tile of 32, weigh as much as a logit of 0"},
      {"tail=weighs-64", "keys behind the last, up to a whole tile of 64, weigh as much as a logit of 0"},
      {"tail=weighs-128", "keys behind the last, up to a whole tile of 128, weigh as much as a logit of 0"},
  };
  return list;
}

/// How many such keys follow `count` ones.
inline std::int64_t weighing_tail(const Variations& vary, std::int64_t count) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kTiles = {
      {{"tail=weighs-16", 16}, {"tail=weighs-32", 32}, {"tail=weighs-64", 64}, {"tail=weighs-128", 128}}};
  for (const auto& [name, tile] : kTiles)
    if (vary.has(name)) return (tile - count % tile) % tile;
  return 0;
}

/// An op's own variations, and these.
inline std::vector<Variation> with_tiles(std::vector<Variation> own) {
  for (const auto* more : {&rescaling_variations(), &tail_variations()})
    own.insert(own.end(), more->begin(), more->end());
  return own;
}

}  // namespace isomer::oracle
