#include "lab/judge/edit_names.hpp"

#include "lab/text/pattern.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

namespace isomer::lab {
namespace {

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

/// The part of a line in which it differs from another one.
struct Difference {
  std::size_t first = 0;
  std::string own, other;
};

Difference difference(const std::string& line, const std::string& other) {
  std::size_t front = 0, back = 0;
  while (front < std::min(line.size(), other.size()) && line[front] == other[front]) ++front;
  while (back < std::min(line.size(), other.size()) - front &&
         line[line.size() - 1 - back] == other[other.size() - 1 - back])
    ++back;
  return {front, line.substr(front, line.size() - back - front),
          other.substr(front, other.size() - back - front)};
}

/// `<` for `<=`, or the like: what is compared stays.
bool is_of_comparison(const Finding& edit) {
  if (edit.code != Code::off_by_one || !edit.edited_also.empty()) return false;
  const Difference changed = difference(edit.edited_from, edit.edited);
  return (changed.own + changed.other).find_first_not_of("<>=") == std::string::npos;
}

/// Whether it takes away or adds the one that a count has too many or too few: `(n - 1)` for `n`.
bool is_of_one(const Finding& edit) {
  static const Pattern one("[-+]\\s*[01](?:[^\\w.]|$)");
  const Difference changed = difference(edit.edited_from, edit.edited);
  const std::size_t from = changed.first > 2 ? changed.first - 2 : 0;
  return edit.edited_also.empty() && (one.found_in(edit.edited_from.substr(from, changed.own.size() + 4)) ||
                                      one.found_in(edit.edited.substr(from, changed.other.size() + 4)));
}

/// Whether it is where a loop ends, and that is no number less one.
bool is_end_of_loop(const Finding& edit) {
  static const Pattern loop("\\bfor\\s*\\("), less_one("-\\s*1\\b");
  return loop.found_in(edit.edited_from) && !less_one.found_in(edit.edited_from);
}

/// Whether it changes where something lies, and not what is done with it.
bool is_of_index(const Finding& edit) {
  const std::size_t at = difference(edit.edited_from, edit.edited).first;
  int depth = 0;
  for (std::size_t i = 0; i < std::min(at, edit.edited_from.size()); ++i)
    depth += edit.edited_from[i] == '[' ? 1 : edit.edited_from[i] == ']' ? -1 : 0;
  return depth > 0;
}

/// Whether what it changes is a real number, and no place of one.
bool is_of_value(const Finding& edit) {
  static const Pattern real(
      "\\d\\.\\d*f?\\b|\\b(?:float|double|half|__half)\\b|\\b(?:exp|log|sqrt|rsqrt|tanh|fmax|fmin|fabs)f?"
      "\\(");
  const std::string part = changed_part(edit.edited_from, edit.edited);
  return real.found_in(part) && !is_of_index(edit);
}

/// The names and numbers of a line, in an order of their own.
std::vector<std::string> words_of(const std::string& line) {
  static const Pattern word("[A-Za-z_]\\w*|\\d[\\w.]*");
  std::vector<std::string> words;
  for (const Match& match : word.all(line)) words.push_back(match[0]);
  std::sort(words.begin(), words.end());
  return words;
}

/// Whether it only puts what stands there in another order, or in another relation.
bool has_the_same_words(const Finding& edit) {
  return edit.edited_also.empty() && words_of(edit.edited) == words_of(edit.edited_from);
}

/// Whether one name stands for another.
bool is_of_names(const Finding& edit) {
  static const Pattern name("[A-Za-z_]\\w*");
  const std::vector<std::string> was = words_of(edit.edited_from), is = words_of(edit.edited);
  std::vector<std::string> gone, come;
  std::set_difference(was.begin(), was.end(), is.begin(), is.end(), std::back_inserter(gone));
  std::set_difference(is.begin(), is.end(), was.begin(), was.end(), std::back_inserter(come));
  return gone.size() == 1 && come.size() == 1 && name.is(gone.front()) && name.is(come.front());
}

/// Whether what stands there is called as a count is.
bool counts(const std::string& part) {
  static const Pattern count(
      "(?i)\\b\\w*(?:count|num|size|len|dim|rows?|cols?|width|height|total|elements)\\w*\\b|\\b[a-zA-Z]\\b");
  return count.found_in(part);
}

/// Whether a function of one number stands there, or stood there.
bool is_of_functions(const Finding& edit) {
  static const Pattern function("(?:__)?(?:exp|log|sqrt|rsqrt|tanh|erf|sin|cos|pow|fabs|abs)\\w*");
  const std::vector<std::string> was = words_of(edit.edited_from), is = words_of(edit.edited);
  std::vector<std::string> others;
  std::set_symmetric_difference(was.begin(), was.end(), is.begin(), is.end(), std::back_inserter(others));
  return std::any_of(others.begin(), others.end(), [](const std::string& each) { return function.is(each); });
}

/// Whether it is a name that the line had not before.
bool brings(const Finding& edit, const std::string& name) {
  const auto has = [&](const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    return std::find(words.begin(), words.end(), name) != words.end();
  };
  return !name.empty() && has(edit.edited) && !has(edit.edited_from);
}

/// Whether it changes a number in a table of such.
bool is_of_table(const Finding& edit) {
  static const Pattern numbers("[-+.,\\s\\dA-Fa-fxXuUlL{}();=]+|.*\\]\\s*=\\s*\\{.*");
  return numbers.is(edit.edited_from);
}

/// Whether it is an argument of a template that a kernel is launched with.
bool is_of_template(const Finding& edit) {
  const Difference changed = difference(edit.edited_from, edit.edited);
  const std::string before = edit.edited_from.substr(0, changed.first);
  const std::string behind = edit.edited_from.substr(changed.first + changed.own.size());
  static const Pattern opens("\\w\\s*<[^<>();]*$"), closes("^[^<>();]*>\\s*<<<");
  return opens.found_in(before) && closes.found_in(behind);
}

/// Whether nothing but the order of what stands there changes: `b - a` for `a - b`.
bool has_another_order(const Finding& edit) {
  const auto sorted = [](std::string line) {
    std::erase(line, ' ');
    std::sort(line.begin(), line.end());
    return line;
  };
  return edit.edited_also.empty() && sorted(edit.edited) == sorted(edit.edited_from);
}

}  // namespace

bool is_of_ties(const Finding& edit) {
  if (edit.code != Code::inverted_condition && edit.code != Code::off_by_one) return false;
  const Difference changed = difference(edit.edited_from, edit.edited);
  if ((changed.own + changed.other).find_first_not_of("<>=") != std::string::npos) return false;
  // `a == b && i < j`, as far as the condition has one way.
  const std::string before = edit.edited_from.substr(0, changed.first);
  const std::size_t way = before.rfind("||");
  const std::string own = way == std::string::npos ? before : before.substr(way);
  const std::size_t equal = own.find("==");
  return equal != std::string::npos && own.find("&&", equal) != std::string::npos;
}

bool is_of_another_kind(const Finding& seen, const Finding& edit) {
  if (seen.code == edit.code) return false;
  // Which elements have no influence says little of an expression that bounds nothing, and how precise they
  // are of one with which all is right.
  const bool held = compares(changed_part(edit.edited, edit.edited_from));
  const bool bounds = edit.code == Code::tail_mask ||
                      (edit.code == Code::off_by_one && (held || seen.code != Code::tail_mask)) ||
                      (edit.code != Code::stale_state && held);
  const bool influence =
      seen.code == Code::tail_mask || seen.code == Code::off_by_one || seen.code == Code::mask_alignment;
  // A maximum that is taken of a part of a row is subtracted all the same.
  const bool subtracts = (edit.code == Code::missing_term || edit.code == Code::wrong_expression) &&
                         (is_of_maximum(edit.edited) || is_of_maximum(edit.edited_from));
  // A maximum that begins above what is compared with it looks like a bound.
  const bool begins = seen.code == Code::clamp && edit.code == Code::other_reduction;
  return (influence && !bounds) || begins || seen.code == Code::intermediate_precision ||
         (seen.code == Code::missing_max_subtraction && !subtracts);
}

Code code_of_both(const Finding& seen, const Finding& edit) {
  // Without a barrier what is read may be any index, and what is written be lost.
  if (edit.code == Code::missing_barrier || seen.code == Code::ignores_offset) return edit.code;
  // Threads meet where an index of the source is wrong; what the label does besides makes none meet.
  if ((seen.code == Code::race || seen.code == Code::missing_barrier) && edit.code != Code::unexplained &&
      !edit.edited.empty() && !seen.same_store)
    return edit.code;
  // Which element is read says more than that others are not.
  if (seen.code == Code::ignores_index && edit.code != Code::unexplained) return edit.code;
  if (seen.code == Code::layout_convention && seen.by_influence && edit.code == Code::wrong_expression &&
      is_of_index(edit))
    return edit.code;
  // What is asked the other way round is so for the elements that lie outside.
  if (seen.code == Code::out_of_bounds_read && edit.code == Code::inverted_condition) return edit.code;
  // What has its influence all the same is used the other way round.
  constexpr std::array<Code, 4> kLeftOut = {Code::ignores_argument, Code::missing_term, Code::missing_scale,
                                            Code::unwritten_output};
  const bool left_out = std::find(kLeftOut.begin(), kLeftOut.end(), seen.code) != kLeftOut.end();
  if (is_of_table(edit) || (left_out && edit.code == Code::inverted_condition)) return edit.code;
  if (seen.code == Code::ignores_argument && has_the_same_words(edit)) return edit.code;
  if (left_out && seen.code != Code::unwritten_output &&
      (has_another_order(edit) || (edit.code == Code::wrong_expression && has_the_same_words(edit))))
    return edit.code;
  // A factor of its own in each row, or of some elements, is what comes of much else; so is a factor of an
  // input where the template's argument says which way it goes.
  if (seen.code == Code::missing_scale && edit.code != Code::unexplained &&
      (seen.row_factor || is_of_template(edit)))
    return edit.code;
  // Another name in what is asked, or in what is summed up, is no factor and no reduction.
  if (edit.code == Code::wrong_expression && is_of_names(edit) &&
      ((seen.code == Code::missing_scale && compares(changed_part(edit.edited_from, edit.edited))) ||
       (seen.code == Code::other_reduction && !counts(difference(edit.edited_from, edit.edited).other))))
    return edit.code;
  // Of several edits of the label that give the same answers the one that is this one.
  if (std::find(seen.also_fit.begin(), seen.also_fit.end(), edit.code) != seen.also_fit.end())
    return edit.code;
  // Small values show a fault in a count, too: an epsilon is a small number.
  static const Pattern small("eps|EPS|\\de-\\d|fmaxf?\\(|max\\(");
  if (seen.code == Code::epsilon && edit.code != Code::unexplained && !small.found_in(edit.edited) &&
      !small.found_in(edit.edited_from))
    return edit.code;
  // Where the label ignores an argument, and the source names it, another place gives the same answers.
  if (seen.code == Code::ignores_argument && seen.strength == Strength::consistent && seen.decides &&
      edit.code != Code::unexplained && !brings(edit, seen.argument))
    return edit.code;
  // A bound that is one off leaves a term, a factor or an element out. What is left out at the end of a loop
  // over blocks is more than one.
  constexpr std::array<Code, 6> kByABound = {Code::layout_convention, Code::missing_scale,
                                             Code::missing_term,      Code::other_reduction,
                                             Code::ignores_argument,  Code::unwritten_output};
  if (is_of_comparison(edit) &&
      (std::find(kByABound.begin(), kByABound.end(), seen.code) != kByABound.end() ||
       (seen.code == Code::tail_mask && !is_end_of_loop(edit))))
    return edit.code;
  if (seen.code == Code::missing_scale && edit.code == Code::missing_rescale) return edit.code;
  // A count that is one too many or too few is what is divided by.
  if (seen.code == Code::missing_scale && edit.code == Code::off_by_one && is_of_one(edit)) return edit.code;
  // A factor or a term that is read elsewhere is none that is left out, and another name no index that is one
  // off.
  const bool elsewhere = edit.code == Code::wrong_expression &&
                         (seen.code == Code::missing_scale || seen.code == Code::missing_term);
  if (elsewhere && is_of_index(edit)) return edit.code;
  if (seen.code == Code::off_by_one && edit.code == Code::wrong_expression && is_of_names(edit))
    return edit.code;
  // What is rounded up, or is no quotient of whole numbers, says more than what came of it.
  if (edit.code == Code::tail_mask && !seen.by_influence && seen.code != Code::unwritten_output)
    return edit.code;
  if (edit.code == Code::rounding_mode || (seen.by_influence && edit.code == Code::missing_term))
    return edit.code;
  // What has no influence on a number may be where it belongs all the same.
  if (seen.code == Code::layout_convention && is_of_value(edit)) return edit.code;
  // An error that is a function of an input, or a reduction that is another one, is what is seen of a count,
  // a term or a factor; a factor that counts is the reduction's own.
  constexpr std::array<Code, 6> kOfFormula = {Code::off_by_one, Code::missing_term, Code::missing_scale,
                                              Code::epsilon,    Code::clamp,        Code::tail_mask};
  const bool formula = std::find(kOfFormula.begin(), kOfFormula.end(), edit.code) != kOfFormula.end();
  if (seen.code == Code::approximation &&
      (formula || (edit.code == Code::wrong_expression && !is_of_functions(edit))))
    return edit.code;
  if (seen.code == Code::other_reduction &&
      (edit.code == Code::epsilon || edit.code == Code::clamp ||
       (edit.code == Code::missing_scale && !counts(difference(edit.edited_from, edit.edited).other))))
    return edit.code;
  // Where it goes wrong is where another name stands.
  if (is_of_names(edit) && edit.code == Code::wrong_expression &&
      ((seen.code == Code::tail_mask && !is_end_of_loop(edit)) ||
       (seen.code == Code::unwritten_output && compares(edit.edited))))
    return edit.code;
  return seen.code;
}

}  // namespace isomer::lab
