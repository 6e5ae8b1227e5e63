#include "lab/judge/one_edit.hpp"

#include "lab/evidence/probes/watched.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace isomer::lab {
namespace {

constexpr int kMostBesideCause = 1500;  ///< edits that are tried where a cause is told already

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

/// Of a line the statement or the condition in which it differs from another one.
std::string changed_part(const std::string& line, const std::string& other) {
  std::size_t at = 0;
  while (at < std::min(line.size(), other.size()) && line[at] == other[at]) ++at;
  at = std::min(at, line.empty() ? 0 : line.size() - 1);
  std::size_t begin = at, end = at;
  for (int depth = 0; begin > 0; --begin) {
    const char c = line[begin - 1];
    if (c == ';' || c == '{' || c == '}') break;
    // Behind what an `if` or a loop asks another statement begins.
    if (c == ')' && depth == 0) {
      std::size_t open = begin - 1;
      for (int inner = 0; open > 0; --open) {
        inner += line[open] == ')' ? 1 : line[open] == '(' ? -1 : 0;
        if (inner == 0) break;
      }
      static const Pattern asks("(?:^|\\W)(?:if|while|for)\\s*$");
      if (asks.found_in(line.substr(0, open))) break;
    }
    depth += c == ')' ? 1 : c == '(' && depth > 0 ? -1 : 0;
  }
  while (end < line.size() && line[end] != ';' && line[end] != '{') ++end;
  const std::string part = line.substr(begin, end - begin);
  // A condition ends where its brackets do.
  static const Pattern condition("^\\s*(?:else\\s+)?(?:if|while)\\s*\\(");
  if (!condition.found_in(part)) return part;
  int depth = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    depth += part[i] == '(' ? 1 : part[i] == ')' ? -1 : 0;
    if (part[i] == ')' && depth == 0) return begin + i < at ? part.substr(i + 1) : part.substr(0, i + 1);
  }
  return part;
}

/// Whether it holds one value against another: what stands round a template's arguments does not.
bool compares(const std::string& part) {
  static const Pattern others("\\w<[\\w:, *]*>\\s*[({:]|<<<|>>>|<<|>>|->");
  return others.replaced(part, " ").find_first_of("<>") != std::string::npos;
}

/// Whether it has to do with a maximum, or with exponentials from which one is subtracted.
bool is_of_maximum(const std::string& line) {
  static const Pattern words("exp|max|FLT_MIN|INFINITY");
  return words.found_in(line);
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
    const bool held = compares(changed_part(edit.edited, edit.edited_from));
    const bool bounds = edit.code == Code::tail_mask ||
                        (edit.code == Code::off_by_one && (held || each.code != Code::tail_mask)) ||
                        (edit.code != Code::stale_state && held);
    const bool influence =
        each.code == Code::tail_mask || each.code == Code::off_by_one || each.code == Code::mask_alignment;
    // A maximum that is taken of a part of a row is subtracted all the same.
    const bool subtracts = (edit.code == Code::missing_term || edit.code == Code::wrong_expression) &&
                           (is_of_maximum(edit.edited) || is_of_maximum(edit.edited_from));
    // A maximum that begins above what is compared with it looks like a bound.
    const bool begins = each.code == Code::clamp && edit.code == Code::other_reduction;
    return each.code != edit.code &&
           ((influence && !bounds) || begins || each.code == Code::intermediate_precision ||
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
    // Of several edits of the label that give the same answers the one that is this one.
    const bool is_another =
        std::find(kept->also_fit.begin(), kept->also_fit.end(), edit.code) != kept->also_fit.end();
    if (kept->code != Code::ignores_offset && edit.code != Code::missing_barrier && !is_another)
      edit.code = kept->code;
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

}  // namespace isomer::lab
