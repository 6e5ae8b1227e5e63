#include "lab/judge/one_edit.hpp"

#include "lab/ask/nearness.hpp"
#include "lab/judge/unset_locals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsOfEdits = 12;    ///< for which edits are tried
constexpr double kSecondsOfOthers = 1.5;  ///< and others beside the first that helps
constexpr std::size_t kEnough = 4;        ///< edits that help: more than these tell nothing apart

/// Such settings that a call with an edit ends soon: what an edit does may never end.
CallSettings brief(CallSettings settings, double worked) {
  settings.watch = false;
  settings.timeout_seconds = std::min(settings.timeout_seconds, 0.2 + 5 * worked);
  return settings;
}

/// The edits with which `quick` and then `all` hold, in their order.
template <class Quick, class All>
std::vector<const Exchange*> helpful(const ExchangedBuild& build, const Quick& quick, const All& all,
                                     int& tried) {
  const auto begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  double until = kSecondsOfEdits;
  std::vector<const Exchange*> list;
  for (const Exchange& edit : build.edits) {
    if (passed() >= until || list.size() == kEnough) break;
    ++tried;
    if (!quick(edit.number) || !all(edit.number)) continue;
    list.push_back(&edit);
    // Whether another one does the same is worth a moment.
    until = std::min(until, passed() + kSecondsOfOthers);
  }
  return list;
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

Finding finding_of(const std::vector<const Exchange*>& helpful, const std::string& seen, int tried) {
  Finding finding;
  if (helpful.empty()) return finding;
  const Exchange& edit = *helpful.front();
  finding.code = edit.code;
  finding.strength = Strength::consistent;
  const auto [was, becomes] = parts_that_differ(edit.was, edit.becomes);
  finding.evidence = fmt::format("line {} has '{}': with '{}' there {} ({} edits were tried)", edit.line, was,
                                 becomes, seen, tried);
  for (std::size_t i = 1; i < helpful.size(); ++i)
    finding.evidence +=
        fmt::format("{} '{}' in line {}", i == 1 ? "; they are so too with" : " or",
                    parts_that_differ(helpful[i]->was, helpful[i]->becomes).second, helpful[i]->line);
  finding.fix = fmt::format("write '{}' in line {}, or what means the same", becomes, edit.line);
  finding.location.line = edit.line;
  finding.edited = edit.becomes;
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

}  // namespace

bool asks_for_an_edit(const std::vector<Finding>& findings, bool any) {
  const auto of_threads = [](const Finding& each) {
    return each.code == Code::race || each.code == Code::missing_barrier ||
           each.code == Code::out_of_bounds_read || each.code == Code::out_of_bounds_write;
  };
  if (std::any_of(findings.begin(), findings.end(), of_threads)) return false;
  const auto vague = [](const Finding& each) {
    return each.subject == Subject::candidate && each.strength == Strength::nearest;
  };
  return std::any_of(findings.begin(), findings.end(), vague) ||
         std::count_if(findings.begin(), findings.end(), is_of_numbers) > (any ? 0 : 1);
}

void take_edit(std::vector<Finding>& findings, Finding edit) {
  if (edit.code == Code::none) return;
  const auto told = [&](const Finding& each) {
    return is_of_numbers(each) && each.strength != Strength::nearest;
  };
  const auto count = std::count_if(findings.begin(), findings.end(), told);
  const auto kept = std::find_if(findings.begin(), findings.end(), [&](const Finding& each) {
    // That the last elements have no influence says little of an expression that is no bound.
    const bool of_bounds = each.code == Code::tail_mask && edit.code == Code::wrong_expression;
    return told(each) && ((count == 1 && !of_bounds) || each.code == edit.code);
  });
  if (kept != findings.end()) {
    edit.code = kept->code;
    edit.argument = kept->argument;
    edit.strength = kept->strength;
    edit.role = kept->role;
    edit.evidence = kept->evidence + "; " + edit.evidence;
  }
  std::erase_if(findings, [](const Finding& each) {
    return is_of_numbers(each) || (each.subject == Subject::candidate && each.strength == Strength::nearest);
  });
  add_once(findings, std::move(edit));
}

Finding of_one_edit(const Exchanging& exchanging, const Approach& approach,
                    const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes) {
  std::optional<std::size_t> asked;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (!outcomes[i].right() && outcomes[i].answer.ok() && !lost(outcomes[i]) &&
        (!asked || outcomes[i].elements < outcomes[*asked].elements))
      asked = i;
  if (!asked || !exchanging) return {};
  const std::shared_ptr<const ExchangedBuild> build = exchanging();
  if (build == nullptr) return {};
  Approach other = approach;
  other.candidate = build->candidate.get();
  other.form = in_build(*build->candidate, approach.form);
  const auto right = [&](std::size_t call, int number) {
    other.settings = brief(approach.settings, outcomes[call].answer.worked_seconds);
    other.settings.edit = number;
    return replay_once(other, calls[call]).right();
  };
  if (right(*asked, 0)) return {};
  int tried = 0;
  const std::vector<const Exchange*> list = helpful(
      *build, [&](int number) { return right(*asked, number); },
      [&](int number) {
        for (std::size_t i = 0; i < calls.size(); ++i)
          if (i != *asked && !right(i, number)) return false;
        return true;
      },
      tried);
  Finding finding = finding_of(
      list, calls.size() == 1 ? "the call is right" : fmt::format("all {} calls are right", calls.size()),
      tried);
  finding.location.file = approach.form.entry->place.file;
  return finding;
}

Finding of_one_edit(const Exchanging& exchanging, const Called& called, const Questions& questions,
                    const Numbers& numbers) {
  constexpr double kRight = 0.9999;
  if (!exchanging) return {};
  const auto right = [&](const Candidate& candidate, const Form& form, const Given& given, int number) {
    CallSettings settings = brief(questions.settings, 0.2);
    settings.edit = number;
    const Trial trial = try_call(candidate, form, *called.port, given, settings);
    return trial.ok() && share_right(given, trial) >= kRight;
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
    if ((asked == nullptr || size_of(*each.given) < size_of(*asked)) &&
        !right(*build->candidate, form, *each.given, 0))
      asked = each.given.get();
  if (asked == nullptr) return {};
  int tried = 0;
  const std::vector<const Exchange*> list = helpful(
      *build, [&](int number) { return right(*build->candidate, form, *asked, number); },
      [&](int number) {
        Questions others = questions;
        others.settings = brief(questions.settings, 0.2);
        others.settings.edit = number;
        others.before = &numbers;
        const Numbers now = explain_numbers(*build->candidate, form, *called.port, others);
        return now.explanation.plain.wrong == 0 && now.failures.empty() && !now.evidence.empty();
      },
      tried);
  Finding finding = finding_of(list, fmt::format("all {} calls are right", numbers.evidence.size()), tried);
  finding.location.file = called.form.entry->place.file;
  return finding;
}

}  // namespace isomer::lab
