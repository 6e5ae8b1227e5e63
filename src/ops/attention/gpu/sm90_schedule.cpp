// The model of how the Hopper kernel's tiles fall on multiprocessors, and what of their order it decides.
#include "core/ceil_div.hpp"
#include "ops/attention/gpu/sm90_tiling.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

namespace isomer::ops::attention {
namespace {

using core::ceil_div;

/// Blocks of keys of a tile of a head, or of one of `parts` of them; none where the part has no keys.
std::int64_t blocks_of(const Sm90Tiling& t, std::int64_t row_tile, std::int64_t parts, std::int64_t part) {
  const std::int64_t shift = t.seqlen_k - t.seqlen_q, rows = t.seqlen_q * t.pack;
  const auto begin_of = [&](std::int64_t tile) {
    return std::max<std::int64_t>(tile * t.tile_rows - t.missing_rows, 0);
  };
  const std::int64_t first = begin_of(row_tile) / t.pack,
                     last = (std::min(begin_of(row_tile + 1), rows) - 1) / t.pack;
  std::int64_t low = t.window_left < 0 ? 0 : std::max<std::int64_t>(first + shift - t.window_left, 0);
  std::int64_t high =
      t.window_right < 0 ? t.seqlen_k : std::min(last + shift + t.window_right + 1, t.seqlen_k);
  if (t.chunk > 0) {
    const auto begin = [&](std::int64_t place) {
      return std::max<std::int64_t>(place, 0) / t.chunk * t.chunk;
    };
    low = std::max(low, begin(first + shift));
    high = std::min(high, last + shift < 0 ? 0 : begin(last + shift) + t.chunk);
  }
  if (parts > 1) {
    const std::int64_t size =
        t.split_size > 0 ? t.split_size : ceil_div(ceil_div(t.seqlen_k, t.block_n), parts) * t.block_n;
    if (part * size >= t.seqlen_k) return 0;
    low = std::max(low, part * size) - part * size;
    high = std::min(high, (part + 1) * size) - part * size;
  }
  return high > low ? ceil_div(high, t.block_n) - low / t.block_n : 1;
}

std::int64_t blocks_of_head(const Sm90Tiling& t) {
  std::int64_t sum = 0;
  for (std::int64_t row_tile = 0; row_tile < t.row_tiles; ++row_tile)
    sum += blocks_of(t, row_tile, t.parts, 0);
  return sum;
}

}  // namespace

std::int64_t missing_rows_of(const Sm90Tiling& tiling) {
  if (tiling.lengths || tiling.parts > 1 || tiling.row_tiles < 2 || tiling.window_right < 0) return 0;
  Sm90Tiling last = tiling, first = tiling;
  last.missing_rows = 0;
  first.missing_rows = tiling.row_tiles * tiling.tile_rows - tiling.seqlen_q * tiling.pack;
  return blocks_of_head(first) < blocks_of_head(last) ? first.missing_rows : 0;
}

Sm90Schedule schedule_sm90(const Sm90Tiling& t) {
  Sm90Schedule schedule;
  if (t.grid == 0) return schedule;
  std::priority_queue<double, std::vector<double>, std::greater<>> ready;
  for (std::int64_t i = 0; i < t.grid; ++i) ready.push(0);
  const auto take = [&](std::int64_t row_tile, std::int64_t parts, std::int64_t part) {
    const std::int64_t blocks = blocks_of(t, row_tile, parts, part);
    if (blocks == 0) return;
    const double begin = ready.top(), cost = static_cast<double>(blocks) + t.border;
    ready.pop();
    ready.push(begin + cost);
    schedule.makespan = std::max(schedule.makespan, begin + cost);
    schedule.mean += cost / static_cast<double>(t.grid);
  };
  // Sections have one head where some are divided.
  const auto parts_of = [&](std::int64_t head) {
    return t.divided_units == 0 || head >= t.heads - t.divided_units ? t.parts : 1;
  };
  for (std::int64_t section = 0; section < t.heads; section += t.section)
    for (std::int64_t row_tile = t.row_tiles - 1; row_tile >= 0; --row_tile)
      for (std::int64_t part = 0; part < parts_of(section); ++part)
        for (std::int64_t head = section; head < std::min(section + t.section, t.heads); ++head)
          take(row_tile, parts_of(section), part);
  return schedule;
}

}  // namespace isomer::ops::attention
