#include "lab/ask/adapting/changes.hpp"
#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "lab/evidence/recorded/patterns/patterns.hpp"
#include "lab/evidence/recorded/quick.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace isomer::lab {
namespace {

using What = Passing::What;
constexpr int kPeeled = 3;  ///< faults that are peeled off one after the other
/// For the experiments on one candidate: so many calls and, where those are quick, so many more; but no more
/// than so many seconds of the processor's on the calls themselves. How busy the machine is decides little:
/// who waits longer than the last number says, for calls of all signatures, would rather have the rest.
constexpr int kCalls = 120, kQuickCalls = 400;
constexpr double kSeconds = 3, kMostSeconds = 10, kMostOfTheClock = 14;

/// Whether an input is another after the call: the mark of arguments in another order.
bool writes_inputs(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome) {
  const std::vector<Value> given = passed(approach.form, replayed.values);
  for (std::size_t i = 0; i < given.size() && i < outcome.answer.arguments.size(); ++i) {
    const Passing& passing = approach.form.passings[i];
    if (passing.what != What::role || !given[i].is_tensor() ||
        replayed.roles[static_cast<std::size_t>(passing.role)].output || holds_a_result(approach.form, i))
      continue;
    const std::vector<double> before = oracle::elements(given[i].tensor),
                              after = oracle::elements(outcome.answer.arguments[i].tensor);
    for (std::size_t e = 0; e < before.size(); ++e)
      if (before[e] != after[e] && !std::isnan(before[e])) return true;
  }
  return false;
}

/// Whether every wrong element of an argument is as it was before the call.
bool leaves_out(const Replayed& replayed, const CallOutcome& outcome) {
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const Replayed::Output& output = replayed.outputs[t];
    if (outcome.wrong[t] == 0 || !output.before.defined() || outcome.got[t].empty()) continue;
    const std::vector<double> want = oracle::elements(output.want), before = oracle::elements(output.before);
    for (std::size_t i = 0; i < want.size(); ++i)
      if (outcome.got[t][i] != want[i] && outcome.got[t][i] != before[i]) return false;
  }
  return true;
}

/// Whether some elements are right, and all that are wrong were written by nobody: who leaves elements out
/// works along no other axis.
bool leaves_out_the_rest(const Replayed& replayed, const CallOutcome& outcome) {
  bool some = false;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const Replayed::Output& output = replayed.outputs[t];
    if (outcome.wrong[t] == 0 || outcome.got[t].empty()) continue;
    const std::vector<double> want = oracle::elements(output.want);
    const std::vector<double> before =
        output.before.defined() ? oracle::elements(output.before) : std::vector<double>();
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double got = outcome.got[t][i];
      const bool held = before.empty() ? std::isnan(got) && !std::isnan(want[i]) : got == before[i];
      some = some || (got == want[i] && !held);
      if (got != want[i] && !held) return false;
    }
  }
  return some;
}

bool goes_outside(const CallOutcome& outcome) {
  return std::any_of(outcome.answer.seen.begin(), outcome.answer.seen.end(),
                     [](const Seen& seen) { return seen.kind.starts_with("out-of-bounds"); });
}

/// Whether an element is none where the reference's is a number, as of an exponential that is too large.
bool overflows(const Replayed& replayed, const CallOutcome& outcome) {
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const std::vector<double> want = oracle::elements(replayed.outputs[t].want);
    for (std::size_t i = 0; i < std::min(want.size(), outcome.got[t].size()); ++i)
      if (std::isfinite(want[i]) && !std::isfinite(outcome.got[t][i])) return true;
  }
  return false;
}

/// That has its cause, and a few places are right by chance.
bool chooses_other_of_equals(const Replayed& replayed, const CallOutcome& outcome) {
  for (std::size_t t = 0; t < outcome.wrong.size(); ++t)
    if (outcome.wrong[t] > 0 && other_of_equals(replayed, t, outcome.got[t]).code != Code::none) return true;
  return false;
}

/// What is wrong by much: no more than half of it is right within a tolerance that wide.
bool far_off(const Approach& approach, const Replayed& replayed, double rtol) {
  Approach loose = approach;
  loose.rtol = std::max(loose.rtol, rtol);
  return replay_once(loose, replayed).share() < 0.5;
}

/// What an experiment may do to no call: fewer right outputs, none where there was one, accesses outside.
bool is_worse(const CallOutcome& now, const CallOutcome& before) {
  for (std::size_t t = 0; t < now.got.size(); ++t)
    if (now.got[t].empty() && !before.got[t].empty()) return true;
  return now.right_outputs() < before.right_outputs() || (goes_outside(now) && !goes_outside(before));
}

/// Behind the experiments the same ones again, with the arguments in another order.
void add_pairs(const Approach& approach, const Replayed& replayed, std::vector<Experiment>& list) {
  const std::size_t single = list.size();
  for (std::size_t i = 0; i < single; ++i) {
    if (list[i].finding.code != Code::argument_order) continue;
    Approach other = approach;
    other.form = list[i].form;
    const CallOutcome outcome = replay_once(other, replayed);
    if (!outcome.answer.ok() || writes_inputs(other, replayed, outcome)) continue;
    const Finding first = list[i].finding;
    for (Experiment& each : experiments(other, replayed)) {
      if (each.finding.code == Code::argument_order) continue;
      each.first = first;
      list.push_back(std::move(each));
    }
  }
}

