#include "lab/judge/one_edit.hpp"

#include "lab/evidence/probes/watched.hpp"
#include "lab/judge/edit_names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace isomer::lab {
namespace {

constexpr int kMostBesideCause = 1500;  ///< edits that are tried where a cause is told already

/// Of a candidate's numbers, and of nothing that a watch sees or a caller does.
bool is_of_numbers(const Finding& finding) {
  constexpr std::array<Code, 25> kCodes = {Code::layout_convention,
                                           Code::ignores_index,
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
  // Beside a single cause, unless it says its own line.
  const Finding& single = *std::find_if(findings.begin(), findings.end(), is_of_numbers);
  const bool has_line = single.location.line != 0 && single.location.line != entry.place.line;
  asked.any = !has_line;
  // What is left of an argument says little of where it is lost, nor does which elements are wrong of why.
  constexpr std::array<Code, 3> kSayLittle = {Code::ignores_argument, Code::off_by_one, Code::tail_mask};
  if (!single.row_factor && std::find(kSayLittle.begin(), kSayLittle.end(), single.code) == kSayLittle.end())
    asked.most = kMostBesideCause;
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
  if (is_of_ties(edit)) edit.code = Code::tie_rule;
  // Calls of another signature show the same.
  if (std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
        return each.subject == Subject::candidate && each.fix == edit.fix;
      }))
    return;
  const auto told = [](const Finding& each) {
    return is_of_numbers(each) && each.strength != Strength::nearest;
  };
  const auto count = std::count_if(findings.begin(), findings.end(), told);
  // Who writes beyond a buffer may have read there first, and what nobody has written is read there, too.
  auto kept = findings.end();
  for (const Code code : kOfMemory)
    if (kept == findings.end())
      kept = std::find_if(
          findings.begin(), findings.end(),
          // Who stores one value many times does so with the edit as well.
          [&](const Finding& each) { return is_of_memory(each) && each.code == code && !each.same_store; });
  if (kept == findings.end())
    kept = std::find_if(findings.begin(), findings.end(), [&](const Finding& each) {
      return told(each) && ((count == 1 && !is_of_another_kind(each, edit)) || each.code == edit.code);
    });
  if (kept != findings.end()) {
    edit.code = code_of_both(*kept, edit);
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

Finding with_index(Finding edit, std::vector<Finding>& probed) {
  const auto seen = std::find_if(probed.begin(), probed.end(),
                                 [](const Finding& each) { return each.code == Code::ignores_index; });
  if (edit.code != Code::wrong_expression || seen == probed.end()) return edit;
  edit.code = seen->code;
  edit.argument = seen->argument;
  edit.role = seen->role;
  edit.evidence = seen->evidence + "; " + edit.evidence;
  probed.erase(seen);
  return edit;
}

void drop_what_an_edit_explains(std::vector<Finding>& findings) {
  std::erase_if(findings, [](const Finding& each) {
    return is_of_numbers(each) || is_of_memory(each) ||
           (each.subject == Subject::candidate && each.strength == Strength::nearest);
  });
}

bool is_explained_by_an_edit(const Finding& finding) { return is_of_numbers(finding); }

}  // namespace isomer::lab
