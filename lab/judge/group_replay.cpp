#include "lab/judge/group_replay.hpp"

#include "lab/ask/adapting/changes.hpp"
#include "lab/ask/adapting/launch.hpp"
#include "lab/ask/adapting/refusal.hpp"
#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/recorded/own_tensors.hpp"
#include "lab/ask/recorded/replayed.hpp"
#include "lab/ask/recorded/smaller.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "lab/evidence/recorded/probes/probes.hpp"
#include "lab/evidence/recorded/probes/resized.hpp"
#include "lab/findings/conventions.hpp"
#include "lab/judge/accusation.hpp"
#include "lab/judge/fewer_warps.hpp"
#include "lab/judge/recorded_calls.hpp"
#include "lab/judge/recorded_groups.hpp"
#include "lab/judge/unset_locals.hpp"
#include "lab/text/pattern.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace isomer::lab {
namespace {

constexpr int kRefusals = 8;   ///< refusals that are answered one after the other
constexpr int kAttempts = 48;  ///< calls for one of them

/// Whether the candidate clears one of its results itself: then its caller need not.
bool clears_a_result(const Approach& approach) {
  const std::string source = source_of(*approach.candidate);
  const Form& form = approach.form;
  for (std::size_t p = 0; p < form.entry->parameters.size(); ++p) {
    const Parameter& parameter = form.entry->parameters[p];
    if (parameter.kind != Parameter::Kind::pointer || parameter.is_const || parameter.name.empty()) continue;
    if (Pattern("(?i)memset(?:async)?\\s*\\(\\s*" + literally(parameter.name) + "\\b").found_in(source))
      return true;
  }
  return false;
}

bool refused(const CallOutcome& outcome) {
  return outcome.answer.end == Answer::End::refused || outcome.answer.end == Answer::End::not_callable;
}

/// An array's elements are watched, and told with the line that reads them.
bool saw_unset(const std::vector<CallOutcome>& outcomes) {
  return std::any_of(outcomes.begin(), outcomes.end(), [](const CallOutcome& outcome) {
    return std::any_of(outcome.answer.seen.begin(), outcome.answer.seen.end(),
                       [](const Seen& seen) { return seen.kind == "uninitialised-read"; });
  });
}

}  // namespace

GroupReplay::GroupReplay(const Candidate& candidate, const Entry& entry, const ReplayRequest& request,
                         const Facts* facts, Diagnosis& diagnosis)
    : entry_(entry),
      request_(request),
      facts_(facts),
      diagnosis_(diagnosis),
      told_before_(diagnosis.findings.size()) {
  approach_.candidate = &candidate;
  approach_.settings = request.settings;
  approach_.rtol = request.rtol;
  approach_.atol = request.atol;
}

void GroupReplay::run(const std::vector<Replayed>& group) {
  std::vector<Replayed> calls, asked;
  for (const Replayed& each : group) (each.call->asked.empty() ? calls : asked).push_back(each);
  const std::vector<Replayed> smaller = take_smaller(asked, calls);
  larger_ = take_larger(asked);
  if (calls.empty() && smaller.empty()) return;
  const Diagnosis at_first = diagnosis_;
  const Replayed& first = calls.empty() ? smaller.front() : calls.front();
  Bound bound = bound_with(first, {});
  take_own_tensors(bound.form, calls.empty() ? smaller : calls);
  approach_.form = bound.form;
  for (const Finding& finding : bound.findings) add_once(diagnosis_.findings, finding);
  std::vector<Replayed> large;
  if (!smaller.empty() && taken(smaller)) large = stood_for(calls, smaller);
  keep_those_with_own_tensors(bound.form, calls);
  if (calls.empty()) return;
  ask_as(bound, calls);
  find_codes(calls, asked);
  try_other_numbers(calls, at_first, bound);
  try_own_by_name(calls, at_first, bound);
  try_own_left(calls, at_first, bound);
  try_other_results(calls, at_first, bound);
  try_lent_room(calls, bound);
  try_other_strides(calls);
  try_numbers_for_none(calls);
  try_computed_reals(calls);
  // With a number that nothing explains, nothing that it answers says more.
  if (!real_of_nobody_.empty() &&
      std::none_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& each) { return each.right(); }))
    return;
  try_cleared_room(calls);
  tell_own_tensors(calls.front());
  tell_in_place(calls.front());
  keep_those_with_own_tensors(approach_.form, large);
  keep_those_with_own_tensors(approach_.form, asked);
  keep_those_with_own_tensors(approach_.form, larger_);
  ask_large(large, calls);
  leave_out_large(calls);
  if (calls.empty()) return;
  try_wide(calls);
  const std::optional<Bound> named = in_order_of_names(approach_.form, calls.front());
  const GroupReplay as_passed = *this;
  const Diagnosis before = diagnosis_;
  set_locals(calls);
  conclude(calls, asked);
  if (!named || !unexplained(diagnosis_)) return;
  // Names in another order are a fault only where the numbers say so too: beside other faults, where those
  // are then explained.
  const Diagnosis by_place = std::exchange(diagnosis_, before);
  GroupReplay by_name = as_passed;
  by_name.outcomes_.clear();
  by_name.approach_.form = named->form;
  by_name.adapted_ = true;
  add_once(diagnosis_.findings, named->findings.front());
  by_name.ask(calls);
  by_name.conclude(calls, asked);
  if (unexplained(diagnosis_))
    diagnosis_ = by_place;
  else
    explained_ = by_name.explained_;
}

