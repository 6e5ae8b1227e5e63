#include "lab/evidence/recorded/patterns/patterns.hpp"

#include "core/codec.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace isomer::lab {

Finding band_of_wrong(const Compared& c, const std::vector<std::size_t>& at) {
  constexpr std::size_t kFewest = 6;
  constexpr std::int64_t kShortest = 3;
  const auto count = static_cast<std::size_t>(c.want.numel());
  if (at.size() < kFewest || c.want.rank < 2) return {};
  std::vector<bool> wrong(count);
  for (const std::size_t i : at) wrong[i] = true;
  std::vector<std::int64_t> behind(static_cast<std::size_t>(c.want.rank), 1);
  for (int d = c.want.rank - 2; d >= 0; --d)
    behind[static_cast<std::size_t>(d)] = behind[static_cast<std::size_t>(d + 1)] * c.want.size(d + 1);
  for (int rows = 0; rows < c.want.rank; ++rows)
    for (int columns = rows + 1; columns < c.want.rank; ++columns) {
      if (c.want.size(rows) < kShortest || c.want.size(columns) < kShortest) continue;
      const auto diagonal = [&](std::size_t i) {
        const auto flat = static_cast<std::int64_t>(i);
        return flat / behind[static_cast<std::size_t>(columns)] % c.want.size(columns) -
               flat / behind[static_cast<std::size_t>(rows)] % c.want.size(rows);
      };
      std::int64_t low = diagonal(at.front()), high = low;
      for (const std::size_t i : at) {
        low = std::min(low, diagonal(i));
        high = std::max(high, diagonal(i));
      }
      // All of it, or an end of it alone, may be anything.
      if (low <= 1 - c.want.size(rows) && high >= c.want.size(columns) - 1) continue;
      bool same = true;
      for (std::size_t i = 0; i < count && same; ++i)
        same = wrong[i] == (diagonal(i) >= low && diagonal(i) <= high);
      if (!same) continue;
      Finding finding;
      finding.code = Code::mask_alignment;
      finding.argument = c.name;
      finding.evidence = fmt::format(
          "is wrong in a band along the diagonal of dimensions {} and {}, where the index in the second is "
          "that in "
          "the first {} {} to {} {}, in all {} elements of it and in no others",
          rows, columns, low < 0 ? "less" : "plus", std::abs(low), high < 0 ? "less" : "plus", std::abs(high),
          at.size());
      finding.fix =
          "shift the bound of the mask by the difference of the two lengths, and compare as the original "
          "does";
      return finding;
    }
  return {};
}

Finding bound_of_wrong(const Compared& c, const std::vector<double>& want,
                       const std::vector<std::size_t>& at) {
  constexpr std::size_t kFewest = 4;
  if (at.size() < kFewest || !std::isfinite(c.got[at.front()])) return {};
  const double bound = c.got[at.front()];
  std::vector<bool> wrong(want.size());
  for (const std::size_t i : at) {
    if (c.got[i] < bound || c.got[i] > bound) return {};
    wrong[i] = true;
  }
  for (const bool below : {true, false}) {
    std::size_t beside = 0;  // what is right on the other side of it
    bool holds = true;
    for (std::size_t i = 0; i < want.size() && holds; ++i) {
      const bool beyond = below ? want[i] < bound : want[i] > bound;
      holds =
          std::isfinite(want[i]) && (!wrong[i] || beyond) && (below ? c.got[i] >= bound : c.got[i] <= bound);
      beside += !wrong[i] && !beyond;
    }
    if (!holds || beside < kFewest) continue;
    Finding finding;
    finding.code = Code::clamp;
    finding.argument = c.name;
    finding.evidence = fmt::format(
        "is {:g} in all {} elements in which the reference is {}, and right in the others: it is bounded "
        "there, or "
        "what it is compared with begins with {:g}",
        bound, at.size(), below ? "less" : "more", bound);
    finding.fix =
        below ? "begin a maximum with the least number there is, as the original does, and bound nothing"
              : "begin a minimum with the largest number there is, as the original does, and bound nothing";
    return finding;
  }
  return {};
}

Finding factors_of_wrong(const Compared& c, const std::vector<double>& want,
                         const std::vector<std::size_t>& at) {
  constexpr std::size_t kFewest = 4, kMostFactors = 4;
  constexpr double kClose = 2e-4;
  if (at.size() < kFewest || at.size() == want.size() || !is_float(c.want.dtype) || size_of(c.want.dtype) < 4)
    return {};
  std::vector<std::pair<double, std::size_t>> groups;
  for (const std::size_t i : at) {
    if (want[i] == 0 || !std::isfinite(want[i]) || !std::isfinite(c.got[i]) || c.got[i] == 0) return {};
    const double ratio = c.got[i] / want[i];
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& each) {
      return std::fabs(each.first - ratio) < kClose * std::fabs(ratio);
    });
    if (known != groups.end())
      ++known->second;
    else if (groups.size() == kMostFactors)
      return {};
    else
      groups.emplace_back(ratio, 1);
  }
  // By chance no two are the same.
  std::string said;
  for (const auto& [ratio, times] : groups) {
    if (times < 2 || std::fabs(ratio - 1) < 1e-3) return {};
    said += fmt::format("{}{:.5g} ({} elements)", said.empty() ? "" : ", ", ratio, times);
  }
  if (groups.size() * 3 > at.size()) return {};
  Finding finding;
  finding.code = Code::missing_scale;
  finding.argument = c.name;
  finding.evidence = fmt::format("is right in {} of {} elements, and the others are the reference times {}",
                                 want.size() - at.size(), want.size(), said);
  finding.fix =
      "divide or multiply these elements by the original's number: what is counted for them is another";
  finding.row_factor = true;
  return finding;
}

bool changes_evenly(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                    std::size_t output) {
  constexpr double kStep = 1e-4, kShare = 0.05;
  const auto with = [&](double by) {
    Replayed other = replayed;
    for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
      const Value& value = replayed.values[r];
      if (!value.is_tensor() || !is_float(value.tensor.dtype) || value.tensor.empty()) continue;
      Value made = compact_copy(value);
      const std::vector<double> elements = oracle::elements(value.tensor);
      const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
      for (std::size_t i = 0; i < elements.size(); ++i)
        core::encode(value.tensor.dtype, elements[i] * (1 + by),
                     static_cast<std::byte*>(made.storage.get()) + i * size);
      other.values[r] = std::move(made);
    }
    return replay_once(approach, other);
  };
  bool real = false;
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
    const Value& value = replayed.values[r];
    if (!value.is_tensor() || !is_float(value.tensor.dtype)) continue;
    // What is given in 16 bits is itself rounded by so small a step.
    if (size_of(value.tensor.dtype) < 4) return false;
    real = true;
  }
  if (!real) return false;
  const CallOutcome more = with(kStep), less = with(-kStep);
  const std::vector<double>& now = outcome.got[output];
  if (!more.answer.ok() || !less.answer.ok() || more.got[output].size() != now.size() ||
      less.got[output].size() != now.size())
    return false;
  const std::vector<double> want = oracle::elements(replayed.outputs[output].want);
  double bends = 0, errors = 0;
  for (std::size_t i = 0; i < now.size() && i < want.size(); ++i) {
    const double bend = more.got[output][i] + less.got[output][i] - 2 * now[i], error = now[i] - want[i];
    if (!std::isfinite(bend) || !std::isfinite(error)) return false;
    bends += bend * bend;
    errors += error * error;
  }
  return bends < kShare * kShare * errors;
}

}  // namespace isomer::lab
