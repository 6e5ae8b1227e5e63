#include "lab/capture/nested_ranges.hpp"

#include <algorithm>

namespace isomer::lab {

void NestedRanges::add(std::uint64_t thread, double begin, double end, std::uint32_t name) {
  Thread& of = threads_[thread];
  of.ranges.push_back({begin, end, name, 0});
  of.sorted = false;
}

void NestedRanges::sort(Thread& thread) {
  std::stable_sort(thread.ranges.begin(), thread.ranges.end(), [](const Range& x, const Range& y) {
    return x.begin != y.begin ? x.begin < y.begin : x.end > y.end;
  });
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = 0; i < thread.ranges.size(); ++i) {
    Range& range = thread.ranges[i];
    while (!open.empty() && thread.ranges[open.back() - 1].end <= range.begin) open.pop_back();
    range.outer = open.empty() ? 0 : open.back();
    open.push_back(i + 1);
  }
  thread.sorted = true;
}

std::optional<std::uint32_t> NestedRanges::innermost(std::uint64_t thread, double moment) {
  const auto found = threads_.find(thread);
  if (found == threads_.end()) return std::nullopt;
  if (!found->second.sorted) sort(found->second);
  const std::vector<Range>& ranges = found->second.ranges;
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), moment,
                                      [](double at, const Range& range) { return at < range.begin; });
  auto at = static_cast<std::uint32_t>(after - ranges.begin());
  while (at != 0 && ranges[at - 1].end < moment) at = ranges[at - 1].outer;
  if (at == 0) return std::nullopt;
  return ranges[at - 1].name;
}

}  // namespace isomer::lab