Bound GroupReplay::bound_with(const Replayed& call, std::vector<int> left) const {
  const std::vector<int> coded = parameters_of(options_);
  left.insert(left.end(), coded.begin(), coded.end());
  // What was a size in calls that are right is none of the numbers that these calls have besides.
  for (std::size_t p = 0; p < entry_.parameters.size(); ++p)
    for (const SettledSize& each : settled_)
      if (each.by_right_answer && each.parameter == entry_.parameters[p].name)
        left.push_back(static_cast<int>(p));
  Bound bound = bind_call(entry_, call, request_.sizes, left, arguments_of(options_));
  take_codes(options_, call, bound);
  // What looked like a stride and is an option carries none.
  std::vector<Passing>& passings = bound.form.passings;
  for (std::size_t p = 0; p < passings.size(); ++p)
    if (passings[p].what == Passing::What::role && entry_.parameters[p].kind == Parameter::Kind::pointer)
      passings[p].compact =
          passings[p].compact || std::none_of(passings.begin(), passings.end(), [&](const Passing& each) {
            return (each.what == Passing::What::stride || each.what == Passing::What::strides) &&
                   each.role == passings[p].role;
          });
  return bound;
}

void GroupReplay::ask_as(const Bound& bound, const std::vector<Replayed>& calls) {
  approach_.form = bound.form;
  lend_room(approach_.form);
  find_sizes_of(bound, calls);
  adapt(calls.front());
  if (!std::all_of(bound.findings.begin(), bound.findings.end(), is_remark)) adapted_ = true;
  lend_what_is_written(approach_, calls);
  if (diagnosis_.called_with.empty())
    diagnosis_.called_with = numbers_in_words(approach_.form, calls.front().values);
  ask(calls);
}

void GroupReplay::find_codes(std::vector<Replayed>& calls, std::vector<Replayed>& asked) {
  const auto right = [&](const Replayed& each) { return replay_once(approach_, each).right(); };
  if (are_known(options_) || std::all_of(calls.begin(), calls.end(), right)) return;
  if (!settle_codes(options_, calls, right) && sizes_by_ == SizesBy::callers) sizes_by_ = SizesBy::guess;
  change_codes(options_, calls);
  change_codes(options_, asked);
  change_codes(options_, larger_);
  diagnosis_.called_with = numbers_in_words(approach_.form, calls.front().values);
  outcomes_.clear();
  ask(calls);
}

void GroupReplay::call_only(const Replayed& replayed) {
  const Bound bound = bind_call(entry_, replayed, request_.sizes);
  approach_.form = bound.form;
  for (const Finding& finding : bound.findings) add_once(diagnosis_.findings, finding);
  if (bound.findings.empty())
    if (std::optional<Bound> named = in_order_of_names(approach_.form, replayed)) {
      add_once(diagnosis_.findings, std::move(named->findings.front()));
      approach_.form = std::move(named->form);
    }
  adapt(replayed);
  const CallOutcome now = replay_once(approach_, replayed);
  if (refused(now)) tell_end(approach_, entry_, replayed, now.answer, diagnosis_);
  if (!diagnosis_.findings.empty()) diagnosis_.call = Stage::failed;
}

