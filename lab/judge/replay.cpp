#include "lab/judge/replay.hpp"

#include "lab/ask/adapting/changes.hpp"
#include "lab/ask/adapting/launch.hpp"
#include "lab/ask/adapting/refusal.hpp"
#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/recorded/replayed.hpp"
#include "lab/ask/recorded/smaller.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "lab/evidence/recorded/probes/probes.hpp"
#include "lab/findings/conventions.hpp"
#include "lab/judge/accusation.hpp"
#include "lab/judge/fewer_warps.hpp"
#include "lab/judge/recorded_calls.hpp"
#include "lab/judge/recorded_groups.hpp"
#include "lab/judge/unset_locals.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace isomer::lab {
namespace {

using What = Passing::What;
constexpr int kRefusals = 8;   ///< refusals that are answered one after the other
constexpr int kAttempts = 48;  ///< calls for one of them

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

bool may_be_the_launch(const Finding& finding) {
  constexpr std::array<Code, 11> kCodes = {Code::out_of_bounds_read,
                                           Code::out_of_bounds_write,
                                           Code::index_overflow,
                                           Code::race,
                                           Code::missing_barrier,
                                           Code::tail_mask,
                                           Code::unwritten_output,
                                           Code::uninitialised_read,
                                           Code::crash,
                                           Code::timeout,
                                           Code::unexplained};
  return std::find(kCodes.begin(), kCodes.end(), finding.code) != kCodes.end();
}

class Replay {
 public:
  Replay(const Candidate& candidate, const Entry& entry, const ReplayRequest& request, const Facts* facts,
         Diagnosis& diagnosis)
      : entry_(entry), request_(request), facts_(facts), diagnosis_(diagnosis) {
    approach_.candidate = &candidate;
    approach_.settings = request.settings;
    approach_.rtol = request.rtol;
    approach_.atol = request.atol;
  }

