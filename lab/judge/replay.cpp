#include "lab/judge/replay.hpp"

#include "lab/ask/adapting/launch.hpp"
#include "lab/ask/names/bare.hpp"
#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/recorded/option_codes.hpp"
#include "lab/ask/recorded/option_numbers.hpp"
#include "lab/ask/recorded/replayed.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/evidence/recorded/probes/resized.hpp"
#include "lab/findings/consequences.hpp"
#include "lab/findings/conventions.hpp"
#include "lab/judge/edit_search.hpp"
#include "lab/judge/group_replay.hpp"
#include "lab/judge/recorded_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

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

/// A cause that says of every wrong element what it is.
bool says_a_term(const Finding& finding) {
  return finding.code == Code::missing_term || finding.code == Code::approximation ||
         finding.code == Code::missing_scale || finding.code == Code::inverted_condition;
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
  GroupReplay(candidate, entry, brief, nullptr, diagnosis)
      .call_only(*std::min_element(calls.begin(), calls.end(), [](const Replayed& a, const Replayed& b) {
        return bytes_of(a) < bytes_of(b);
      }));
  for (Finding& finding : diagnosis.findings)
    if (finding.location.line == 0) finding.location = entry.place;
  if (diagnosis.findings.size() == before) return;
  diagnosis.notes.push_back(diagnosis.error + "; only the way in which it is called was judged");
  diagnosis.error.clear();
}

/// What groups of calls are asked.
struct Asking {
  const Candidate& candidate;
  const Entry& entry;
  const ReplayRequest& request;
  const Facts* facts;
  const std::vector<OptionCode>& options;
  const std::vector<std::vector<Replayed>>& groups;
};

/// What came of all groups of calls.
struct Judged {
  bool guessed = false, explained = false, launches = false;
  std::vector<Answer> without_kernels;
  std::string why;  ///< nothing of what was seen is told; empty where it may be
  std::vector<AnsweredGroup> answered;
};

/// The same options of another function: those of its parameters that are called alike.
std::vector<OptionCode> options_of(std::vector<OptionCode> options, const Entry& entry, const Entry& other) {
  for (OptionCode& option : options) {
    if (option.parameter >= entry.parameters.size()) continue;
    const auto& list = other.parameters;
    const auto at = std::find_if(list.begin(), list.end(), [&](const Parameter& each) {
      return each.name == entry.parameters[option.parameter].name;
    });
    option.parameter =
        at == list.end() ? OptionCode::kOfNone : static_cast<std::size_t>(at - list.begin());
  }
  return options;
}

/// Whether the label takes all of these itself: who reads one that no call passes does so by its own fault.
bool are_parameters(const std::set<std::string>& names, const Facts* facts, const Replayed& call) {
  const LabelFunction* label = facts == nullptr ? nullptr : facts->function(call.call->function);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return label != nullptr && std::any_of(label->parameters.begin(), label->parameters.end(),
                                           [&](const auto& each) { return bare(each.name) == bare(name); });
  });
}

/// Each group's calls, one group after the other. `others`: what explains a group has to explain these, too;
/// may be null.
Judged judge_each(const Asking& asking, const std::vector<AnsweredGroup>* others, Diagnosis& diagnosis) {
  Judged judged;
  bool wide = false;
  std::vector<SettledSize> settled;
  std::vector<std::set<std::string>> right_with;  // pointers that are null in calls that are right
  for (const std::vector<Replayed>& group : asking.groups) {
    const Diagnosis told = diagnosis;
    const Entry& overload =
        overload_for(asking.candidate, asking.entry, group.front(), asking.request.settings);
    if (&group == &asking.groups.front() && overload.name != asking.entry.name)
      diagnosis.entry = overload.name;
    GroupReplay of_group(asking.candidate, overload, asking.request, asking.facts, diagnosis);
    of_group.prefer_wide(wide);
    of_group.take_options(options_of(asking.options, asking.entry, overload));
    of_group.take_sizes(settled);
    of_group.take_others(others);
    of_group.run(group);
    // What other calls do without, the label makes for these: nothing of it is passed.
    const bool all_right = of_group.answered_group().right() && !of_group.answered_group().calls.empty();
    if (all_right) right_with.push_back(of_group.null_pointers());
    if (const std::set<std::string> names = of_group.memory_of_nobody();
        !all_right && !are_parameters(names, asking.facts, group.front()) &&
        std::any_of(right_with.begin(), right_with.end(), [&](const std::set<std::string>& each) {
          return std::includes(each.begin(), each.end(), names.begin(), names.end());
        })) {
      diagnosis = told;
      diagnosis.notes.push_back(fmt::format(
          "'{}' is not judged: {} is right in other calls that pass nothing for {}, and in this one "
          "reads from there; the label makes that itself",
          group.front().line, overload.name, fmt::join(names, ", ")));
      continue;
    }
    settled = of_group.sizes();
    wide = of_group.is_wide();
    judged.guessed = judged.guessed || of_group.guessed();
    if (judged.why.empty()) judged.why = of_group.not_accused();
    judged.explained = judged.explained || of_group.explained();
    judged.launches = judged.launches || of_group.launches();
    const std::vector<Answer>& right = of_group.right_answers();
    judged.without_kernels.insert(judged.without_kernels.end(), right.begin(), right.end());
    if (AnsweredGroup answered = of_group.answered_group(); !answered.calls.empty())
      judged.answered.push_back(std::move(answered));
  }
  return judged;
}

