#include "lab/text/cpp_tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace isomer::lab {
namespace {

constexpr std::array<std::string_view, 26> kLong = {"<<<", ">>>", "<<=", ">>=", "...", "->", "::", "++", "--",
                                                    "+=",  "-=",  "*=",  "/=",  "%=",  "&=", "|=", "^=", "<=",
                                                    ">=",  "==",  "!=",  "&&",  "||",  "<<", ">>", "##"};

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool begins_number(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Behind the line that begins there, with what it is continued by.
std::size_t end_of_line(std::string_view source, std::size_t from) {
  for (std::size_t i = from; i < source.size(); ++i)
    if (source[i] == '\n' && (i == 0 || source[i - 1] != '\\')) return i;
  return source.size();
}

std::size_t end_of_quoted(std::string_view source, std::size_t from) {
  const char quote = source[from];
  std::size_t i = from + 1;
  while (i < source.size() && source[i] != quote && source[i] != '\n') i += source[i] == '\\' ? 2 : 1;
  return std::min(i + 1, source.size());
}

std::size_t end_of_raw(std::string_view source, std::size_t from) {
  const std::size_t open = source.find('(', from);
  if (open == std::string_view::npos) return source.size();
  const std::string end = ")" + std::string(source.substr(from + 2, open - from - 2)) + "\"";
  const std::size_t at = source.find(end, open);
  return at == std::string_view::npos ? source.size() : at + end.size();
}

std::size_t end_of_number(std::string_view source, std::size_t from) {
  std::size_t i = from;
  while (i < source.size()) {
    const char c = source[i], before = i > from ? source[i - 1] : ' ';
    const bool hex = source.substr(from, 2) == "0x" || source.substr(from, 2) == "0X";
    const bool sign =
        (c == '+' || c == '-') && i > from && ((!hex && (before == 'e' || before == 'E')) || before == 'p');
    if (!begins_word(c) && !begins_number(c) && c != '.' && c != '\'' && !sign) break;
    ++i;
  }
  return i;
}

}  // namespace

CppTokens::CppTokens(std::string_view source) : source_(source) {
  int line = 1;
  bool fresh = true;  // nothing but spaces on the line so far
  for (std::size_t i = 0; i < source.size();) {
    const char c = source[i];
    std::size_t end = i + 1;
    CppToken::Kind kind = CppToken::Kind::punctuation;
    bool word = true;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      word = false;
    } else if (c == '#' && fresh) {
      word = false;
      end = end_of_line(source, i);
    } else if (source.substr(i, 2) == "//") {
      word = false;
      end = end_of_line(source, i);
    } else if (source.substr(i, 2) == "/*") {
      word = false;
      const std::size_t at = source.find("*/", i + 2);
      end = at == std::string_view::npos ? source.size() : at + 2;
    } else if (source.substr(i, 2) == "R\"") {
      kind = CppToken::Kind::quoted;
      end = end_of_raw(source, i);
    } else if (c == '"' || c == '\'') {
      kind = CppToken::Kind::quoted;
      end = end_of_quoted(source, i);
    } else if (begins_word(c)) {
      kind = CppToken::Kind::identifier;
      while (end < source.size() && (begins_word(source[end]) || begins_number(source[end]))) ++end;
    } else if (begins_number(c) || (c == '.' && i + 1 < source.size() && begins_number(source[i + 1]))) {
      kind = CppToken::Kind::number;
      end = end_of_number(source, i);
    } else {
      for (const std::string_view each : kLong)
        if (source.substr(i, each.size()) == each) {
          end = i + each.size();
          break;
        }
    }
    if (word) tokens_.push_back({kind, i, end, line, 0});
    for (std::size_t k = i; k < end; ++k) line += source[k] == '\n';
    fresh = c == '\n' || (fresh && !word);
    i = end;
  }
  pair_brackets();
}

void CppTokens::pair_brackets() {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (tokens_[i].kind != CppToken::Kind::punctuation) continue;
    const std::string_view word = text(i);
    if (word == "(" || word == "[" || word == "{") open.push_back(i);
    const char expected = word == ")" ? '(' : word == "]" ? '[' : word == "}" ? '{' : '\0';
    if (expected == '\0' || open.empty() || source_[tokens_[open.back()].begin] != expected) continue;
    tokens_[i].partner = open.back();
    tokens_[open.back()].partner = i;
    open.pop_back();
  }
}

}  // namespace isomer::lab
