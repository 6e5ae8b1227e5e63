#include "lab/diagnose/replay/replay.hpp"

#include "core/oracle/expected.hpp"
#include "lab/diagnose/call_stage.hpp"
#include "lab/diagnose/probes.hpp"
#include "lab/diagnose/refusal.hpp"
#include "lab/diagnose/replay/answer.hpp"
#include "lab/diagnose/replay/experiments.hpp"
#include "lab/diagnose/replay/reductions.hpp"
#include "lab/diagnose/replay/replayed.hpp"
#include "lab/diagnose/replay/row_factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace isomer::lab {
namespace {

using What = Passing::What;
constexpr int kSteps = 8;                ///< refusals that are answered one after the other
constexpr std::size_t kFewElements = 8;  ///< of which a part shows little
constexpr int kAttempts = 48;            ///< calls for one of them
constexpr double kSecondsOfACall = 5;    ///< of one of which only its being accepted is looked at

bool refused(const CallOutcome& outcome) {
  return outcome.answer.end == Answer::End::refused || outcome.answer.end == Answer::End::not_callable;
}

/// Calls that are made alike: as many arguments, the same of them by keyword.
std::vector<std::vector<Replayed>> by_signature(std::vector<Replayed> calls) {
  std::map<std::string, std::size_t> known;
  std::vector<std::vector<Replayed>> groups;
  for (Replayed& replayed : calls) {
    std::string signature = replayed.call->function;
    for (std::size_t i = 0; i < replayed.call->before.size(); ++i) {
      const bool keyword = i < replayed.call->keyword.size() && replayed.call->keyword[i];
      signature += fmt::format(";{}{}", static_cast<int>(replayed.values[i].kind),
                               keyword ? "=" + replayed.roles[i].name : std::string());
    }
    const auto [at, fresh] = known.emplace(signature, groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(std::move(replayed));
  }
  return groups;
}

/// A launch that the device refused, or a kernel that never ended: what the call gives besides is no answer.
bool cut_short(const CallOutcome& outcome) {
  const std::vector<Seen>& seen = outcome.answer.seen;
  return (outcome.elements > 0 && !outcome.answer.refused_launches.empty()) ||
         std::any_of(seen.begin(), seen.end(), [](const Seen& each) { return each.kind == "step-limit"; });
}

bool may_be_the_launch(const Finding& finding) {
  constexpr std::array<std::string_view, 11> kCodes = {
      "out-of-bounds-read", "out-of-bounds-write", "index-overflow",     "race",  "missing-barrier",
      "tail-mask",          "unwritten-output",    "uninitialised-read", "crash", "timeout",
      "unexplained"};
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
    const Bound bound = bind_call(entry_, calls.empty() ? smaller.front() : calls.front());
    approach_.form = bound.form;
    for (const Finding& finding : bound.findings) add_once(diagnosis_.findings, finding);
    std::vector<Replayed> large;
    if (!smaller.empty() && taken(smaller)) large = stood_for(calls, smaller);
    if (calls.empty()) return;
    find_sizes(approach_, calls, bound.unsure);
    adapt(calls.front());
    if (!bound.findings.empty()) adapted_ = true;
    ask(calls);
    ask_large(large, calls);
    leave_out_large(calls);
    if (calls.empty()) return;
    try_wide(calls);
    if (std::any_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& o) { return !o.right(); }) &&
        std::none_of(outcomes_.begin(), outcomes_.end(), lost) &&
        std::none_of(outcomes_.begin(), outcomes_.end(), cut_short)) {
      std::vector<Finding> found;
      experiment(approach_, calls, outcomes_, found);
      explained_ = !found.empty() && std::all_of(outcomes_.begin(), outcomes_.end(),
                                                 [](const CallOutcome& o) { return o.right(); });
      for (Finding& finding : found) add_once(diagnosis_.findings, std::move(finding));
    }
    if (std::all_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& o) { return o.right(); }))
      ask_beyond(approach_, asked, diagnosis_.findings);
    judge(calls);
  }

  /// With no answer to compare with: how the call has to be made, and nothing of what it does.
  void call_only(const Replayed& replayed) {
    const Bound bound = bind_call(entry_, replayed);
    approach_.form = bound.form;
    for (const Finding& finding : bound.findings) add_once(diagnosis_.findings, finding);
    if (bound.findings.empty()) order_by_names(replayed);
    adapt(replayed);
    const CallOutcome now = replay_once(approach_, replayed);
    if (refused(now)) ended(replayed, now.answer);
    if (!diagnosis_.findings.empty()) diagnosis_.call = Stage::failed;
  }

  /// With what an experiment changes every call is right.
  bool explained() const { return explained_; }

  /// A bare kernel was launched as nothing says that it is.
  bool guessed() const {
    return std::any_of(outcomes_.begin(), outcomes_.end(),
                       [](const CallOutcome& outcome) { return outcome.answer.launch_guessed; });
  }

 private:
  /// The same names in another order: what is passed by place comes to the wrong ones.
  void order_by_names(const Replayed& replayed) {
    std::vector<Passing> passings = approach_.form.passings;
    const std::vector<bool>& keyword = replayed.call->keyword;
    if (passings.size() != replayed.roles.size() || passings.size() > entry_.parameters.size() ||
        std::any_of(keyword.begin(), keyword.end(), [](bool each) { return each; }))
      return;
    std::string taken, given;
    bool other = false;
    for (std::size_t i = 0; i < passings.size(); ++i) {
      const std::string& name = entry_.parameters[i].name;
      std::size_t at = 0;
      while (at < replayed.roles.size() && replayed.roles[at].name != name) ++at;
      if (at == replayed.roles.size() || passings[i].what != What::role) return;
      other = other || at != i;
      passings[i].role = static_cast<int>(at);
      taken += (i == 0 ? "" : ", ") + name;
      given += (i == 0 ? "" : ", ") + replayed.roles[i].name;
    }
    if (!other) return;
    Finding finding;
    finding.code = "argument-order";
    finding.evidence =
        fmt::format("'{}': callers pass ({}), {} takes ({})", replayed.line, given, entry_.name, taken);
    finding.fix = fmt::format("take ({})", given);
    add_once(diagnosis_.findings, std::move(finding));
    approach_.form.passings = std::move(passings);
  }

  /// One change after the other until the first call is answered.
  void adapt(const Replayed& replayed) {
    std::set<std::string> seen;
    std::vector<Finding> guesses;  // steps that no refusal asked for by name: worth a word where they lead on
    for (int step = 0; step < kSteps; ++step) {
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
        const std::string& code = list[i].finding.code;
        const bool on_the_way =
            code == "dtype-refused" || code == "rank-refused" || code == "assumes-contiguous";
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
      if (each.finding.code != "argument-order") continue;
      Approach other = approach_;
      other.form = each.form;
      if (const CallOutcome then = replay_once(other, replayed); !then.right()) continue;
      each.finding.evidence =
          fmt::format("'{}': {}; as it is passed the call is refused: \"{:.200}\"", replayed.line,
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
        diagnosis_.notes.push_back(
            fmt::format("'{}' is wrong; '{}' is not, and judged", calls.front().line, each.line));
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
      diagnosis_.notes.push_back(fmt::format("'{}' is {}: '{}' is asked in its place", each.line,
                                             why.empty() ? "large, and wrong as well" : why,
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
        diagnosis_.notes.push_back(
            fmt::format("'{}' is too large to be watched: of its accesses nothing is said", calls[i].line));
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
    for (const Entry& entry : wide_->entries())
      if (entry.name == entry_.name && entry.form == entry_.form && entry.overload == entry_.overload)
        other.form.entry = &entry;
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
      finding.code = "warp-size";
      finding.evidence = fmt::format("with warps of 32 lanes {} of {} calls are right, with 64 lanes {}",
                                     right, calls.size(), right_wide);
      finding.fix = "use warpSize, 64-bit masks and explicit widths";
      add_once(diagnosis_.findings, std::move(finding));
      return;
    }
    const std::string seen =
        fmt::format("{} of {} calls are right, with 32 (RDNA, NVIDIA) {}", right_wide, calls.size(), right);
    if (request_.narrow_warps) {
      Finding finding;
      finding.code = "warp-size";
      finding.evidence =
          fmt::format("the instruction asks for warps of 32 lanes as well; with 64 (CDNA) {}", seen);
      finding.fix = "use warpSize, 64-bit masks and explicit widths";
      add_once(diagnosis_.findings, std::move(finding));
    } else {
      // No fault of HIP code, whose data centre devices have 64 lanes.
      diagnosis_.notes.push_back("written for warps of 64 lanes (CDNA), and asked with 64: " + seen);
    }
    approach_ = std::move(other);
    outcomes_ = std::move(others);
  }

  void judge(const std::vector<Replayed>& calls) {
    std::size_t probed = calls.size();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const CallOutcome& outcome = outcomes_[i];
      if (outcome.answer.end == Answer::End::timed_out && outcome.answer.message.empty()) continue;
      findings_of_device(outcome.answer, calls[i].line, calls[i].empty, calls[i].shared, diagnosis_.findings);
      if (!outcome.answer.ok()) {
        ended(calls[i], outcome.answer);
        continue;
      }
      answered_ = true;
      ++diagnosis_.calls;
      if (cut_short(outcome)) continue;
      form_of_answers(approach_, entry_, calls[i], outcome, diagnosis_);
      inputs_kept(approach_, calls[i], outcome, diagnosis_);
      // The smallest wrong call, else the smallest with anything in it, is the one for probes.
      const auto cost = [&](std::size_t at) {
        return std::tuple(outcomes_[at].right(), outcomes_[at].elements == 0,
                          outcomes_[at].elements < kFewElements, outcomes_[at].elements);
      };
      if (probed == calls.size() || cost(i) < cost(probed)) probed = i;
    }
    read_too_early();
    if (probed < calls.size()) {
      probe_memory(approach_, calls[probed], outcomes_[probed], diagnosis_.findings);
      probe_ignored(approach_, calls[probed], outcomes_[probed], facts_, diagnosis_.findings);
      probe_overflow(approach_, calls[probed], outcomes_[probed], facts_, diagnosis_.findings);
      rescaled_ = probe_rescale(approach_, calls, outcomes_, facts_, diagnosis_.findings);
      probe_ignored_bits(approach_, calls[probed], outcomes_[probed], diagnosis_.findings);
      probe_views(approach_, calls, outcomes_, diagnosis_.findings);
      probe_short_blocks(approach_, calls[probed], outcomes_[probed], diagnosis_.findings);
    }
    for (std::size_t t = 0; t < calls.front().outputs.size(); ++t) {
      if (std::any_of(outcomes_.begin(), outcomes_.end(), cut_short)) break;
      Finding finding;
      if (!rescaled_) finding = factor_of_rows(approach_, calls, outcomes_, t);
      if (!rescaled_ && finding.code.empty()) {
        finding = reduction_of_rows(approach_, calls, outcomes_, t);
        reduced_ = reduced_ || !finding.code.empty();
      }
      if (!rescaled_ && finding.code.empty()) finding = factor_of_counts(calls, outcomes_, t);
      if (finding.code.empty() && !rescaled_) continue;
      factored_.insert(calls.front().outputs[t].name);
      if (!finding.code.empty()) add_once(diagnosis_.findings, std::move(finding));
    }
    // What is vague of another output is made of the numbers that are explained.
    const std::vector<int> vaguer = reduced_ ? std::vector<int>{0} : std::vector<int>{0, 1, 2};
    for (const int vague : vaguer) {
      if (vague == 2 && probed < calls.size() && nothing_told()) {
        probe_influence(approach_, calls[probed], outcomes_[probed], diagnosis_.findings);
        if (!nothing_told()) break;
      }
      for (std::size_t i = 0; i < calls.size(); ++i)
        if (outcomes_[i].answer.ok() && !cut_short(outcomes_[i]))
          numbers_of_answer({approach_, calls[i], outcomes_[i], facts_, factored_}, vague, diagnosis_);
    }
    const bool refused_all = !answered_;
    if (adapted_ || refused_all) diagnosis_.call = Stage::failed;
    if (diagnosis_.call == Stage::not_reached && answered_) diagnosis_.call = Stage::passed;
  }

  /// An answer is wrong, and of the candidate's numbers nothing is said yet.
  bool nothing_told() const {
    return std::any_of(outcomes_.begin(), outcomes_.end(),
                       [](const CallOutcome& each) { return each.answer.ok() && !each.right(); }) &&
           std::none_of(diagnosis_.findings.begin(), diagnosis_.findings.end(), [](const Finding& each) {
             return each.subject == Subject::candidate && each.code != "dtype-refused" &&
                    each.code != "keyword-name" && each.code != "symbol-name" && each.code != "epsilon";
           });
  }

  /// What is read before the barrier that is missing was not written yet.
  void read_too_early() {
    std::set<std::string> arrays;
    for (const Finding& each : diagnosis_.findings)
      if (each.code == "missing-barrier") arrays.insert(each.argument);
    std::erase_if(diagnosis_.findings, [&](const Finding& each) {
      return each.code == "uninitialised-read" && arrays.count(each.argument) > 0;
    });
  }

  void ended(const Replayed& replayed, const Answer& answer) {
    Finding finding = finding_of_end(answer, replayed.line);
    if (answer.end == Answer::End::not_callable) {
      const bool count = entry_.parameters.size() != approach_.form.passings.size();
      finding.code = count ? "argument-count" : "argument-kind";
      finding.fix = count ? fmt::format("take the {} arguments that are passed", replayed.call->before.size())
                          : "take what the original takes";
    } else if (answer.end == Answer::End::refused) {
      // A launch that the device refuses has been told, and the candidate has only passed it on.
      if (!answer.refused_launches.empty()) return;
      say_what_is_refused(answer.message, entry_, replayed.roles, finding);
    }
    if (finding.location.line == 0) finding.location = entry_.place;
    const bool said =
        std::any_of(diagnosis_.findings.begin(), diagnosis_.findings.end(), [&](const Finding& each) {
          return each.code == finding.code && (finding.argument.empty() || each.argument == finding.argument);
        });
    if (!said) add_once(diagnosis_.findings, std::move(finding));
  }

  const Entry& entry_;
  const ReplayRequest& request_;
  const Facts* facts_;
  Diagnosis& diagnosis_;
  Approach approach_;
  std::vector<CallOutcome> outcomes_;
  std::shared_ptr<const Candidate> wide_;
  std::set<std::string> factored_;  ///< outputs whose rows are the reference's times a factor that is told
  bool rescaled_ = false;           ///< sums that are not rescaled are told
  bool reduced_ = false;            ///< a wrong reduction is told
  bool adapted_ = false, answered_ = false, explained_ = false;
};

std::size_t bytes_of(const Replayed& replayed) {
  std::size_t bytes = 0;
  for (const Value& value : replayed.values) bytes += value.storage_bytes;
  return bytes;
}

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
  diagnosis.notes.push_back(diagnosis.error + "; only how it is called was looked at");
  diagnosis.error.clear();
}

}  // namespace

