#include "ops/flash_decode/gpu/blocks.hpp"
#include "core/ceil_div.hpp"

#include "ops/flash_decode/flash_decode.hpp"

#include <algorithm>

namespace isomer::ops::flash_decode {
namespace {

/// What a block costs besides its tokens, in tokens: lengths, slots and the first rows wait for each other,
/// its result goes out and is read again.
constexpr std::int64_t kBlockCost = 96;
/// Below that a block's warps have no tile each.
constexpr std::int64_t kFewest = 128;
/// Sequences are mostly shorter than the longest: blocks over that leave the work of few rows to few
/// multiprocessors.
constexpr std::int64_t kMost = 8192;
constexpr std::int64_t kMostSplits = 512;

}  // namespace

std::int64_t even_blocks(std::int64_t longest, std::int64_t rows, std::int64_t places) {
  std::int64_t best = kMost;
  double least = -1;
  const std::int64_t fewest_splits = core::ceil_div(std::max<std::int64_t>(longest, 1), kMost);
  for (std::int64_t splits = fewest_splits; splits <= fewest_splits + kMostSplits; ++splits) {
    const std::int64_t tokens =
        core::ceil_div(core::ceil_div(std::max<std::int64_t>(longest, 1), splits), 16) * 16;
    if (tokens < kFewest && splits > fewest_splits) break;
    // In double: the rows of a call may be any number.
    const double blocks = static_cast<double>(rows) * static_cast<double>(core::ceil_div(longest, tokens));
    const double waves =
        static_cast<double>(static_cast<std::int64_t>(blocks / static_cast<double>(places) + 0.999999));
    const double cost = std::max(waves, 1.0) * static_cast<double>(tokens + kBlockCost);
    if (least >= 0 && cost >= least) continue;
    least = cost;
    best = tokens;
  }
  return std::clamp(best, kFewest, kMost);
}

}  // namespace isomer::ops::flash_decode