std::string GroupReplay::not_accused() const {
  const bool right = std::any_of(outcomes_.begin(), outcomes_.end(),
                                 [](const CallOutcome& o) { return o.right() && o.elements > 0; });
  if (const std::set<std::string> names = right ? std::set<std::string>() : memory_of_nobody();
      !names.empty())
    return fmt::format(
        "{} takes {}, for which the recorded calls pass nothing: the label makes such tensors itself, so "
        "that "
        "nothing it answers can be held against them",
        entry_.name, fmt::join(names, ", "));
  if (!right && !explained_ && !real_of_nobody_.empty())
    return fmt::format(
        "what {} of {} is is not known: the label has no number of that name, and called with {} it gives no "
        "right answer; name it as the label does",
        real_of_nobody_, entry_.name, diagnosis_.called_with);
  return why_not_accused(entry_, sizes_by_, diagnosis_.called_with, right, explained_);
}

bool GroupReplay::guessed() const {
  return std::any_of(outcomes_.begin(), outcomes_.end(),
                     [](const CallOutcome& outcome) { return outcome.answer.launch_guessed; });
}

bool GroupReplay::unexplained(const Diagnosis& diagnosis) {
  return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                     [](const Finding& each) { return each.strength == Strength::nearest; });
}

void GroupReplay::conclude(const std::vector<Replayed>& calls, const std::vector<Replayed>& asked) {
  Approach as_called;  // before experiments, and what came of it
  std::vector<CallOutcome> answered;
  std::vector<Finding> found;
  harmless_reads(calls);
  if (std::any_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& o) { return !o.right(); }) &&
      std::none_of(outcomes_.begin(), outcomes_.end(), lost) &&
      std::none_of(outcomes_.begin(), outcomes_.end(), cut_short)) {
    as_called = approach_;
    answered = outcomes_;
    experiment(approach_, calls, outcomes_, found, *request_.experimented);
    explained_ = !found.empty() && std::all_of(outcomes_.begin(), outcomes_.end(),
                                               [](const CallOutcome& o) { return o.right(); });
    for (const Finding& finding : found) add_once(diagnosis_.findings, finding);
    // What nothing has set is what other threads have left there, however many they are.
    if (found.empty() && request_.shares && !saw_unset(outcomes_))
      if (Finding finding = of_fewer_warps(approach_, calls, outcomes_); finding.code != Code::none) {
        explained_ = true;
        add_once(diagnosis_.findings, std::move(finding));
      }
  }
  if (std::all_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& o) { return o.right(); })) {
    const std::size_t told = diagnosis_.findings.size();
    ask_beyond(approach_, asked, request_.label_numbers, diagnosis_.findings);
    const auto faults = [&] {
      return std::count_if(diagnosis_.findings.begin(), diagnosis_.findings.end(),
                           [](const Finding& each) { return !is_remark(each) && !each.made; });
    };
    const auto before = faults();
    ask_sizes(approach_, calls, asked, true, diagnosis_.findings);
    if (faults() == before)
      ask_larger(
          approach_, calls, larger_,
          [&](const Replayed& each) { return same_in_all_but(approach_.form, calls, each, unsure_); },
          diagnosis_.findings);
    for (std::size_t i = told; i < diagnosis_.findings.size(); ++i) diagnosis_.findings[i].beyond = true;
  } else if (std::any_of(outcomes_.begin(), outcomes_.end(),
                         [](const CallOutcome& o) { return o.right() && o.elements > 1; }) &&
             diagnosis_.findings.empty()) {
    // Some calls are right, and others may be wrong for their sizes alone.
    ask_sizes(approach_, calls, asked, false, diagnosis_.findings);
  }
  judge(approach_, entry_, facts_, adapted_, calls, outcomes_, diagnosis_);
  asked_ = asked;
  const Approach& asked_at_first = found.empty() ? approach_ : as_called;
  const std::vector<CallOutcome>& answers_at_first = found.empty() ? outcomes_ : answered;
  if (asked_at_first.candidate != wide_.get() &&
      std::none_of(answers_at_first.begin(), answers_at_first.end(), lost))
    answered_ = {asked_at_first, calls, answers_at_first};
  explain_by_the_label(calls, asked_at_first, answers_at_first);
  explain_by_an_edit(calls, asked_at_first, answers_at_first, found);
  harmless_races(calls);
  if (const auto right = std::find_if(outcomes_.begin(), outcomes_.end(),
                                      [](const CallOutcome& o) { return o.right() && o.elements > 0; });
      right != outcomes_.end() && (!request_.label_clears || clears_a_result(approach_)))
    probe_fresh_results(approach_, calls[static_cast<std::size_t>(right - outcomes_.begin())], *right,
                        diagnosis_.findings);
  for (const CallOutcome& outcome : outcomes_) {
    launches_ = launches_ || outcome.answer.launches > 0;
    if (outcome.right() && outcome.elements > 0) right_answers_.push_back(outcome.answer);
  }
  if (std::any_of(right_answers_.begin(), right_answers_.end(),
                  [](const Answer& each) { return each.launches > 0; }))
    tell_no_kernel(
        *approach_.candidate, entry_, right_answers_,
        [&] { return are_same_without_kernels(approach_, calls, outcomes_); }, diagnosis_.findings);
}