  void run(const std::vector<Replayed>& group) {
    std::vector<Replayed> calls, asked;
    for (const Replayed& each : group) (each.call->asked.empty() ? calls : asked).push_back(each);
    const std::vector<Replayed> smaller = take_smaller(asked, calls);
    if (calls.empty() && smaller.empty()) return;
    const Bound bound = bind_call(entry_, calls.empty() ? smaller.front() : calls.front(), request_.sizes);
    approach_.form = bound.form;
    for (const Finding& finding : bound.findings) add_once(diagnosis_.findings, finding);
    std::vector<Replayed> large;
    if (!smaller.empty() && taken(smaller)) large = stood_for(calls, smaller);
    if (calls.empty()) return;
    sizes_by_ = find_sizes(approach_, calls, bound.unsure);
    adapt(calls.front());
    if (!bound.findings.empty()) adapted_ = true;
    if (diagnosis_.called_with.empty())
      diagnosis_.called_with = numbers_in_words(approach_.form, calls.front().values);
    ask(calls);
    ask_large(large, calls);
    leave_out_large(calls);
    if (calls.empty()) return;
    try_wide(calls);
    const std::optional<Bound> named = in_order_of_names(approach_.form, calls.front());
    const Replay as_passed = *this;
    const Diagnosis before = diagnosis_;
    set_locals(calls);
    conclude(calls, asked);
    if (!named || !unexplained(diagnosis_)) return;
    // Names in another order are a fault only where the numbers say so too: beside other faults, where those
    // are then explained.
    const Diagnosis by_place = std::exchange(diagnosis_, before);
    Replay by_name = as_passed;
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

  /// With no answer to compare with: how the call has to be made, and nothing of what it does.
  void call_only(const Replayed& replayed) {
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

  /// With what an experiment changes every call is right.
  bool explained() const { return explained_; }

  /// Why nothing of what was seen is told; empty where it may be.
  std::string not_accused() const {
    const bool right = std::any_of(outcomes_.begin(), outcomes_.end(),
                                   [](const CallOutcome& o) { return o.right() && o.elements > 0; });
    return why_not_accused(entry_, sizes_by_, diagnosis_.called_with, right, explained_);
  }

  /// A bare kernel was launched as nothing says that it is.
  bool guessed() const {
    return std::any_of(outcomes_.begin(), outcomes_.end(),
                       [](const CallOutcome& outcome) { return outcome.answer.launch_guessed; });
  }

 private:
  static bool unexplained(const Diagnosis& diagnosis) {
    return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                       [](const Finding& each) { return each.strength == Strength::nearest; });
  }

  /// What the outcomes of the calls say.
  void conclude(const std::vector<Replayed>& calls, const std::vector<Replayed>& asked) {
    if (std::any_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& o) { return !o.right(); }) &&
        std::none_of(outcomes_.begin(), outcomes_.end(), lost) &&
        std::none_of(outcomes_.begin(), outcomes_.end(), cut_short)) {
      std::vector<Finding> found;
      experiment(approach_, calls, outcomes_, found);
      explained_ = !found.empty() && std::all_of(outcomes_.begin(), outcomes_.end(),
                                                 [](const CallOutcome& o) { return o.right(); });
      for (Finding& finding : found) add_once(diagnosis_.findings, std::move(finding));
      if (found.empty() && request_.shares)
        if (Finding finding = of_fewer_warps(approach_, calls, outcomes_); finding.code != Code::none) {
          explained_ = true;
          add_once(diagnosis_.findings, std::move(finding));
        }
    }
    if (std::all_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& o) { return o.right(); })) {
      ask_beyond(approach_, asked, diagnosis_.findings);
      ask_sizes(approach_, calls, asked, true, diagnosis_.findings);
    } else if (std::any_of(outcomes_.begin(), outcomes_.end(),
                           [](const CallOutcome& o) { return o.right() && o.elements > 1; }) &&
               diagnosis_.findings.empty()) {
      // Some calls are right, and others may be wrong for their sizes alone.
      ask_sizes(approach_, calls, asked, false, diagnosis_.findings);
    }
    judge(approach_, entry_, facts_, adapted_, calls, outcomes_, diagnosis_);
    harmless_races(calls);
    std::vector<Answer> answers;
    for (const CallOutcome& outcome : outcomes_)
      if (outcome.right() && outcome.elements > 0) answers.push_back(outcome.answer);
    tell_no_kernel(
        *approach_.candidate, entry_, answers,
        [&] { return are_same_without_kernels(approach_, calls, outcomes_); }, diagnosis_.findings);
  }

  /// A sum without a first value, which may be right by chance: the rest is judged with zeros.
  void set_locals(const std::vector<Replayed>& calls) {
    if (!request_.with_locals || std::any_of(outcomes_.begin(), outcomes_.end(), lost) ||
        saw_unset(outcomes_))
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

  /// Races of one line's stores with each other, where every answer is right, and the same in other orders.
  void harmless_races(const std::vector<Replayed>& calls) {
    const auto right = [](const CallOutcome& o) { return o.right(); };
    if (!std::all_of(outcomes_.begin(), outcomes_.end(), right) ||
        std::none_of(diagnosis_.findings.begin(), diagnosis_.findings.end(),
                     [](const Finding& each) { return each.same_store; }))
      return;
    Approach other = approach_;
    for (const std::uint64_t seed : {7u, 1234u, 99u}) {
      other.settings.schedule_seed = seed;
      if (const CallOutcome then = replay_once(other, calls.front());
          !then.right() || then.got != outcomes_.front().got)
        return;
    }
    tell_benign_races(diagnosis_.findings);
  }

  /// One change after the other until the first call is answered.
  void adapt(const Replayed& replayed) {
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
        if (chosen < list.size() && (best >= 0.98 || list[i].finding.code != list[chosen].finding.code))
          break;
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

  /// Tensors in any other order, where that makes the refused call right: two of them swapped are tried
  /// later.
  bool reordered(const Replayed& replayed, const Answer& refusal) {
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

  /// Whether the candidate, which may be made for the sizes of the test alone, takes smaller ones.
  bool taken(const std::vector<Replayed>& smaller) {
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

  /// Once each: one that does not come to its end is a matter of the device that is emulated. Where one is
  /// right and what stands for them is not, they are judged as they are: nobody passes the smaller sizes.
  void ask_large(std::vector<Replayed>& large, std::vector<Replayed>& calls) {
    Approach brief = approach_;
    brief.settings.timeout_seconds = std::min(brief.settings.timeout_seconds, kSecondsOfACall);
    const bool right =
        std::all_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& o) { return o.right(); });
    std::string why;
    for (Replayed& each : large) {
      CallOutcome outcome;
      if (why.empty()) outcome = replay_once(brief, each);
      if (why.empty() && !right && outcome.right()) {
        diagnosis_.notes.push_back(fmt::format("'{}' is wrong but '{}' is right, so the latter is judged",
                                               calls.front().line, each.line));
        calls = std::move(large);
        outcomes_.clear();
        ask(calls);
        return;
      }
      if (why.empty() && lost(outcome) && outcome.answer.end != Answer::End::over_limit)
        why = outcome.answer.message;
      if (why.empty() && right) {
        calls.push_back(std::move(each));
        outcomes_.push_back(std::move(outcome));
        continue;
      }
      diagnosis_.notes.push_back(fmt::format("'{}' is {}: '{}' is judged in its place", each.line,
                                             why.empty() ? "large, and also wrong" : why,
                                             calls.front().line));
    }
  }

  void ask(const std::vector<Replayed>& calls) {
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

  /// What is only too large is no fault, and is not asked again.
  void leave_out_large(std::vector<Replayed>& calls) {
    std::vector<Replayed> kept;
    std::vector<CallOutcome> outcomes;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const Answer& answer = outcomes_[i].answer;
      if (answer.unwatched && answer.ok())
        diagnosis_.notes.push_back(fmt::format(
            "'{}' is too large to be watched, so its memory accesses are not judged", calls[i].line));
      if (answer.end == Answer::End::too_large) {
        diagnosis_.notes.push_back(fmt::format("'{}' is not judged: {}", calls[i].line, answer.message));
        continue;
      }
      kept.push_back(std::move(calls[i]));
      outcomes.push_back(std::move(outcomes_[i]));
    }
    if (kept.empty() && diagnosis_.error.empty())
      diagnosis_.error = fmt::format("'{}' is {}", calls.front().line, outcomes_.front().answer.message);
    calls = std::move(kept);
    outcomes_ = std::move(outcomes);
  }

  /// Built for warps of 64 lanes the answer is the same, or one of the two is wrong.
  void try_wide(const std::vector<Replayed>& calls) {
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

  const Entry& entry_;
  const ReplayRequest& request_;
  const Facts* facts_;
  Diagnosis& diagnosis_;
  Approach approach_;
  std::vector<CallOutcome> outcomes_;
  std::shared_ptr<const Candidate> wide_;
  SizesBy sizes_by_ = SizesBy::callers;
  bool adapted_ = false, explained_ = false;
};

/// What of a candidate can be said without any answer: whether it can be called as its callers do. What is
/// wrong with that is a finding; where nothing is, the error that is there stays the last word.
void examine_call(const Candidate& candidate, const Entry& entry, const ReplayRequest& request,
                  Diagnosis& diagnosis) {
  const std::vector<Replayed> calls = unanswered_calls(request.recording);
  if (calls.empty() || entry.form != Entry::Form::extension) return;
  ReplayRequest brief = request;
  brief.settings.timeout_seconds = std::min(brief.settings.timeout_seconds, kSecondsOfACall);
  const std::size_t before = diagnosis.findings.size();
  Replay(candidate, entry, brief, nullptr, diagnosis)
      .call_only(*std::min_element(calls.begin(), calls.end(), [](const Replayed& a, const Replayed& b) {
        return bytes_of(a) < bytes_of(b);
      }));
  for (Finding& finding : diagnosis.findings)
    if (finding.location.line == 0) finding.location = entry.place;
  if (diagnosis.findings.size() == before) return;
  diagnosis.notes.push_back(diagnosis.error + "; only the way in which it is called was judged");
  diagnosis.error.clear();
}

}  // namespace

void replay(const Candidate& candidate, const Entry& entry, const ReplayRequest& given,
            Diagnosis& diagnosis) {
  const std::optional<Facts> facts = facts_of(given.recording);
  std::vector<Replayed> calls = replayed_calls(given.recording, facts ? &*facts : nullptr);
  ReplayRequest request = given;
  if (!calls.empty())
    request.sizes =
        with_strides_of_label(request.sizes, facts ? &*facts : nullptr, calls.front().call->function);
  if (calls.empty()) {
    std::string why = "the label returned and wrote nothing";
    for (const RecordedCall& call : request.recording.calls)
      if (!call.raised.empty()) why = call.raised;
    if (const auto said = request.recording.metadata.find("unanswered");
        said != request.recording.metadata.end())
      why = said->second;
    const std::size_t count = request.recording.calls.size();
    diagnosis.error =
        fmt::format("its op is not known, and {}: {}",
                    count == 1 ? "the recorded call has no answer"
                               : fmt::format("none of the {} recorded calls has an answer", count),
                    why);
    examine_call(candidate, entry, request, diagnosis);
    return;
  }
  const std::size_t before = diagnosis.findings.size();
  const ResultCounts counts(calls);
  bool guessed = false, explained = false;
  std::string why;
  for (const std::vector<Replayed>& group : by_signature(std::move(calls))) {
    const Entry& overload = overload_for(candidate, entry, group.front(), request.settings);
    Replay of_group(candidate, overload, request, facts ? &*facts : nullptr, diagnosis);
    of_group.run(group);
    guessed = guessed || of_group.guessed();
    if (why.empty()) why = of_group.not_accused();
    explained = explained || of_group.explained();
  }
  // Calls that leave an argument out are wrong for the reason that those show which pass it.
  if (explained)
    std::erase_if(diagnosis.findings, [](const Finding& each) { return each.code == Code::unexplained; });
  std::erase_if(diagnosis.findings, [&](const Finding& each) {
    return each.code == Code::ignores_argument && counts.depend_on(each.argument);
  });
  // Calls whose exponentials overflow show what others show the cause of.
  if (std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                  [](const Finding& each) { return each.code == Code::missing_max_subtraction; }))
    std::erase_if(diagnosis.findings, [](const Finding& each) { return each.code == Code::nan_inf; });
  // What a wrong launch does looks like faults of the kernel.
  if (guessed && std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), may_be_the_launch)) {
    diagnosis.findings.clear();
    diagnosis.error = launch_is_unknown(entry.name);
    return;
  }
  if (!why.empty() && diagnosis.findings.size() > before) {
    diagnosis.findings.resize(before);
    diagnosis.error = std::move(why);
    return;
  }
  // What a label of PyTorch's own operators takes besides, nobody has asked of its kernels.
  if (facts && !facts->has_kernels) tell_limits_of_made(diagnosis.findings);
  // Without a line of its own a finding is about the function.
  for (Finding& finding : diagnosis.findings)
    if (finding.location.line == 0) finding.location = entry.place;
  const auto added = static_cast<std::ptrdiff_t>(std::min(before, diagnosis.findings.size()));
  if (std::any_of(
          diagnosis.findings.begin() + added, diagnosis.findings.end(),
          [](const Finding& each) { return each.subject == Subject::candidate && !is_remark(each); }) &&
      diagnosis.calls > 0)
    diagnosis.exec = Stage::failed;
  else if (diagnosis.calls > 0 && diagnosis.exec == Stage::not_reached)
    diagnosis.exec = Stage::passed;
}

}  // namespace isomer::lab
