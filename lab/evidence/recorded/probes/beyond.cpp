#include "lab/evidence/recorded/probes/probes.hpp"

#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "lab/evidence/recorded/patterns/patterns.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace isomer::lab {
namespace {

/// Elements that are NaN or infinite, and finite in the reference; as many where nothing comparable came.
std::size_t lost_elements(const Replayed& replayed, const CallOutcome& outcome) {
  std::size_t count = 0;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const std::vector<double> want = oracle::elements(replayed.outputs[t].want);
    for (std::size_t i = 0; i < std::min(want.size(), outcome.got[t].size()); ++i)
      count += std::isfinite(want[i]) && !std::isfinite(outcome.got[t][i]);
  }
  return count;
}

/// The experiment of that code that makes the answer right.
std::optional<Finding> cause(const Approach& approach, const Replayed& replayed, Code code) {
  for (const Experiment& each : experiments(approach, replayed)) {
    if (each.finding.code != code) continue;
    Approach other = approach;
    other.form = each.form;
    other.adaptations.insert(other.adaptations.begin(), each.adaptations.begin(), each.adaptations.end());
    if (replay_once(other, replayed).right()) return each.finding;
  }
  return std::nullopt;
}

Finding of_large(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome) {
  const std::size_t lost = lost_elements(replayed, outcome);
  if (lost == 0) return {};
  const std::string seen = fmt::format("{} of {} elements are NaN or infinite, but the original's are finite",
                                       lost, outcome.elements);
  if (std::optional<Finding> found = cause(approach, replayed, Code::missing_max_subtraction)) {
    found->evidence = fmt::format("{}; {}", seen, found->evidence);
    return *found;
  }
  Finding finding;
  finding.code = Code::nan_inf;
  finding.evidence = seen;
  finding.fix = "look for an exponential, a square or a sum that overflows";
  return finding;
}

/// Most elements off by more than cancellation makes them, where the original has an epsilon and larger
/// values are right.
Finding clearly_off(const Replayed& replayed, const CallOutcome& outcome) {
  constexpr double kClearly = 0.2;
  std::size_t off = 0, all = 0;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const std::vector<double> want = oracle::elements(replayed.outputs[t].want);
    if (outcome.got[t].size() != want.size() || !is_float(replayed.outputs[t].want.dtype)) continue;
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (!std::isfinite(want[i]) || !std::isfinite(outcome.got[t][i])) return {};
      ++all;
      off += std::fabs(outcome.got[t][i] - want[i]) > kClearly * std::fabs(want[i]);
    }
  }
  const bool has_epsilon =
      std::any_of(replayed.values.begin(), replayed.values.end(), [](const Value& value) {
        return value.kind == Value::Kind::real && value.real > 0 && value.real < 1e-2;
      });
  if (!has_epsilon || all == 0 || 2 * off < all) return {};
  Finding finding;
  finding.code = Code::epsilon;
  finding.evidence = fmt::format(
      "{} of {} elements are off by more than a fifth, and with larger values all are right: what is added "
      "to "
      "the squares is another number",
      off, all);
  finding.fix = "use the original's epsilon in the original's place: inside the root, or outside it";
  return finding;
}

/// Where squares are as small as an epsilon; what else differs there is a matter of cancellation.
Finding of_small(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome) {
  if (outcome.right()) return {};
  if (const std::optional<Finding> found = cause(approach, replayed, Code::epsilon)) return *found;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const Replayed::Output& output = replayed.outputs[t];
    Finding finding =
        pattern_of({output.name, output.want, outcome.got[t], output.before, approach.rtol, approach.atol});
    if (finding.code != Code::missing_scale) continue;
    finding.code = Code::epsilon;
    finding.evidence = fmt::format("{} {}; with larger values it is right", output.name, finding.evidence);
    finding.fix = "use the original's epsilon in the original's place: inside the root, or outside it";
    return finding;
  }
  return clearly_off(replayed, outcome);
}

}  // namespace

void ask_beyond(const Approach& approach, const std::vector<Replayed>& asked,
                std::vector<Finding>& findings) {
  for (const Replayed& replayed : asked) {
    if (replayed.call->asked == "size") continue;
    const CallOutcome outcome = replay_once(approach, replayed);
    if (!outcome.answer.ok()) continue;
    const bool large = replayed.call->asked == "large";
    Finding finding = large ? of_large(approach, replayed, outcome) : of_small(approach, replayed, outcome);
    if (finding.code == Code::none) continue;
    finding.evidence = fmt::format("{}, which no call of the test has: {}", replayed.line, finding.evidence);
    add_once(findings, std::move(finding));
  }
}

}  // namespace isomer::lab
