#include "core/contract.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

/// Two strided views share a byte when sum(i_k·s_k) over the first view's indices minus the same over the
/// second's equals the distance of their origins, give or take an element. A depth-first search over the
/// steps, largest first, with the reach of the remaining steps as the bound.
namespace isomer::core {
namespace {

struct Step {
  std::int64_t bytes;  ///< positive
  std::int64_t count;  ///< indices 0 … count−1
};

struct Search {
  std::vector<Step> steps;
  std::vector<std::int64_t> reach;  ///< of steps[i …]
  std::int64_t low, high;           ///< the sum must land in (low, high)
  int budget = 20000;

  bool found(std::size_t level, std::int64_t sum) {
    if (--budget < 0) return false;
    if (sum >= high || sum + reach[level] <= low) return false;
    if (level == steps.size()) return true;
    const Step& step = steps[level];
    // Only indices that can still land in the window.
    const std::int64_t rest = reach[level + 1];
    std::int64_t first = 0, last = step.count - 1;
    if (sum + rest <= low) first = std::max<std::int64_t>(first, (low - sum - rest) / step.bytes);
    last = std::min(last, (high - 1 - sum) / step.bytes);
    for (std::int64_t i = first; i <= last; ++i)
      if (found(level + 1, sum + i * step.bytes)) return true;
    return false;
  }
};

bool solve(std::vector<Step> steps, std::int64_t low, std::int64_t high) {
  Search search;
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.bytes > b.bytes; });
  search.steps = std::move(steps);
  search.low = low;
  search.high = high;
  search.reach.assign(search.steps.size() + 1, 0);
  for (std::size_t i = search.steps.size(); i-- > 0;)
    search.reach[i] = search.reach[i + 1] + search.steps[i].bytes * (search.steps[i].count - 1);
  return search.found(0, 0);
}

/// The addresses from the first to the last byte of a view.
struct Range {
  std::int64_t begin, end;

  explicit Range(const Tensor& tensor)
      : begin(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(tensor.data))),
        end(begin + size_of(tensor.dtype)) {
    for (int i = 0; i < tensor.rank; ++i)
      if (tensor.size(i) > 1)
        (tensor.stride(i) > 0 ? end : begin) +=
            tensor.stride(i) * size_of(tensor.dtype) * (tensor.size(i) - 1);
  }
};

std::vector<Step> steps_of(const Tensor& tensor) {
  std::vector<Step> steps;
  for (int i = 0; i < tensor.rank; ++i)
    if (tensor.size(i) > 1 && tensor.stride(i) != 0)
      steps.push_back({std::abs(tensor.stride(i) * size_of(tensor.dtype)), tensor.size(i)});
  return steps;
}

}  // namespace

bool overlap(const Tensor& a, const Tensor& b) {
  if (a.data == nullptr || b.data == nullptr || a.empty() || b.empty() || a.device != b.device) return false;
  const Range a_range(a), b_range(b);
  if (a_range.end <= b_range.begin || b_range.end <= a_range.begin) return false;
  std::vector<Step> steps = steps_of(a);
  // a_low + Σ i·s == b_low + Σ j·t + δ  ⇔  Σ i·s + Σ (n_t−1−j)·t == (b_low − a_low) + Σ (n_t−1)·t + δ,
  // where −size(a) < δ < size(b) covers partial overlaps.
  std::int64_t target = b_range.begin - a_range.begin;
  for (const Step& step : steps_of(b)) {
    target += step.bytes * (step.count - 1);
    steps.push_back(step);
  }
  return solve(std::move(steps), target - size_of(a.dtype), target + size_of(b.dtype));
}

bool overlaps_itself(const Tensor& tensor) {
  if (tensor.empty()) return false;
  for (int i = 0; i < tensor.rank; ++i)
    if (tensor.size(i) > 1 && tensor.stride(i) == 0) return true;
  // Sorted by stride, each beyond the reach of the smaller ones: no two index tuples meet.
  std::vector<Step> steps = steps_of(tensor);
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.bytes < b.bytes; });
  std::int64_t reach = size_of(tensor.dtype);
  bool nested = true;
  for (const Step& step : steps) {
    nested = nested && step.bytes >= reach;
    reach += step.bytes * (step.count - 1);
  }
  if (nested) return false;
  // Otherwise: some difference of two indices, not all zero, lands within an element of 0. Fix the first
  // dimension in which they differ (difference ≥ 1), let later ones differ freely.
  const std::int64_t element = size_of(tensor.dtype);
  for (std::size_t d = 0; d < steps.size(); ++d) {
    std::vector<Step> free = {{steps[d].bytes, steps[d].count - 1}};
    std::int64_t target = -steps[d].bytes;
    for (std::size_t i = d + 1; i < steps.size(); ++i) {
      free.push_back({steps[i].bytes, 2 * steps[i].count - 1});
      target += steps[i].bytes * (steps[i].count - 1);
    }
    if (solve(std::move(free), target - element, target + element)) return true;
  }
  return false;
}

double bytes_of(const Tensor& tensor) {
  if (!tensor.defined()) return 0;
  double count = 1;
  for (int i = 0; i < tensor.rank; ++i)
    if (tensor.stride(i) != 0 || tensor.size(i) == 0) count *= static_cast<double>(tensor.size(i));
  return count * size_of(tensor.dtype);
}

}  // namespace isomer::core