void GroupReplay::set_locals(const std::vector<Replayed>& calls) {
  if (!request_.with_locals || std::any_of(outcomes_.begin(), outcomes_.end(), lost) || saw_unset(outcomes_))
    return;
  Finding finding;
  const auto zero = with_set_locals(request_.with_locals, approach_, calls, outcomes_, finding);
  if (zero == nullptr) return;
  finding.location = {entry_.place.file, request_.unset_sum};
  add_once(diagnosis_.findings, std::move(finding));
  wide_ = zero;
  approach_.form = in_build(*zero, approach_.form);
  approach_.candidate = zero.get();
  outcomes_.clear();
  ask(calls);
}

void GroupReplay::adapt(const Replayed& replayed) {
  std::set<std::string> seen;
  std::vector<Finding> guesses;  // steps that no refusal asked for by name: worth a word where they lead on
  for (int step = 0; step < kRefusals; ++step) {
    const CallOutcome now = replay_once(approach_, replayed);
    if (!refused(now)) {
      for (Finding& finding : guesses) add_once(diagnosis_.findings, std::move(finding));
      return;
    }
    seen.insert(now.answer.message);
    if (reordered(replayed, now.answer)) continue;
    std::vector<Change> list = changes(approach_.form, replayed.roles, replayed.values, now.answer.message);
    std::size_t chosen = list.size(), fallback = list.size();
    double best = -1;
    for (std::size_t i = 0; i < list.size() && i < static_cast<std::size_t>(kAttempts); ++i) {
      if (chosen < list.size() && (best >= 0.98 || list[i].finding.code != list[chosen].finding.code)) break;
      Approach other = approach_;
      other.form = list[i].form;
      const CallOutcome then = replay_once(other, replayed);
      if (then.answer.ok() && then.share() > best) {
        best = then.share();
        chosen = i;
      }
      const Code code = list[i].finding.code;
      const bool on_the_way =
          code == Code::dtype_refused || code == Code::rank_refused || code == Code::assumes_contiguous;
      // What could not even be asked is no step on the way, nor is it what the device refused to launch.
      if (chosen == list.size() && fallback == list.size() && on_the_way &&
          now.answer.refused_launches.empty() && then.answer.end == Answer::End::refused &&
          seen.count(then.answer.message) == 0)
        fallback = i;
    }
    if (chosen == list.size()) chosen = fallback;
    if (chosen == list.size()) return;
    Finding finding = list[chosen].finding;
    const std::string& said = now.answer.message;
    finding.evidence = fmt::format("'{}': {} and the call is refused: \"{:.200}\"", replayed.line,
                                   finding.evidence, std::string_view(said).substr(0, said.find('\n')));
    finding.location = now.answer.place;
    if (names_argument(said, finding.argument) || tells_the_dtype(said))
      add_once(diagnosis_.findings, std::move(finding));
    else
      guesses.push_back(std::move(finding));
    approach_.form = std::move(list[chosen].form);
    adapted_ = true;
  }
}

