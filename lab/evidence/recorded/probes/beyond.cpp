#include "lab/evidence/recorded/probes/probes.hpp"

#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "lab/evidence/recorded/patterns/patterns.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
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

/// Equal elements of which another place is chosen: by the element that stands at both, or because only
/// places are wrong.
Finding of_equal(const Replayed& replayed, const CallOutcome& outcome) {
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    if (outcome.wrong[t] == 0 || is_float(replayed.outputs[t].want.dtype)) continue;
    if (Finding finding = other_of_equals(replayed, t, outcome.got[t]); finding.code != Code::none)
      return finding;
  }
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const Tensor& want = replayed.outputs[t].want;
    if (outcome.wrong[t] == 0 || is_float(want.dtype) || size_of(want.dtype) < 4) continue;
    Finding finding;
    finding.code = Code::tie_rule;
    finding.argument = replayed.outputs[t].name;
    finding.evidence = fmt::format(
        "{} of {} places in {} are others where elements are equal, and none is where they are not",
        outcome.wrong[t], want.numel(), finding.argument);
    finding.fix = "choose the same one of several equal values as the original, and each of them once";
    return finding;
  }
  return {};
}

/// Whether a bound is 0, a number that the label writes, or one that it is given: an epsilon in a logarithm
/// bounds values too, and none lacks it who is more exact.
bool is_of_label(double bound, const Replayed& replayed, const std::vector<std::string>& numbers) {
  if (bound == 0 || numbers.empty()) return true;
  const auto is = [&](double number) {
    return std::fabs(std::fabs(bound) - std::fabs(number)) <= 1e-3 * std::fabs(bound);
  };
  return std::any_of(numbers.begin(), numbers.end(),
                     [&](const std::string& each) { return is(std::strtod(each.c_str(), nullptr)); }) ||
         std::any_of(replayed.values.begin(), replayed.values.end(), [&](const Value& value) {
           return (value.kind == Value::Kind::real && is(value.real)) ||
                  (value.kind == Value::Kind::integer && is(static_cast<double>(value.integer)));
         });
}

/// Elements that are one number in the reference, and beyond it in the answer: a bound that is missing.
/// Of no code where the label bounds nothing by that number; nothing where there is no such number.
std::optional<Finding> of_bound(const Replayed& replayed, const CallOutcome& outcome,
                                const std::vector<std::string>& numbers) {
  constexpr std::size_t kFewest = 4;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const std::vector<double> want = oracle::elements(replayed.outputs[t].want), &got = outcome.got[t];
    if (got.size() != want.size()) continue;
    std::size_t below = 0, above = 0;
    double bound = NAN;
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (got[i] == want[i]) continue;
      if (std::isnan(bound)) bound = want[i];
      if (want[i] != bound || std::isnan(got[i])) bound = INFINITY;
      below += got[i] < want[i];
      above += got[i] > want[i];
    }
    if (!std::isfinite(bound) || below + above < kFewest || (below > 0 && above > 0)) continue;
    if (!is_of_label(bound, replayed, numbers)) return Finding();
    Finding finding;
    finding.code = Code::clamp;
    finding.argument = replayed.outputs[t].name;
    finding.evidence = fmt::format("{} of {} elements are {} {:g}, and the original's are {:g} there",
                                   below + above, want.size(), below > 0 ? "below" : "above", bound, bound);
    finding.fix = fmt::format("bound the value {} by {:g}", below > 0 ? "from below" : "from above", bound);
    return finding;
  }
  return std::nullopt;
}

/// Values of one sign, with which a wrong beginning of a maximum or minimum shows.
Finding of_one_sign(const Replayed& replayed, const CallOutcome& outcome,
                    const std::vector<std::string>& numbers) {
  constexpr double kClearly = 0.05;
  std::size_t off = 0, all = 0;
  const bool numbers_too = std::any_of(replayed.outputs.begin(), replayed.outputs.end(),
                                       [](const auto& output) { return is_float(output.want.dtype); });
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const std::vector<double> want = oracle::elements(replayed.outputs[t].want);
    if (outcome.got[t].size() != want.size()) continue;
    // Which of equals an index is of is no matter where the numbers themselves are right.
    if (numbers_too && !is_float(replayed.outputs[t].want.dtype)) continue;
    double squares = 0;
    for (const double each : want) squares += each * each;
    const double typical = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(want.size(), 1)));
    all += want.size();
    for (std::size_t i = 0; i < want.size(); ++i)
      off += !(std::fabs(outcome.got[t][i] - want[i]) <= kClearly * typical + 1e-12);
  }
  if (outcome.right() || off == 0) return {};
  if (const std::optional<Finding> bound = of_bound(replayed, outcome, numbers)) return *bound;
  const bool far = replayed.call->asked.starts_with("far");
  const bool below = far || replayed.call->asked == "negative";
  Finding finding;
  finding.code = far ? Code::missing_max_subtraction : Code::other_reduction;
  finding.evidence = fmt::format(
      "{} of {} elements are wrong, and with values of both signs none is: a {} that begins with 0, or with "
      "another "
      "number {} them all",
      off, all, below ? "maximum" : "minimum", below ? "above" : "below");
  finding.fix = fmt::format("begin the {} with {}infinity", below ? "maximum" : "minimum", below ? "-" : "");
  return finding;
}

}  // namespace

void ask_beyond(const Approach& approach, const std::vector<Replayed>& asked,
                const std::vector<std::string>& numbers, std::vector<Finding>& findings) {
  bool of_sign = false;  // what begins wrongly is wrong with equal values too
  for (const Replayed& replayed : asked) {
    if (replayed.call->asked == "size" || (of_sign && replayed.call->asked.ends_with("equal"))) continue;
    const CallOutcome outcome = replay_once(approach, replayed);
    if (!outcome.answer.ok()) continue;
    const std::string& asked_for = replayed.call->asked;
    Finding finding;
    if (asked_for == "large") finding = of_large(approach, replayed, outcome);
    if (asked_for == "small") finding = of_small(approach, replayed, outcome);
    if (asked_for.ends_with("equal")) finding = of_equal(replayed, outcome);
    if (asked_for == "negative" || asked_for == "positive" || asked_for == "far below zero")
      finding = of_one_sign(replayed, outcome, numbers);
    of_sign =
        of_sign || finding.code == Code::other_reduction || finding.code == Code::missing_max_subtraction;
    if (finding.code == Code::none) continue;
    finding.evidence = fmt::format("{}, which no call of the test has: {}", replayed.line, finding.evidence);
    add_once(findings, std::move(finding));
  }
}

}  // namespace isomer::lab
