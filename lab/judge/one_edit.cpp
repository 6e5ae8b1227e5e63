#include "lab/judge/one_edit.hpp"

#include "lab/ask/nearness.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/judge/kept_search.hpp"
#include "lab/judge/unset_locals.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsOfOthers = 1.5;  ///< and others beside the first that helps
constexpr std::size_t kEnough = 4;        ///< edits that help: more than these tell nothing apart
constexpr std::size_t kHandful = 24;      ///< of all calls together
constexpr std::size_t kMuchLess = 4;      ///< times so many elements are worth a call that is asked first
constexpr int kMostBesideCause = 1500;    ///< edits that are tried where a cause is told already

/// Such settings that a call with an edit ends soon: what an edit does may never end. `helps`: one call is
/// right with it, so that it is worth the time that the others take on a busy machine, watched.
CallSettings brief(CallSettings settings, double worked, bool watch, bool helps) {
  settings.watch = watch;
  settings.timeout_seconds = std::min(settings.timeout_seconds, helps ? 2 + 20 * worked : 0.1 + 5 * worked);
  return settings;
}

/// The edits with which `quick` and then `all` hold, in their order.
template <class Quick, class All>
std::vector<const Exchange*> helpful(const ExchangedBuild& build, const Quick& quick, const All& all,
                                     const EditsAsked& how, KeptSearch& kept, int& tried) {
  std::vector<const Exchange*> list;
  if (const std::optional<KeptSearch::Found> before = kept.found()) {
    for (const int number : before->helpful) {
      const auto edit = std::find_if(build.edits.begin(), build.edits.end(),
                                     [&](const Exchange& each) { return each.number == number; });
      if (edit != build.edits.end() && quick(number) && all(number)) list.push_back(&*edit);
    }
    tried = before->tried;
    if (list.size() == before->helpful.size()) return list;
    list.clear();
    tried = 0;
  }
  const auto begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  double until = how.seconds;
  for (const Exchange& edit : build.edits) {
    if (passed() >= until || list.size() == kEnough || tried == how.most) break;
    // A barrier changes no number but where threads meet.
    if (edit.code == Code::missing_barrier && !how.watched) continue;
    ++tried;
    if (!quick(edit.number) || !all(edit.number)) continue;
    list.push_back(&edit);
    // Whether another one does the same is worth a moment.
    until = std::min(until, passed() + kSecondsOfOthers);
  }
  KeptSearch::Found found = {{}, tried};
  for (const Exchange* each : list) found.helpful.push_back(each->number);
  // What found nothing in its time may find something on a machine that is less busy.
  if (!list.empty() || passed() < how.seconds) kept.keep(found);
  return list;
}

KeptSearch kept_search(const ExchangedBuild& build, const EditsAsked& how, double rtol, double atol) {
  return {build, {how.watched ? 1.0 : 0.0, double(how.most), how.seconds, rtol, atol}};
}

/// Of two lines the part in which they differ, with a few words round it.
std::pair<std::string, std::string> parts_that_differ(const std::string& was, const std::string& becomes) {
  constexpr std::size_t kRound = 24, kShort = 72;
  if (was.size() <= kShort && becomes.size() <= kShort) return {was, becomes};
  std::size_t front = 0, back = 0;
  while (front < std::min(was.size(), becomes.size()) && was[front] == becomes[front]) ++front;
  while (back < std::min(was.size(), becomes.size()) - front &&
         was[was.size() - 1 - back] == becomes[becomes.size() - 1 - back])
    ++back;
  front = front < kRound ? 0 : was.rfind(' ', front - kRound / 2) + 1;
  const std::size_t gap = was.find(' ', was.size() - back + kRound / 2);
  back = gap == std::string::npos ? 0 : was.size() - gap;
  const auto part = [&](const std::string& line) {
    return (front > 0 ? "… " : "") + line.substr(front, line.size() - back - front) + (back > 0 ? " …" : "");
  };
  return {part(was), part(becomes)};
}

/// The same of all lines of an edit: "'a' and 'b'".
std::pair<std::string, std::string> parts_that_differ(const Exchange& edit) {
  auto [was, becomes] = parts_that_differ(edit.was, edit.becomes);
  was = "'" + was + "'";
  becomes = "'" + becomes + "'";
  for (const EditedLine& other : edit.also) {
    const auto [own, then] = parts_that_differ(other.was, other.becomes);
    const bool last = &other == &edit.also.back();
    was += fmt::format("{} '{}'", last ? " and" : ",", own);
    becomes += fmt::format("{} '{}'", last ? " and" : ",", then);
  }
  return {was, becomes};
}