void replay(const Candidate& candidate, const Entry& entry, const ReplayRequest& request,
            Diagnosis& diagnosis) {
  const std::optional<Facts> facts = facts_of(request.recording);
  std::vector<Replayed> calls = replayed_calls(request.recording, facts ? &*facts : nullptr);
  if (calls.empty()) {
    std::string why = "the label gave and wrote nothing";
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
  bool guessed = false, explained = false;
  for (const std::vector<Replayed>& group : by_signature(std::move(calls))) {
    const Entry& overload = overload_for(candidate, entry, group.front(), request.settings);
    Replay of_group(candidate, overload, request, facts ? &*facts : nullptr, diagnosis);
    of_group.run(group);
    guessed = guessed || of_group.guessed();
    explained = explained || of_group.explained();
  }
  // Calls that leave an argument out are wrong for the reason that those show which pass it.
  if (explained)
    std::erase_if(diagnosis.findings, [](const Finding& each) { return each.code == "unexplained"; });
  // What a wrong launch does looks like faults of the kernel.
  if (guessed && std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), may_be_the_launch)) {
    diagnosis.findings.clear();
    diagnosis.error = launch_is_unknown(entry.name);
    return;
  }
  // Without a line of its own a finding is about the function.
  for (Finding& finding : diagnosis.findings)
    if (finding.location.line == 0) finding.location = entry.place;
  if (diagnosis.findings.size() > before && diagnosis.calls > 0)
    diagnosis.exec = Stage::failed;
  else if (diagnosis.calls > 0 && diagnosis.exec == Stage::not_reached)
    diagnosis.exec = Stage::passed;
}

}  // namespace isomer::lab
