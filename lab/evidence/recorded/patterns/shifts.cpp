#include "lab/evidence/recorded/patterns/patterns.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace isomer::lab {
namespace {

constexpr int kDims = 2;  ///< the last ones, which a window moves over
constexpr std::size_t kFewestShifted = 12;

/// Whether got[i] is want[i − by] wherever that is inside, and want[i] is something else often enough. Of an
/// argument that is written in part, this part is what is looked for, and the rest is as it was.
bool is_shifted(const Compared& c, const std::vector<double>& want, const std::vector<double>& bounds,
                const std::vector<int>& by) {
  const std::vector<double> before = c.before.defined() && c.before.numel() == c.want.numel()
                                         ? oracle::elements(c.before)
                                         : std::vector<double>();
  std::size_t compared = 0, telling = 0;
  for (std::size_t flat = 0; flat < want.size(); ++flat) {
    auto rest = static_cast<std::int64_t>(flat);
    std::int64_t behind = 1, from = 0;
    bool inside = true;
    for (int d = c.want.rank - 1; d >= 0; --d) {
      const std::int64_t at = rest % c.want.size(d) - by[static_cast<std::size_t>(d)];
      inside = inside && at >= 0 && at < c.want.size(d);
      from += at * behind;
      behind *= c.want.size(d);
      rest /= c.want.size(d);
    }
    if (!inside) continue;
    const auto source = static_cast<std::size_t>(from);
    if (!before.empty() && want[source] == before[source]) {
      if (!is_close(before[flat], c.got[flat], bounds[flat])) return false;
      continue;
    }
    if (!is_close(want[source], c.got[flat], std::max(bounds[source], bounds[flat]))) return false;
    ++compared;
    telling += !is_close(want[source], want[flat], 2 * std::max(bounds[source], bounds[flat]));
  }
  return compared >= kFewestShifted && 2 * telling > compared;
}

}  // namespace

Finding shifted_answer(const Compared& c, const std::vector<double>& want,
                       const std::vector<double>& bounds) {
  if (c.want.rank == 0 || c.got.size() != want.size()) return {};
  for (const auto& [last, other] : std::array<std::pair<int, int>, 8>{
           {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}}}) {
    if (other != 0 && c.want.rank < kDims) continue;
    std::vector<int> by(static_cast<std::size_t>(c.want.rank));
    by.back() = last;
    if (other != 0) by[by.size() - 2] = other;
    if (!is_shifted(c, want, bounds, by)) continue;
    std::string said;
    for (const auto& [step, dim] : {std::pair(other, c.want.rank - 2), std::pair(last, c.want.rank - 1)})
      if (step != 0)
        said += fmt::format("{}one place {} along dimension {}", said.empty() ? "" : " and ",
                            step > 0 ? "later" : "earlier", dim);
    Finding finding;
    finding.code = Code::off_by_one;
    finding.argument = c.name;
    finding.evidence = fmt::format("has the reference's elements {}", said);
    finding.fix =
        "check where the window or the running sum begins and ends: it begins or ends one element too early "
        "or too late";
    return finding;
  }
  return {};
}

}  // namespace isomer::lab