/// "line 5", "lines 5 and 7".
std::string lines_of(const Exchange& edit) {
  std::string text = fmt::format("line{} {}", edit.also.empty() ? "" : "s", edit.line);
  for (const EditedLine& other : edit.also)
    text += fmt::format("{} {}", &other == &edit.also.back() ? " and" : ",", other.line);
  return text;
}

Finding finding_of(const std::vector<const Exchange*>& helpful, const std::string& seen, int tried) {
  Finding finding;
  if (helpful.empty()) return finding;
  // Of equals the one that has a name of its own is likelier meant than any variable for another.
  const auto named = std::find_if(helpful.begin(), helpful.end(), [&](const Exchange* each) {
    return each->code != Code::wrong_expression && each->rank <= helpful.front()->rank;
  });
  const Exchange& edit = named == helpful.end() ? *helpful.front() : **named;
  finding.code = edit.code;
  finding.strength = Strength::consistent;
  const auto [was, becomes] = parts_that_differ(edit);
  const std::string lines = lines_of(edit);
  finding.evidence = fmt::format("{} {} {}: with {} there {} ({} edits were tried)", lines,
                                 edit.also.empty() ? "has" : "have", was, becomes, seen, tried);
  bool more = false;
  for (const Exchange* other : helpful)
    if (other != &edit)
      finding.evidence +=
          fmt::format("{} {} in {}", std::exchange(more, true) ? " or" : "; they are so too with",
                      parts_that_differ(*other).second, lines_of(*other));
  finding.fix = fmt::format("write {} in {}, or what means the same", becomes, lines);
  finding.location.line = edit.line;
  finding.edited = edit.becomes;
  for (const EditedLine& other : edit.also) finding.edited_also.emplace_back(other.line, other.becomes);
  finding.decides = true;
  return finding;
}

/// Of a candidate's numbers, and of nothing that a watch sees or a caller does.
bool is_of_numbers(const Finding& finding) {
  constexpr std::array<Code, 24> kCodes = {Code::layout_convention,
                                           Code::ignores_argument,
                                           Code::tail_mask,
                                           Code::unwritten_output,
                                           Code::mask_alignment,
                                           Code::head_mapping,
                                           Code::inverted_condition,
                                           Code::tie_rule,
                                           Code::off_by_one,
                                           Code::missing_scale,
                                           Code::missing_term,
                                           Code::other_reduction,
                                           Code::log_base,
                                           Code::missing_rescale,
                                           Code::missing_max_subtraction,
                                           Code::missing_absolute,
                                           Code::approximation,
                                           Code::intermediate_precision,
                                           Code::clamp,
                                           Code::saturation,
                                           Code::epsilon,
                                           Code::nan_inf,
                                           Code::wrong_expression,
                                           Code::unexplained};
  return finding.subject == Subject::candidate && !is_remark(finding) &&
         finding.strength != Strength::unobservable &&
         std::find(kCodes.begin(), kCodes.end(), finding.code) != kCodes.end();
}

/// What a watch sees of memory and of the order of threads.
/// Of one that is misaligned it is told that an offset is not looked at.
constexpr std::array<Code, 7> kOfMemory = {
    Code::out_of_bounds_write, Code::out_of_bounds_read, Code::race,
    Code::missing_barrier,     Code::launch_failed,      Code::ignores_offset,
    Code::uninitialised_read};

bool is_of_memory(const Finding& finding) {
  return finding.subject == Subject::candidate && !is_remark(finding) && !finding.made &&
         std::find(kOfMemory.begin(), kOfMemory.end(), finding.code) != kOfMemory.end();
}

/// Whether a watched call did nothing that is a fault; `shared`: several writers of one row were asked for.
bool is_clean(const Answer& answer, bool shared) {
  return answer.refused_launches.empty() &&
         std::all_of(answer.seen.begin(), answer.seen.end(), [&](const Seen& seen) {
           return seen.unnamed_lane || seen.kind == "integer-division" || seen.kind == "unseen-barrier" ||
                  (seen.kind == "race" && (shared || seen.stores_twice));
         });
}

/// Whether an element is wrong of which the original leaves nothing open.
bool is_wrong(const Evidence& evidence) {
  const Given& given = *evidence.given;
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t)
    for (std::size_t i = 0; i < given.plain.tensors[t].value.size(); ++i) {
      const oracle::ExpectedTensor& want = given.plain.tensors[t];
      if (given.open[t][i] == 0 && want.written[i] && !holds(want, i, evidence.outputs[t][i])) return true;
    }
  return false;
}