/// Whether an edit explains one group's calls that others are wrong with, or one of the label could be
/// another one as well. `right_ones`: of those that are right without.
bool is_doubtful(const Finding& finding, const Exchanging& exchanging,
                 const std::vector<AnsweredGroup>& groups, bool right_ones) {
  if (!finding.decides) return false;
  if (finding.edited.empty()) return !right_ones && finding.also_fit.size() > 1;
  const std::shared_ptr<const ExchangedBuild> build = exchanging ? exchanging() : nullptr;
  if (build == nullptr) return false;
  const auto edit = std::find_if(build->edits.begin(), build->edits.end(), [&](const Exchange& each) {
    return each.line == finding.location.line && each.becomes == finding.edited && each.also.empty();
  });
  return edit != build->edits.end() &&
         std::any_of(groups.begin(), groups.end(), [&](const AnsweredGroup& each) {
           return (each.right() || !right_ones) && !is_right_with(*build, edit->numbers, each);
         });
}

/// What one fault of some calls looks like in others.
void leave_one_cause(const std::vector<AnsweredGroup>& groups, std::vector<Finding>& findings) {
  const auto is_fault = [](const Finding& each) {
    return each.subject == Subject::candidate && !is_remark(each) && !each.beyond;
  };
  const bool wrong =
      std::any_of(groups.begin(), groups.end(), [](const AnsweredGroup& each) { return !each.right(); });
  if (wrong && std::any_of(findings.begin(), findings.end(), is_fault))
    std::erase_if(findings,
                  [](const Finding& each) { return each.beyond && each.edited.empty() && !is_remark(each); });
  const auto mends = [](const Finding& each) {
    return each.decides && each.strength == Strength::consistent;
  };
  const bool explained = std::any_of(findings.begin(), findings.end(), mends);
  const bool stride = std::any_of(findings.begin(), findings.end(), [](const Finding& each) {
    return each.decides && each.edited.find("stride") != std::string::npos;
  });
  std::erase_if(findings, [&](const Finding& each) {
    return (explained && each.code == Code::ignores_argument && each.edited.empty() && !each.decides) ||
           (stride && each.code == Code::assumes_contiguous);
  });
}

/// Whether the calls of each signature that are wrong have too few numbers for an edit, and those of all have
/// enough.
bool are_too_few(const std::vector<AnsweredGroup>& groups) {
  std::size_t all = 0;
  bool few = false;
  for (const AnsweredGroup& each : groups) {
    std::size_t own = 0;
    for (const CallOutcome& outcome : each.outcomes) own += outcome.elements;
    all += own;
    few = few || (!each.right() && own < kHandful);
    if (!each.right() && own >= kHandful) return false;
  }
  return few && all >= kHandful;
}

/// Once more where an edit explains some calls and not others: then one is looked for that explains all, or
/// leaves those right that are. The same where the calls of one signature are too few for an edit.
Judged judge_groups(const Asking& asking, Diagnosis& diagnosis) {
  Diagnosis first = diagnosis;
  Judged judged = judge_each(asking, nullptr, first);
  for (const bool right_ones : {false, true}) {
    std::vector<AnsweredGroup> others = judged.answered;
    if (right_ones) std::erase_if(others, [](const AnsweredGroup& each) { return !each.right(); });
    const bool few = !right_ones && are_too_few(judged.answered) &&
                     std::none_of(first.findings.begin(), first.findings.end(),
                                  [](const Finding& each) { return each.decides; });
    if (judged.answered.size() < 2 || others.empty() ||
        (!few && std::none_of(first.findings.begin(), first.findings.end(), [&](const Finding& each) {
          return is_doubtful(each, asking.request.exchanging, others, right_ones);
        })))
      break;
    Diagnosis again = diagnosis;
    Judged then = judge_each(asking, &others, again);
    const bool decided = std::any_of(again.findings.begin(), again.findings.end(),
                                     [](const Finding& each) { return each.decides; });
    if (!decided && !right_ones) continue;
    diagnosis = std::move(again);
    leave_one_cause(then.answered, diagnosis.findings);
    return then;
  }
  diagnosis = std::move(first);
  leave_one_cause(judged.answered, diagnosis.findings);
  return judged;
}

}  // namespace

