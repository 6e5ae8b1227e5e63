#include "lab/evidence/edits/places.hpp"

#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace isomer::lab {
namespace {

/// The parts of a condition between && or ||, whichever stand outside of all parentheses.
struct Terms {
  std::string_view joined;  ///< "&&", "||"; empty for a single term
  std::vector<std::pair<std::size_t, std::size_t>> list;
};

Terms terms_of(const CppTokens& tokens, std::size_t first, std::size_t last) {
  Terms terms;
  std::size_t begin = first;
  for (std::size_t i = first; i <= last; ++i) {
    if ((tokens.is(i, "(") || tokens.is(i, "[") || tokens.is(i, "{")) && tokens[i].partner > i)
      i = tokens[i].partner;
    if (!tokens.is(i, "&&") && !tokens.is(i, "||")) continue;
    // Of both kinds beside each other the whole is one term.
    if (!terms.joined.empty() && terms.joined != tokens.text(i)) return {"", {{first, last}}};
    terms.joined = tokens.text(i);
    terms.list.emplace_back(begin, i - 1);
    begin = i + 1;
  }
  terms.list.emplace_back(begin, last);
  return terms;
}

/// Each `&&` of the terms as `||`, or the other way round.
int add_joining(EditPlaces& places, const Terms& terms) {
  std::vector<EditPlaces::Part> parts;
  for (std::size_t i = 1; i < terms.list.size(); ++i)
    parts.push_back({terms.list[i].first - 1, terms.list[i].first - 1, terms.joined == "&&" ? "||" : "&&"});
  return places.add(std::move(parts), Code::inverted_condition, 2);
}

/// A condition from the first token to the last: the other way round, without each of its terms, and with
/// these joined in the other way.
void add_condition(EditPlaces& places, std::size_t first, std::size_t last) {
  const CppTokens& tokens = places.tokens();
  if (first > last || !places.open_statement(first) || !places.open_statement(last)) return;
  const Terms terms = terms_of(tokens, first, last);
  if (std::any_of(terms.list.begin(), terms.list.end(),
                  [](const auto& each) { return each.first > each.second; }))
    return;
  // Terms are joined in the other way where each is negated, and the whole is.
  const int joined = terms.joined.empty() ? 0 : add_joining(places, terms);
  for (const auto& [begin, end] : terms.list) {
    const std::string text(tokens.text(begin, end));
    const int negated = places.add({{begin, end, fmt::format("!({})", text)}}, Code::inverted_condition, 2);
    if (terms.joined.empty()) {
      places.surround(begin, end, "(bool(", fmt::format(") != (isomer_edits::chosen({})))", negated));
      continue;
    }
    const bool is_first = begin == first;
    const int without =
        places.add({{is_first ? begin : begin - 1, is_first ? end + 1 : end, ""}}, Code::wrong_expression, 2);
    places.surround(
        begin, end,
        terms.joined == "&&" ? fmt::format("((isomer_edits::chosen({}) || bool(", without)
                             : fmt::format("((!isomer_edits::chosen({}) && bool(", without),
        fmt::format(")) != (isomer_edits::chosen({}) || isomer_edits::chosen({})))", negated, joined));
  }
  if (joined != 0)
    places.surround(first, last, "((", fmt::format(") != (isomer_edits::chosen({})))", joined));
}

/// The first token of the condition that ends before a `?`.
std::size_t begin_of_choice(const CppTokens& tokens, std::size_t question) {
  constexpr std::array<std::string_view, 13> kBefore = {"=", "(", "[",      ",",  ";",  "{", "}",
                                                        "?", ":", "return", "+=", "*=", "-="};
  std::size_t i = question;
  while (i > 0 && std::find(kBefore.begin(), kBefore.end(), tokens.text(i - 1)) == kBefore.end()) {
    --i;
    if ((tokens.is(i, ")") || tokens.is(i, "]") || tokens.is(i, "}")) && tokens[i].partner != 0)
      i = tokens[i].partner;
  }
  return i;
}

bool is_real(const std::string& type) {
  return type.starts_with("float") || type.starts_with("double") || type.starts_with("const float");
}

/// The right side of an assignment, or a first value, with another sign.
void add_signs(EditPlaces& places, std::size_t first, std::size_t last) {
  const CppTokens& tokens = places.tokens();
  if (first > last || !places.open_statement(first) || !places.open_statement(last)) return;
  const std::string own(tokens.text(first, last));
  const int number =
      places.add({{first, last, last > first ? "-(" + own + ")" : "-" + own}}, Code::wrong_expression, 2);
  places.add({{first, last, "fabsf(" + own + ")"}}, Code::missing_absolute, 2);
  places.surround(first, last, fmt::format("isomer_edits::with_sign({}, ", number), ")");
}

/// How an assignment may have been meant, as its words say.
std::vector<std::string_view> other_assignments(std::string_view word) {
  if (word == "=") return {"+="};
  if (word == "+=") return {"=", "*="};
  if (word == "-=") return {"+="};
  if (word == "*=") return {"/=", "+="};
  if (word == "/=") return {"*="};
  return {};
}

/// What does it in the compiled source, or nothing where the types have no such operator.
std::string_view name_of_assignment(std::string_view word) {
  return word == "=" ? "set" : word == "+=" ? "add" : word == "*=" ? "multiply" : "divide";
}

/// The last token of the value behind a declaration's first `=`; `end` is its semicolon.
std::size_t end_of_first(const CppTokens& tokens, std::size_t at, std::size_t end) {
  std::size_t last = at + 1;
  while (last < end && !tokens.is(last, ","))
    last = (tokens.is(last, "(") || tokens.is(last, "{")) && tokens[last].partner > last
               ? tokens[last].partner + 1
               : last + 1;
  return last - 1;
}

void add_assignment(EditPlaces& places, std::size_t first) {
  const CppTokens& tokens = places.tokens();
  std::size_t at = first, end = first;
  while (end < tokens.size() && !tokens.is(end, ";") && !tokens.is(end, "{") && !tokens.is(end, "}"))
    end = (tokens.is(end, "(") || tokens.is(end, "[")) && tokens[end].partner > end ? tokens[end].partner + 1
                                                                                    : end + 1;
  if (!tokens.is(end, ";")) return;
  while (at < end && tokens.text(at).back() != '=')
    at = (tokens.is(at, "(") || tokens.is(at, "[")) && tokens[at].partner > at ? tokens[at].partner + 1
                                                                               : at + 1;
  if (at >= end || at + 1 >= end || !places.open_statement(first) || !places.open_statement(end - 1)) return;
  const CppVariable* left = places.functions().named(first);
  const bool declares = places.functions().begins_declaration(first);
  if (declares) {
    if (!tokens.is(at, "=") || !tokens.is_name(at - 1)) return;
    const std::size_t last = end_of_first(tokens, at, end);
    const auto says = [&](std::string_view word) {
      for (std::size_t i = first; i < at; ++i)
        if (tokens.is(i, word)) return true;
      return false;
    };
    if ((says("float") || says("double")) && !says("*")) add_signs(places, at + 1, last);
    return;
  }
  if (left == nullptr) return;
  if (is_real(left->type)) add_signs(places, at + 1, end - 1);
  const std::string target(tokens.text(first, at - 1)), value(tokens.text(at + 1, end - 1));
  // What is stored in fewer bits and read again is rounded, and nothing else.
  static const Pattern rounds("(?:half2float|bfloat162float)\\(\\w*(?:float2half|float2bfloat16)\\w*\\(");
  const bool rounded = rounds.found_in(value) && value.find(target) != std::string::npos;
  const int dropped = places.add(
      {{first, end, ""}}, rounded ? Code::intermediate_precision : Code::wrong_expression, rounded ? 1 : 3);
  std::string others;
  for (const std::string_view word : other_assignments(tokens.text(at))) {
    const int edit = places.add({{at, at, std::string(word)}}, Code::wrong_expression, 2);
    others += fmt::format("if (isomer_edits::chosen({})) {{ isomer_edits::{}({}, {}); }} else ", edit,
                          name_of_assignment(word), target, value);
  }
  places.surround(first, end, fmt::format("{{ {}if (!isomer_edits::chosen({})) ", others, dropped), " }");
}

/// Two arguments of one type, each in the other's place.
void add_arguments(EditPlaces& places, std::size_t open) {
  const CppTokens& tokens = places.tokens();
  const std::size_t close = tokens[open].partner;
  if (!tokens.is(open, "(") || close <= open + 3 || open == 0 ||
      !(tokens.is_name(open - 1) || tokens.is(open - 1, ">>>")) || tokens.is(open - 1, "for"))
    return;
  std::vector<std::size_t> names;  // arguments that are a variable and no more
  for (std::size_t i = open + 1; i < close; ++i) {
    if ((tokens.is(i, "(") || tokens.is(i, "[") || tokens.is(i, "{")) && tokens[i].partner > i)
      i = tokens[i].partner;
    const bool alone = (tokens.is(i - 1, ",") || i - 1 == open) && (tokens.is(i + 1, ",") || i + 1 == close);
    if (alone && places.open_statement(i) && places.functions().named(i) != nullptr) names.push_back(i);
  }
  constexpr std::size_t kMost = 24;
  if (names.size() > kMost) return;
  for (std::size_t a = 0; a < names.size(); ++a)
    for (std::size_t b = a + 1; b < names.size(); ++b) {
      const CppVariable *one = places.functions().named(names[a]),
                        *other = places.functions().named(names[b]);
      if (one->type != other->type || one->name == other->name) continue;
      const int edit = places.add({{names[a], names[a], other->name}, {names[b], names[b], one->name}},
                                  Code::argument_order, 1);
      places.alternative(names[a], edit, other->name);
      places.alternative(names[b], edit, one->name);
    }
}

}  // namespace

