#include "lab/evidence/recorded/patterns/patterns.hpp"

#include <fmt/format.h>

#include <vector>

namespace isomer::lab {

Finding slices_elsewhere(const Compared& c, const std::vector<double>& want,
                         const std::vector<double>& bounds) {
  constexpr std::int64_t kMostSlices = 128;
  constexpr std::size_t kMostElements = 1 << 16, kFewest = 8, kShown = 6;
  if (!is_float(c.want.dtype) || want.size() > kMostElements || want.size() < kFewest) return {};
  for (int d = 0; d < c.want.rank; ++d) {
    const std::int64_t size = c.want.size(d);
    if (size < 2 || size > kMostSlices) continue;
    std::int64_t behind = 1;
    for (int e = d + 1; e < c.want.rank; ++e) behind *= c.want.size(e);
    const std::int64_t slice = c.want.numel() / size;
    // Single numbers are equal by chance more easily than rows of them.
    if (slice < 3) continue;
    const auto place = [&](std::int64_t i, std::int64_t at) {
      return static_cast<std::size_t>(at / behind * behind * size + i * behind + at % behind);
    };
    const auto same = [&](std::int64_t i, std::int64_t j) {
      for (std::int64_t at = 0; at < slice; ++at)
        if (!is_close(want[place(j, at)], c.got[place(i, at)], bounds[place(i, at)])) return false;
      return true;
    };
    std::string pairs;
    std::size_t moved = 0;
    std::vector<bool> held(static_cast<std::size_t>(size));
    bool all = true;
    for (std::int64_t i = 0; i < size && all; ++i) {
      if (same(i, i)) {
        held[static_cast<std::size_t>(i)] = true;
        continue;
      }
      std::int64_t from = -1;
      for (std::int64_t j = 0; j < size && from < 0; ++j)
        if (same(i, j)) from = j;
      // Rows that are chosen by their numbers may be any, and one of them several times.
      all = from >= 0 && !held[static_cast<std::size_t>(from)];
      if (all) held[static_cast<std::size_t>(from)] = true;
      if (all && moved++ < kShown) pairs += fmt::format("{}{} at {}", pairs.empty() ? "" : ", ", from, i);
    }
    if (!all || moved == 0) continue;
    Finding finding;
    finding.code = Code::layout_convention;
    finding.argument = c.name;
    finding.evidence =
        fmt::format("holds along dimension {} what the reference has at other indices: what it has at {}{}",
                    d, pairs, moved > kShown ? ", …" : "");
    finding.fix = fmt::format("use the original's index of dimension {}", d);
    return finding;
  }
  return {};
}

}  // namespace isomer::lab