/// Whether no call came to no answer that came to one before: an edit need not mend what is another matter.
bool fail_as_before(const Numbers& now, const Numbers& before) {
  return std::all_of(now.failures.begin(), now.failures.end(), [&](const Failure& failure) {
    return std::any_of(before.failures.begin(), before.failures.end(), [&](const Failure& other) {
      return other.given->line == failure.given->line && other.trial.answer.end == failure.trial.answer.end;
    });
  });
}

std::size_t elements_of(const Replayed& call) {
  std::size_t count = 0;
  for (const Replayed::Output& output : call.outputs) count += static_cast<std::size_t>(output.want.numel());
  return count;
}

/// Whether an answer has a number that is none where the reference's is one.
bool makes_infinities(const Replayed& call, const CallOutcome& outcome) {
  if (!outcome.answer.ok()) return false;
  for (std::size_t t = 0; t < call.outputs.size(); ++t) {
    const std::vector<double> want = oracle::elements(call.outputs[t].want);
    for (std::size_t i = 0; i < std::min(want.size(), outcome.got[t].size()); ++i)
      if (std::isfinite(want[i]) && !std::isfinite(outcome.got[t][i])) return true;
  }
  return false;
}

}  // namespace

EditsAsked edits_asked(const std::vector<Finding>& findings, const Entry& entry, bool every) {
  EditsAsked asked;
  const auto vague = [](const Finding& each) {
    return each.subject == Subject::candidate && each.strength == Strength::nearest;
  };
  const bool unexplained = std::any_of(findings.begin(), findings.end(), vague);
  asked.watched = std::any_of(findings.begin(), findings.end(), is_of_memory);
  if (asked.watched) {
    asked.any = true;
    return asked;
  }
  const auto count = std::count_if(findings.begin(), findings.end(), is_of_numbers);
  asked.any = unexplained || (every ? count > 0 : count > 1);
  if (asked.any || count == 0) return asked;
  // Beside a single cause, unless it is proved, or says its own line.
  const Finding& single = *std::find_if(findings.begin(), findings.end(), is_of_numbers);
  const bool has_line = single.location.line != 0 && single.location.line != entry.place.line;
  asked.any = single.strength != Strength::proved && !has_line;
  // What is left of an argument says little of where it is lost.
  if (single.code != Code::ignores_argument) asked.most = kMostBesideCause;
  return asked;
}

EditsAsked edits_asked(const Numbers& numbers, const Entry& entry, bool every) {
  std::vector<Finding> seen;
  for (std::size_t i = 0; i < numbers.answers.size(); ++i)
    findings_of_device(numbers.answers[i], *numbers.answered[i], seen);
  if (numbers.pattern) seen.push_back(*numbers.pattern);
  EditsAsked how = edits_asked(seen, entry, every);
  if (how.watched) return how;
  if (numbers.raced) return {};
  const bool unsettled = !numbers.explanation.explains && !numbers.pattern;
  if (unsettled || (every && numbers.explanation.plain.wrong > 0)) how.any = true;
  return how;
}

void take_edit(std::vector<Finding>& findings, Finding edit) {
  if (edit.code == Code::none) return;
  // Calls of another signature show the same.
  if (std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
        return each.subject == Subject::candidate && each.fix == edit.fix;
      }))
    return;
  const auto told = [](const Finding& each) {
    return is_of_numbers(each) && each.strength != Strength::nearest;
  };
  const auto count = std::count_if(findings.begin(), findings.end(), told);
  // Which elements have no influence says little of an expression that bounds nothing, and how precise they
  // are of one with which all is right.
  const auto of_another_kind = [&](const Finding& each) {
    const bool bounds =
        edit.code == Code::off_by_one || edit.code == Code::tail_mask ||
        (edit.code != Code::stale_state && edit.edited.find_first_of("<>") != std::string::npos);
    const bool influence =
        each.code == Code::tail_mask || each.code == Code::off_by_one || each.code == Code::mask_alignment;
    // A maximum that is taken of a part of a row is subtracted all the same.
    const bool subtracts = edit.code == Code::missing_term || edit.code == Code::wrong_expression;
    return each.code != edit.code && ((influence && !bounds) || each.code == Code::intermediate_precision ||
                                      (each.code == Code::missing_max_subtraction && !subtracts));
  };
  // Who writes beyond a buffer may have read there first, and what nobody has written is read there, too.
  auto kept = findings.end();
  for (const Code code : kOfMemory)
    if (kept == findings.end())
      kept = std::find_if(findings.begin(), findings.end(),
                          [&](const Finding& each) { return is_of_memory(each) && each.code == code; });
  if (kept == findings.end())
    kept = std::find_if(findings.begin(), findings.end(), [&](const Finding& each) {
      return told(each) && ((count == 1 && !of_another_kind(each)) || each.code == edit.code);
    });
  if (kept != findings.end()) {
    // Without a barrier what is read may be any index, and what is written be lost.
    if (kept->code != Code::ignores_offset && edit.code != Code::missing_barrier) edit.code = kept->code;
    edit.argument = kept->argument;
    edit.strength = kept->strength;
    edit.role = kept->role;
    edit.shared = kept->shared;
    edit.evidence = kept->evidence + "; " + edit.evidence;
  }
  drop_what_an_edit_explains(findings);
  add_once(findings, std::move(edit));
}