bool GroupReplay::reordered(const Replayed& replayed, const Answer& refusal) {
  if (refusal.end != Answer::End::refused || is_about_dtype(refusal.message)) return false;
  for (Experiment& each : experiments(approach_, replayed)) {
    if (each.finding.code != Code::argument_order) continue;
    Approach other = approach_;
    other.form = each.form;
    if (const CallOutcome then = replay_once(other, replayed); !then.right()) continue;
    each.finding.evidence =
        fmt::format("'{}': {}; without this change the call is refused: \"{:.200}\"", replayed.line,
                    each.finding.evidence, refusal.message.substr(0, refusal.message.find('\n')));
    each.finding.location = refusal.place;
    add_once(diagnosis_.findings, std::move(each.finding));
    approach_ = std::move(other);
    adapted_ = true;
    return true;
  }
  return false;
}

bool GroupReplay::taken(const std::vector<Replayed>& smaller) {
  const Approach before = approach_;
  const std::vector<Finding> findings = diagnosis_.findings;
  const bool adapted = adapted_;
  adapt(smaller.front());
  const bool all = std::all_of(smaller.begin(), smaller.end(), [&](const Replayed& each) {
    const CallOutcome outcome = replay_once(approach_, each);
    return outcome.answer.ok() && !lost(outcome) && outcome.answer.refused_launches.empty();
  });
  approach_ = before;
  diagnosis_.findings = findings;
  adapted_ = adapted;
  return all;
}

void GroupReplay::ask(const std::vector<Replayed>& calls) {
  bool gone = false;
  for (const Replayed& replayed : calls) {
    if (gone) {
      outcomes_.emplace_back();
      outcomes_.back().answer.end = Answer::End::timed_out;
      outcomes_.back().answer.message.clear();
      outcomes_.back().wrong.assign(replayed.outputs.size(), 1);
      continue;
    }
    outcomes_.push_back(replay_once(approach_, replayed));
    gone = lost(outcomes_.back()) && outcomes_.back().answer.end != Answer::End::too_large;
  }
}

void GroupReplay::try_wide(const std::vector<Replayed>& calls) {
  if (request_.wide == nullptr || std::any_of(outcomes_.begin(), outcomes_.end(), lost)) return;
  wide_ = request_.wide();
  if (wide_ == nullptr) return;
  Approach other = approach_;
  other.candidate = wide_.get();
  other.settings.lanes = 64;
  other.form = in_build(*wide_, approach_.form);
  std::vector<CallOutcome> others;
  std::size_t right = 0, right_wide = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    others.push_back(replay_once(other, calls[i]));
    right += outcomes_[i].right();
    right_wide += others.back().right();
  }
  if (right == 0 && right_wide == 0 && prefers_wide_) {
    approach_ = std::move(other);
    outcomes_ = std::move(others);
    return;
  }
  if (right == right_wide) return;
  if (right > right_wide) {
    Finding finding;
    finding.code = Code::warp_size;
    finding.evidence = fmt::format("{} of {} calls are right with warps of 32 lanes, and {} with 64 lanes",
                                   right, calls.size(), right_wide);
    finding.fix = "use warpSize, 64-bit masks and explicit widths";
    add_once(diagnosis_.findings, std::move(finding));
    return;
  }
  const std::string seen = fmt::format("{} of {} calls are right, and with 32 lanes (RDNA, NVIDIA) {}",
                                       right_wide, calls.size(), right);
  if (request_.narrow_warps) {
    Finding finding;
    finding.code = Code::warp_size;
    finding.evidence =
        fmt::format("the instruction also asks for warps of 32 lanes; with 64 lanes (CDNA) {}", seen);
    finding.fix = "use warpSize, 64-bit masks and explicit widths";
    add_once(diagnosis_.findings, std::move(finding));
  } else {
    // No fault of HIP code, whose data centre devices have 64 lanes.
    diagnosis_.notes.push_back("written for warps of 64 lanes (CDNA) and judged with 64: " + seen);
  }
  approach_ = std::move(other);
  outcomes_ = std::move(others);
}

}  // namespace isomer::lab
