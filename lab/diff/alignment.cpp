#include "lab/diff/alignment.hpp"

#include <algorithm>

namespace isomer::lab {
namespace {

using Sequence = std::span<const std::uint32_t>;

/// Positions that match, last first; empty where more than `most` edits are needed.
struct Matches {
  std::vector<std::pair<std::size_t, std::size_t>> runs;  ///< (a, b) of each matching pair
  bool found = false;
};

/// Myers' greedy algorithm: `furthest[k]` is the furthest x on diagonal x − y = k with d edits; the row of
/// every d is kept to walk back.
Matches match(Sequence a, Sequence b, std::size_t most) {
  const auto n = static_cast<std::ptrdiff_t>(a.size()), m = static_cast<std::ptrdiff_t>(b.size());
  std::vector<std::vector<std::uint32_t>> rows;
  std::vector<std::uint32_t> furthest(2 * most + 3, 0);
  const auto middle = static_cast<std::ptrdiff_t>(most) + 1;
  const auto at = [&](std::ptrdiff_t k) -> std::uint32_t& {
    return furthest[static_cast<std::size_t>(middle + k)];
  };
  Matches matches;
  for (std::ptrdiff_t d = 0; d <= static_cast<std::ptrdiff_t>(most) && !matches.found; ++d) {
    for (std::ptrdiff_t k = -d; k <= d; k += 2) {
      std::ptrdiff_t x = d == 0                                         ? 0
                         : k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1)
                                                                        : at(k - 1) + 1;
      std::ptrdiff_t y = x - k;
      while (x < n && y < m && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(y)]) ++x, ++y;
      at(k) = static_cast<std::uint32_t>(x);
      if (k == n - m && x >= n) matches.found = true;
    }
    rows.emplace_back(furthest.begin() + (middle - d), furthest.begin() + (middle + d + 1));
  }
  if (!matches.found) return matches;
  std::ptrdiff_t x = n, y = m;
  for (auto d = static_cast<std::ptrdiff_t>(rows.size()) - 1; d > 0; --d) {
    const auto& row = rows[static_cast<std::size_t>(d - 1)];
    const auto before = [&](std::ptrdiff_t k) -> std::ptrdiff_t {
      return k < -(d - 1) || k > d - 1
                 ? -1
                 : static_cast<std::ptrdiff_t>(row[static_cast<std::size_t>(k + d - 1)]);
    };
    const std::ptrdiff_t k = x - y;
    const bool down = k == -d || (k != d && before(k - 1) < before(k + 1));
    const std::ptrdiff_t from = down ? k + 1 : k - 1, from_x = before(from);
    const std::ptrdiff_t from_y = from_x - from;
    const std::ptrdiff_t start_x = down ? from_x : from_x + 1;
    while (x > start_x) matches.runs.emplace_back(--x, --y);
    x = from_x, y = from_y;
  }
  while (x > 0 && y > 0) matches.runs.emplace_back(--x, --y);
  return matches;
}

}  // namespace

Alignment align(Sequence a, Sequence b) {
  Alignment alignment;
  std::size_t front = 0, back = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (front < shorter && a[front] == b[front]) ++front;
  while (back < shorter - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  const Sequence inner_a = a.subspan(front, a.size() - front - back),
                 inner_b = b.subspan(front, b.size() - front - back);
  const Gap whole{front, front + inner_a.size(), front, front + inner_b.size()};
  if (inner_a.empty() && inner_b.empty()) return alignment;
  if (inner_a.empty() || inner_b.empty()) {
    alignment.gaps.push_back(whole);
    return alignment;
  }
  constexpr std::size_t kMostEdits = 4000, kMostSteps = 1'000'000'000;
  const std::size_t length = inner_a.size() + inner_b.size();
  const Matches matches = match(inner_a, inner_b, std::min({kMostEdits, length, kMostSteps / length + 1}));
  if (!matches.found) {
    alignment.gaps.push_back(whole);
    alignment.by_order = false;
    return alignment;
  }
  std::size_t at_a = 0, at_b = 0;
  const auto gap_until = [&](std::size_t to_a, std::size_t to_b) {
    if (to_a > at_a || to_b > at_b)
      alignment.gaps.push_back({front + at_a, front + to_a, front + at_b, front + to_b});
  };
  for (auto match = matches.runs.rbegin(); match != matches.runs.rend(); ++match) {
    gap_until(match->first, match->second);
    at_a = match->first + 1;
    at_b = match->second + 1;
  }
  gap_until(inner_a.size(), inner_b.size());
  return alignment;
}

Alignment align_by_layers(Sequence a, const RepeatedLayers& layers_a, Sequence b,
                          const RepeatedLayers& layers_b) {
  Alignment whole = align(a, b);
  const auto &runs_a = layers_a.runs(), &runs_b = layers_b.runs();
  const auto as_many = [](const RepeatedLayers::Run& x, const RepeatedLayers::Run& y) {
    return x.layers == y.layers;
  };
  if (whole.by_order || runs_a.empty() ||
      !std::equal(runs_a.begin(), runs_a.end(), runs_b.begin(), runs_b.end(), as_many))
    return whole;
  Alignment by_layers;
  std::size_t at_a = 0, at_b = 0;
  const auto until = [&](std::size_t to_a, std::size_t to_b) {
    const Alignment piece = align(a.subspan(at_a, to_a - at_a), b.subspan(at_b, to_b - at_b));
    if (!piece.by_order) by_layers.by_order = false;
    for (const Gap& gap : piece.gaps)
      by_layers.gaps.push_back({at_a + gap.a_begin, at_a + gap.a_end, at_b + gap.b_begin, at_b + gap.b_end});
    at_a = to_a;
    at_b = to_b;
  };
  for (std::size_t run = 0; run < runs_a.size(); ++run)
    for (std::size_t layer = 0; layer <= runs_a[run].layers; ++layer)
      until(runs_a[run].begin + layer * layers_a.launches(), runs_b[run].begin + layer * layers_b.launches());
  until(a.size(), b.size());
  return by_layers.by_order ? by_layers : whole;
}

}  // namespace isomer::lab