void take_edit_of_label(std::vector<Finding>& findings, Finding edit) {
  if (edit.code == Code::wrong_expression || std::any_of(findings.begin(), findings.end(), is_of_memory))
    return take_edit(findings, std::move(edit));
  const auto same = std::find_if(findings.begin(), findings.end(), [&](const Finding& each) {
    return each.subject == Subject::candidate && each.strength != Strength::nearest && each.code == edit.code;
  });
  // Calls of another signature show the same.
  if (same != findings.end() && same->fix == edit.fix) return;
  if (same != findings.end()) {
    edit.argument = same->argument;
    edit.role = same->role;
    edit.location = same->location;
    edit.evidence = same->evidence + "; " + edit.evidence;
    findings.erase(same);
  }
  drop_what_an_edit_explains(findings);
  add_once(findings, std::move(edit));
}

void drop_what_an_edit_explains(std::vector<Finding>& findings) {
  std::erase_if(findings, [](const Finding& each) {
    return is_of_numbers(each) || is_of_memory(each) ||
           (each.subject == Subject::candidate && each.strength == Strength::nearest);
  });
}

bool is_explained_by_an_edit(const Finding& finding) { return is_of_numbers(finding); }

Finding of_one_edit(const Exchanging& exchanging, const Approach& approach,
                    const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
                    const EditsAsked& how) {
  std::optional<std::size_t> asked;
  const auto fails = [&](std::size_t i) {
    return !outcomes[i].right() || (how.watched && !is_clean(outcomes[i].answer, calls[i].shared));
  };
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (fails(i) && outcomes[i].answer.ok() && !lost(outcomes[i]) &&
        (!asked || outcomes[i].elements < outcomes[*asked].elements))
      asked = i;
  if (!asked || !exchanging) return {};
  const std::shared_ptr<const ExchangedBuild> build = exchanging();
  if (build == nullptr) return {};
  Approach other = approach;
  other.candidate = build->candidate.get();
  other.form = in_build(*build->candidate, approach.form);
  const auto right = [&](std::size_t call, int number, bool watched) {
    other.settings =
        brief(approach.settings, outcomes[call].answer.worked_seconds, watched, call != *asked || watched);
    other.settings.edit = number;
    const CallOutcome now = replay_once(other, calls[call]);
    return now.right() && (!watched || is_clean(now.answer, calls[call].shared));
  };
  const auto is_right = [&](const Replayed& call, int number) {
    other.settings = brief(approach.settings, outcomes[*asked].answer.worked_seconds, false, false);
    other.settings.edit = number;
    return replay_once(other, call).right();
  };
  std::size_t elements = 0;
  for (const CallOutcome& outcome : outcomes) elements += outcome.elements;
  // Many edits make a handful of numbers right: then they have to be right for others, too.
  const bool few = elements < kHandful;
  if (few && (how.beyond == nullptr || how.beyond->empty())) return {};
  const auto holds_beyond = [&](int number) {
    other.settings = brief(approach.settings, outcomes[*asked].answer.worked_seconds, false, true);
    other.settings.edit = number;
    return how.beyond == nullptr ||
           std::all_of(how.beyond->begin(), how.beyond->end(), [&](const Replayed& each) {
             const CallOutcome now = replay_once(other, each);
             return !makes_infinities(each, now) && (!few || now.right());
           });
  };
  // To watch takes longer: only what is right without is watched, where the numbers tell.
  const bool tells = !right(*asked, 0, false);
  if (!tells && (!how.watched || right(*asked, 0, true))) return {};
  KeptSearch kept = kept_search(*build, how, approach.rtol, approach.atol);
  const auto add = [&](const Replayed& call) {
    std::vector<double> wanted;
    for (const Replayed::Output& output : call.outputs)
      for (const double each : oracle::elements(output.want)) wanted.push_back(each);
    kept.add(other.form, call.values, wanted);
  };
  // What is done to the calls has no name.
  if (!approach.adaptations.empty()) kept = KeptSearch({}, {});
  std::for_each(calls.begin(), calls.end(), add);
  if (how.beyond != nullptr) std::for_each(how.beyond->begin(), how.beyond->end(), add);
  int tried = 0;
  const Replayed* small = nullptr;
  if (tells && how.beyond != nullptr)
    for (const Replayed& each : *how.beyond)
      if (const std::size_t size = elements_of(each);
          size >= kHandful && size * kMuchLess <= outcomes[*asked].elements &&
          (small == nullptr || size < elements_of(*small)) && !is_right(each, 0))
        small = &each;
  const auto search = [&](KeptSearch known) {
    return helpful(
        *build,
        [&](int number) {
          return (small == nullptr || is_right(*small, number)) && right(*asked, number, !tells);
        },
        [&](int number) {
          for (std::size_t i = 0; i < calls.size(); ++i)
            if ((i != *asked || (tells && how.watched)) && !right(i, number, how.watched)) return false;
          return holds_beyond(number);
        },
        how, known, tried);
  };
  std::vector<const Exchange*> list;
  if (small != nullptr) {
    const KeptSearch without = kept;
    add(*small);
    list = search(std::exchange(kept, without));
    // It may be wrong for a reason of its own.
    small = nullptr;
  }
  if (list.empty()) list = search(kept);
  std::string seen =
      calls.size() == 1 ? "the call is right" : fmt::format("all {} calls are right", calls.size());
  if (how.watched) seen += " and nothing of this is seen";
  Finding finding = finding_of(list, seen, tried);
  finding.location.file = approach.form.entry->place.file;
  return finding;
}