void replay(const Candidate& candidate, const Entry& entry, const ReplayRequest& given,
            Diagnosis& diagnosis) {
  const std::optional<Facts> facts = facts_of(given.recording);
  std::vector<Replayed> calls = replayed_calls(given.recording, facts ? &*facts : nullptr);
  ReplayRequest request = given;
  if (!calls.empty())
    request.sizes = with_strides_of_label(with_tensors_of_calls(request.sizes, entry, calls.front()),
                                          facts ? &*facts : nullptr, calls.front().call->function);
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
  take_number_results(entry, calls);
  const ResultCounts counts(calls);
  std::vector<OptionCode> options = option_codes(entry, calls, source_of(candidate), request.sizes);
  const std::string label_function = calls.front().call->function;
  const LabelFunction* label = facts ? facts->function(calls.front().call->function) : nullptr;
  for (OptionCode& each : option_numbers(entry, calls, source_of(candidate), label, request.sizes))
    if (std::none_of(options.begin(), options.end(), [&](const OptionCode& other) {
          return other.parameter == each.parameter && each.parameter != OptionCode::kOfNone;
        }))
      options.push_back(std::move(each));
  put_codes(options, calls);
  const std::vector<std::vector<Replayed>> groups =
      by_signature(std::move(calls), dtype_twins(candidate, entry).size() > 1);
  Judged judged =
      judge_groups({candidate, entry, request, facts ? &*facts : nullptr, options, groups}, diagnosis);
  auto& [guessed, explained, launches, without_kernels, why, answered] = judged;
  // Calls with nothing to do may launch nothing where others do.
  if (!launches)
    tell_no_kernel(
        candidate, entry, without_kernels, [] { return false; }, diagnosis.findings);
  // Calls that leave an argument out are wrong for the reason that those show which pass it.
  if (explained)
    std::erase_if(diagnosis.findings, [](const Finding& each) { return each.code == Code::unexplained; });
  // Where other calls show the cause, an input that nothing depends on may be what the label does not use.
  if (groups.size() > 1 && std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), says_a_term))
    std::erase_if(diagnosis.findings, [](const Finding& each) { return each.by_influence; });
  // What an edit of the source mends is not told again for calls that it does not reach.
  std::erase_if(diagnosis.findings, [&, told = diagnosis.findings](const Finding& each) {
    return each.edited.empty() && std::any_of(told.begin(), told.end(), [&](const Finding& other) {
             return !other.edited.empty() && other.code == each.code && other.argument == each.argument;
           });
  });
  std::erase_if(diagnosis.findings, [&](const Finding& each) {
    return each.code == Code::ignores_argument && counts.depend_on(each.argument);
  });
  leave_unwritten_shared(diagnosis.findings);
  // What is written behind a buffer is not written into it.
  if (std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& each) {
        return each.code == Code::out_of_bounds_write && each.role < 0;
      }))
    std::erase_if(diagnosis.findings,
                  [](const Finding& each) { return each.code == Code::unwritten_output; });
  // Where threads race, which of several equal values is taken is chance.
  if (std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& each) {
        return each.subject == Subject::candidate &&
               (each.code == Code::race || each.code == Code::missing_barrier);
      }))
    std::erase_if(diagnosis.findings, [](const Finding& each) { return each.code == Code::tie_rule; });
  // With more rounds than the test has they meet sooner.
  if (std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& each) {
        return each.subject == Subject::candidate && !each.same_store && !is_remark(each) &&
               (each.code == Code::race || each.code == Code::missing_barrier);
      }))
    std::erase_if(diagnosis.findings,
                  [](const Finding& each) { return each.code == Code::tail_mask && each.larger; });
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
  if (!why.empty()) {
    diagnosis.findings.resize(std::min(before, diagnosis.findings.size()));
    diagnosis.error = std::move(why);
    return;
  }
  // What a label of PyTorch's own operators takes besides, nobody has asked of its kernels.
  if (facts && !facts->has_kernels) tell_limits_of_made(diagnosis.findings);
  tell_narrow_integers(source_of(candidate), diagnosis.findings);
  const auto is_fault = [](const Finding& each) {
    return each.subject == Subject::candidate && !is_remark(each);
  };
  // Who is called with what he says he takes is called as he is to be.
  if (std::none_of(diagnosis.findings.begin(), diagnosis.findings.end(), is_fault) &&
      std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                  [](const Finding& each) { return each.narrow_integers; }))
    diagnosis.call = Stage::passed;
  if (entry.form == Entry::Form::extension && bare(entry.name) != bare(label_function) &&
      diagnosis.calls > 0 && tell_wrapped(diagnosis.findings))
    diagnosis.call = Stage::passed;
  tell_absent_lanes(diagnosis.findings);
  // Without a line of its own a finding is about the function.
  for (Finding& finding : diagnosis.findings)
    if (finding.location.line == 0) finding.location = entry.place;
  const auto added = static_cast<std::ptrdiff_t>(std::min(before, diagnosis.findings.size()));
  if (std::any_of(diagnosis.findings.begin() + added, diagnosis.findings.end(), is_fault) &&
      diagnosis.calls > 0)
    diagnosis.exec = Stage::failed;
  else if (diagnosis.calls > 0 && diagnosis.exec == Stage::not_reached)
    diagnosis.exec = Stage::passed;
}

}  // namespace isomer::lab