/// The wrong call with the fewest elements, but enough of them to be no chance: experiments on it cost least.
std::size_t smallest_wrong(const std::vector<CallOutcome>& outcomes, const std::vector<bool>& given_up) {
  constexpr std::size_t kEnough = 16;
  const auto cost = [&](std::size_t i) {
    const std::size_t n = outcomes[i].elements;
    return std::pair(n < kEnough, n < kEnough ? kEnough - n : n);
  };
  std::size_t best = outcomes.size();
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (!outcomes[i].right() && !given_up[i] && (best == outcomes.size() || cost(i) < cost(best))) best = i;
  return best;
}

}  // namespace

void experiment(Approach& approach, const std::vector<Replayed>& calls, std::vector<CallOutcome>& outcomes,
                std::vector<Finding>& findings, double& spent) {
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  int count = 0;
  double worked = 0;
  const auto replayed = [&](const Approach& how, const Replayed& call) {
    ++count;
    CallOutcome outcome = replay_once(how, call);
    worked += outcome.answer.worked_seconds;
    return outcome;
  };
  const auto late = [&] {
    return worked > kMostSeconds || spent + elapsed() > kMostOfTheClock || count > kQuickCalls ||
           (count > kCalls && worked > kSeconds);
  };
  struct AtTheEnd {
    const decltype(elapsed)& took;
    double& all;
    ~AtTheEnd() { all += took(); }
  } const at_the_end{elapsed, spent};
  std::vector<bool> given_up(calls.size());
  for (int step = 0; step < kPeeled && !late();) {
    const std::size_t at = smallest_wrong(outcomes, given_up);
    if (at == outcomes.size()) return;
    bool helped = false;
    // What a refusal says of a dtype is told as that; a cast for one call would be one for all.
    const Answer& answer = outcomes[at].answer;
    const bool refused = answer.end == Answer::End::refused && is_about_dtype(answer.message);
    if (refused || chooses_other_of_equals(calls[at], outcomes[at])) {
      given_up[at] = true;
      continue;
    }
    const bool watched = for_numbers(approach, outcomes).settings.watch;
    std::vector<Experiment> list = experiments(approach, calls[at]);
    // What is left out holds what it held: zeros there would only look right.
    if (leaves_out(calls[at], outcomes[at]))
      std::erase_if(list,
                    [](const Experiment& each) { return each.finding.code == Code::uninitialised_read; });
    if (leaves_out_the_rest(calls[at], outcomes[at]))
      std::erase_if(list, [](const Experiment& each) {
        return each.finding.code == Code::layout_convention || each.finding.code == Code::argument_order;
      });
    if (step == 0 && writes_inputs(approach, calls[at], outcomes[at])) add_pairs(approach, calls[at], list);
    for (Experiment& each : list) {
      if (late()) break;
      if (each.reads_wider && !goes_outside(outcomes[at])) continue;
      if (each.finding.code == Code::missing_max_subtraction && !overflows(calls[at], outcomes[at])) continue;
      if (each.rtol > 0 && (approach.atol > 0 || !far_off(approach, calls[at], each.rtol))) continue;
      Approach other = approach;
      other.form = each.form;
      other.rtol = std::max(other.rtol, each.rtol);
      other.adaptations.insert(other.adaptations.begin(), each.adaptations.begin(), each.adaptations.end());
      Approach quick = other;
      quick.settings.watch = watched;
      CallOutcome outcome = replayed(quick, calls[at]);
      if (outcome.right_outputs() <= outcomes[at].right_outputs()) continue;
      if (watched != other.settings.watch) outcome = replayed(other, calls[at]);
      if (outcome.right_outputs() <= outcomes[at].right_outputs()) continue;
      if (is_worse(outcome, outcomes[at])) continue;
      // A fault is one of all calls: what helps here and harms there is none.
      std::vector<CallOutcome> all;
      std::size_t before = 0, after = 0;
      bool harms = false;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        all.push_back(i == at ? outcome : replayed(other, calls[i]));
        harms = harms || is_worse(all[i], outcomes[i]);
        before += outcomes[i].right();
        after += all[i].right();
      }
      if (harms) continue;
      if (each.first.code != Code::none) {
        findings.push_back(each.first);
        findings.back().evidence = fmt::format("'{}': {}", calls[at].line, each.first.evidence);
      }
      Finding finding = each.finding;
      finding.evidence = fmt::format("'{}': {} ({} of {} calls are right, and with this adapted {})",
                                     calls[at].line, finding.evidence, before, calls.size(), after);
      findings.push_back(std::move(finding));
      approach = std::move(other);
      outcomes = std::move(all);
      helped = true;
      ++step;
      break;
    }
    if (!helped) given_up[at] = true;
  }
}

}  // namespace isomer::lab