Finding of_one_edit(const Exchanging& exchanging, const Called& called, const Questions& questions,
                    const Numbers& numbers, const EditsAsked& how) {
  constexpr double kRight = 0.9999;
  if (!exchanging) return {};
  const auto right = [&](const Candidate& candidate, const Form& form, const Given& given, int number) {
    CallSettings settings = brief(questions.settings, 0.2, how.watched, false);
    settings.edit = number;
    const Trial trial = try_call(candidate, form, *called.port, given, settings);
    return trial.ok() && share_right(given, trial) >= kRight &&
           (!how.watched || is_clean(trial.answer, false));
  };
  const Given* asked = nullptr;
  const auto size_of = [](const Given& given) {
    std::size_t elements = 0;
    for (const oracle::ExpectedTensor& each : given.plain.tensors) elements += each.value.size();
    return elements;
  };
  const std::shared_ptr<const ExchangedBuild> build = exchanging();
  if (build == nullptr) return {};
  const Form form = in_build(*build->candidate, called.form);
  for (const Evidence& each : numbers.evidence)
    if ((asked == nullptr || size_of(*each.given) < size_of(*asked)) && is_wrong(each) &&
        !right(*build->candidate, form, *each.given, 0))
      asked = each.given.get();
  if (asked == nullptr) return {};
  KeptSearch kept = kept_search(*build, how, 0, 0);
  for (const Evidence& each : numbers.evidence) {
    std::vector<double> wanted;
    for (const oracle::ExpectedTensor& tensor : each.given->plain.tensors)
      wanted.insert(wanted.end(), tensor.value.begin(), tensor.value.end());
    kept.add(form, each.given->values, wanted);
  }
  int tried = 0;
  const std::vector<const Exchange*> list = helpful(
      *build, [&](int number) { return right(*build->candidate, form, *asked, number); },
      [&](int number) {
        Questions others = questions;
        others.settings = brief(questions.settings, 0.2, how.watched, true);
        others.settings.edit = number;
        others.before = &numbers;
        const Numbers now = explain_numbers(*build->candidate, form, *called.port, others);
        return now.explanation.plain.wrong == 0 && fail_as_before(now, numbers) && !now.evidence.empty() &&
               (!how.watched || std::all_of(now.answers.begin(), now.answers.end(),
                                            [](const Answer& answer) { return is_clean(answer, false); }));
      },
      how, kept, tried);
  std::string seen = fmt::format("all {} calls are right", numbers.evidence.size());
  if (how.watched) seen += " and nothing of this is seen";
  Finding finding = finding_of(list, seen, tried);
  finding.location.file = called.form.entry->place.file;
  return finding;
}

}  // namespace isomer::lab
