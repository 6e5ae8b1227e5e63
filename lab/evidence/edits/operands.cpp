#include "lab/evidence/edits/operands.hpp"

#include <algorithm>

namespace isomer::lab {
namespace {

constexpr ExchangedOperator kExchanged[] = {
    {"+", "Plus", 4, {"-", "", "right"}},        {"-", "Minus", 4, {"+", "", "exchanged", "right"}},
    {"*", "Times", 5, {"/", "", "right"}},       {"/", "Divided", 5, {"*", "", "up", "%"}},
    {"%", "Modulo", 5, {"/", "", "*"}},          {"<", "Less", 2, {"<=", ">", ">="}},
    {"<=", "LessEqual", 2, {"<", ">=", ">"}},    {">", "Greater", 2, {">=", "<", "<="}},
    {">=", "GreaterEqual", 2, {">", "<=", "<"}}, {"==", "Equal", 1, {"!=", "<=", ">="}},
    {"!=", "Unequal", 1, {"==", "<", ">"}}};

/// Of words between operands; 0 where it is none.
int binding_of(std::string_view word) {
  if (const ExchangedOperator* found = operator_of(word)) return found->binds;
  return word == "<<" || word == ">>" ? 3 : 0;
}

bool is_keyword(std::string_view word) {
  constexpr std::array<std::string_view, 6> kWords = {"return", "case", "else", "do", "throw", "new"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// The `static_cast`, or the name of a function with template's arguments, whose own the parenthesis opens;
/// the parenthesis itself where it is none's.
std::size_t begin_of_cast(const CppTokens& tokens, std::size_t open) {
  constexpr std::size_t kMost = 12;
  if (open == 0 || !tokens.is(open - 1, ">")) return open;
  for (std::size_t i = open - 1; i > 0 && open - i < kMost; --i)
    if (tokens.is(i, "<"))
      return tokens.text(i - 1).ends_with("_cast") || begins_arguments(tokens, i) ? i - 1 : open;
  return open;
}

}  // namespace

const ExchangedOperator* operator_of(std::string_view word) {
  for (const ExchangedOperator& each : kExchanged)
    if (each.word == word) return &each;
  return nullptr;
}

bool ends_value(const EditPlaces& places, std::size_t token) {
  const CppTokens& tokens = places.tokens();
  // A type, behind which comes what is declared to point to it.
  if (token + 2 < tokens.size() && (tokens.is(token + 1, "*") || tokens.is(token + 1, "&")) &&
      (tokens.is(token + 2, "__restrict__") || tokens.is(token + 2, "const") ||
       places.functions().is_declared_here(token + 2)))
    return false;
  if ((tokens.is(token + 1, "*") || tokens.is(token + 1, "&")) && tokens.is(token + 2, ")")) return false;
  if (tokens[token].kind == CppToken::Kind::number || tokens.is(token, "]")) return true;
  if (tokens.is(token, ")")) {
    const std::size_t open = tokens[token].partner;
    if (open == 0) return false;
    const std::string_view before = tokens.text(open - 1);
    if (before == "if" || before == "for" || before == "while" || before == "switch") return false;
    // A cast is a word or two in parentheses, with nothing that could be called before them.
    const bool called = tokens.is_name(open - 1) || before == ">" || before == ")" || before == "]";
    const bool word = token - open <= 3 && tokens.is_name(open + 1) &&
                      places.functions().named(open + 1) == nullptr && token > open + 1;
    return called || !word;
  }
  if (!tokens.is_name(token) || is_keyword(tokens.text(token))) return false;
  if (places.functions().named(token) != nullptr ||
      (token > 0 && (tokens.is(token - 1, ".") || tokens.is(token - 1, "->") || tokens.is(token - 1, "::"))))
    return true;
  // A constant or a template's argument; what is declared stands behind no such sign.
  for (const char* sign : {"+", "-", "/", "%"})
    if (tokens.is(token + 1, sign)) return !is_number_word(tokens.text(token));
  const char first = tokens.text(token).front();
  return (first >= 'A' && first <= 'Z') || (first == 'k' && tokens.text(token).size() > 1);
}

std::size_t end_of_operand(const CppTokens& tokens, std::size_t first, int binds) {
  std::size_t i = first;
  while (tokens.is(i, "-") || tokens.is(i, "+") || tokens.is(i, "!") || tokens.is(i, "~") ||
         tokens.is(i, "*") || tokens.is(i, "&"))
    ++i;
  if (tokens.is(i, "(") && tokens[i].partner > i) {
    const std::size_t close = tokens[i].partner;
    // Behind a cast comes what is cast.
    if (tokens.is_name(close + 1) ||
        (close + 1 < tokens.size() && tokens[close + 1].kind == CppToken::Kind::number))
      return end_of_operand(tokens, close + 1, binds);
    i = close;
  }
  while (i + 1 < tokens.size()) {
    const std::string_view next = tokens.text(i + 1);
    if ((next == "(" || next == "[") && tokens[i + 1].partner > i)
      i = tokens[i + 1].partner;
    else if (next == "." || next == "->" || next == "::")
      i += 2;
    else if (next == "<" &&
             (tokens.text(i).find("_cast") != std::string_view::npos || begins_arguments(tokens, i + 1)))
      while (i + 1 < tokens.size() && !tokens.is(i, ">")) ++i;
    else
      break;
  }
  while (binding_of(tokens.text(i + 1)) > binds && i + 2 < tokens.size())
    i = end_of_operand(tokens, i + 2, binding_of(tokens.text(i + 1)));
  return i;
}

std::size_t begin_of_operand(const EditPlaces& places, std::size_t last, int binds) {
  const CppTokens& tokens = places.tokens();
  std::size_t i = last;
  while (i > 0) {
    if (tokens.is(i, ")") || tokens.is(i, "]")) {
      if (tokens[i].partner == 0) return last;
      i = tokens[i].partner;
      // What is cast by name begins with that.
      if (const std::size_t cast = begin_of_cast(tokens, i); cast != i) {
        i = cast;
        break;
      }
      if (i > 0 && (tokens.is_name(i - 1) || tokens.is(i - 1, ")") || tokens.is(i - 1, "]")) &&
          !is_keyword(tokens.text(i - 1)) && !tokens.is(i - 1, "if") && !tokens.is(i - 1, "while") &&
          !tokens.is(i - 1, "for")) {
        --i;
        continue;
      }
    } else if (tokens.is(i - 1, ".") || tokens.is(i - 1, "->") || tokens.is(i - 1, "::")) {
      i -= 2;
      continue;
    }
    break;
  }
  while (i > 1 && binding_of(tokens.text(i - 1)) >= binds && ends_value(places, i - 2))
    i = begin_of_operand(places, i - 2, binding_of(tokens.text(i - 1)));
  return i;
}

bool begins_arguments(const CppTokens& tokens, std::size_t at) {
  if (!tokens.is(at, "<") || at == 0 || !tokens.is_name(at - 1)) return false;
  int depth = 0;
  for (std::size_t i = at; i < tokens.size(); ++i) {
    const std::string_view word = tokens.text(i);
    if (word == "<") ++depth;
    if (word == ">") depth -= 1;
    if (word == ">>") depth -= 2;
    if (depth <= 0) return depth == 0 && (tokens.is(i + 1, "(") || tokens.is(i + 1, "::"));
    const bool part = tokens.is_name(i) || tokens[i].kind == CppToken::Kind::number || word == "<" ||
                      word == ">" || word == ">>" || word == "::" || word == "," || word == "*";
    if (!part) return false;
  }
  return false;
}

bool ends_arguments(const CppTokens& tokens, std::size_t at) {
  if (!tokens.is(at, ">") && !tokens.is(at, ">>")) return false;
  if (!tokens.is(at + 1, "(") && !tokens.is(at + 1, "::")) return false;
  for (std::size_t i = at; i-- > 0;) {
    const std::string_view word = tokens.text(i);
    if (word == "<" && begins_arguments(tokens, i)) return true;
    const bool part = tokens.is_name(i) || tokens[i].kind == CppToken::Kind::number || word == "<" ||
                      word == ">" || word == "::" || word == "," || word == "*";
    if (!part) return false;
  }
  return false;
}

}  // namespace isomer::lab