void add_conditions(EditPlaces& places) {
  const CppTokens& tokens = places.tokens();
  // What stands inside comes first.
  for (std::size_t i = tokens.size(); i-- > 1;) {
    if (tokens.is(i, "?")) add_condition(places, begin_of_choice(tokens, i), i - 1);
    if (tokens.is(i, "=") && i > 2 && tokens.is(i - 2, "bool") &&
        places.functions().is_declared_here(i - 1)) {
      std::size_t end = i + 1;
      while (end < tokens.size() && !tokens.is(end, ";") && !tokens.is(end, ","))
        end = tokens.is(end, "(") && tokens[end].partner > end ? tokens[end].partner + 1 : end + 1;
      if (!terms_of(tokens, i + 1, end - 1).joined.empty()) add_condition(places, i + 1, end - 1);
    }
    if (!tokens.is(i, "(") || tokens[i].partner <= i + 1) continue;
    const std::size_t close = tokens[i].partner;
    if (tokens.is(i - 1, "if") || tokens.is(i - 1, "while")) add_condition(places, i + 1, close - 1);
    if (!tokens.is(i - 1, "for")) continue;
    std::size_t begin = i + 1;
    while (begin < close && !tokens.is(begin, ";")) ++begin;
    std::size_t end = begin + 1;
    while (end < close && !tokens.is(end, ";")) ++end;
    // A loop that runs while its condition does not hold may never end: only its parts are left out.
    if (end < close && terms_of(tokens, begin + 1, end - 1).list.size() > 1)
      add_condition(places, begin + 1, end - 1);
  }
}

void add_statements(EditPlaces& places) {
  for (std::size_t i = 0; i < places.tokens().size(); ++i) {
    add_arguments(places, i);
    if (places.functions().starts_statement(i)) add_assignment(places, i);
  }
}

}  // namespace isomer::lab
