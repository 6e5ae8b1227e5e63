#include "lab/evidence/recorded/patterns/patterns.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isomer::lab {
namespace {

/// Whether `index` holds places along dimension `dim` of `x`: as long as x in every other dimension, of which
/// it may lack that one.
bool points_along(const Tensor& index, const Tensor& x, int dim) {
  const bool lacks = index.rank == x.rank - 1;
  if (!lacks && index.rank != x.rank) return false;
  for (int d = 0; d < x.rank; ++d) {
    if (d == dim) continue;
    const int at = lacks && d > dim ? d - 1 : d;
    if (index.size(at) != x.size(d)) return false;
  }
  return true;
}

/// The element of row-major `x` that the flat element `at` of `index` names by `place`.
std::size_t named_by(const Tensor& index, const Tensor& x, int dim, std::size_t at, std::int64_t place) {
  auto rest = static_cast<std::int64_t>(at);
  std::int64_t behind = 1, flat = 0;
  const bool lacks = index.rank == x.rank - 1;
  for (int d = x.rank - 1; d >= 0; --d) {
    std::int64_t own = place;
    if (d != dim) {
      own = rest % x.size(d);
      rest /= x.size(d);
    } else if (!lacks) {
      rest /= index.size(d);
    }
    flat += own * behind;
    behind *= x.size(d);
  }
  return static_cast<std::size_t>(flat);
}

}  // namespace

Finding other_of_equals(const Replayed& replayed, std::size_t output, const std::vector<double>& got) {
  const Tensor& index = replayed.outputs[output].want;
  const std::vector<double> want = oracle::elements(index);
  if (is_float(index.dtype) || got.size() != want.size()) return {};
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
    const Value& value = replayed.values[r];
    if (!value.is_tensor() || replayed.roles[r].output) continue;
    const Tensor& x = value.tensor;
    const std::vector<double> elements = oracle::elements(x);
    for (int dim = 0; dim < x.rank; ++dim) {
      if (!points_along(index, x, dim)) continue;
      const auto inside = [&](double place) {
        return place >= 0 && place < static_cast<double>(x.size(dim)) && place == std::floor(place);
      };
      std::size_t wrong = 0, first = 0;
      bool equal = true;
      for (std::size_t i = 0; i < want.size() && equal; ++i) {
        if (want[i] == got[i]) continue;
        if (wrong++ == 0) first = i;
        equal = inside(want[i]) && inside(got[i]) &&
                elements[named_by(index, x, dim, i, static_cast<std::int64_t>(want[i]))] ==
                    elements[named_by(index, x, dim, i, static_cast<std::int64_t>(got[i]))];
      }
      if (!equal || wrong == 0) continue;
      Finding finding;
      finding.code = Code::tie_rule;
      finding.argument = replayed.outputs[output].name;
      finding.evidence = fmt::format(
          "{} of {} places along dimension {} of {} differ, and at each of them {} has the same value as at "
          "the original's place: first {:g} instead of {:g}",
          wrong, want.size(), dim, replayed.roles[r].name, replayed.roles[r].name, got[first], want[first]);
      finding.fix = "choose the same one of several equal values as the original: the first or the last";
      return finding;
    }
  }
  return {};
}

}  // namespace isomer::lab
