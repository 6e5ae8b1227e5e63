#pragma once

#include "oracle/variation.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Faults of a reduction over threads that leaves some of them out, for the references of the ops that have
/// one: "depth=of-32-of-64" sums the first 32 of every 64 elements. No variation of the lists: they are asked
/// for where nothing else explains an answer.
namespace isomer::oracle {

struct PartOfThreads {
  std::int64_t part = 1, of = 1;
  bool has(std::int64_t i) const { return i % of < part; }
  bool is_whole() const { return part == of; }
};

/// What follows "<prefix>of-" as two numbers; the whole where nothing does.
inline PartOfThreads part_of_threads(const Variations& vary, std::string_view prefix) {
  std::string_view text = vary.after(prefix);
  constexpr std::string_view kOf = "of-", kBetween = "-of-";
  const std::size_t between = text.find(kBetween);
  if (!text.starts_with(kOf) || between == std::string_view::npos) return {};
  const auto number = [](std::string_view digits) {
    std::int64_t value = 0;
    for (const char digit : digits) value = 10 * value + (digit - '0');
    return value;
  };
  return {number(text.substr(kOf.size(), between - kOf.size())),
          number(text.substr(between + kBetween.size()))};
}

/// Half of a warp, of a wave of 64 or of a block, and a block's first warp alone.
inline std::vector<std::string> parts_of_threads(std::string_view prefix) {
  std::vector<std::string> names;
  for (const auto& [part, of] :
       {std::pair{16, 32}, {8, 16}, {32, 64}, {64, 128}, {32, 128}, {128, 256}, {64, 256}, {32, 256}})
    names.push_back(std::string(prefix) + "of-" + std::to_string(part) + "-of-" + std::to_string(of));
  return names;
}

}  // namespace isomer::oracle
