#include "lab/candidate/emulated/linkage.hpp"

#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

namespace isomer::lab {
namespace {

enum class Scope : std::uint8_t { other, unnamed, c };

/// Where a string or a character ends that begins at `i`.
std::size_t end_of_literal(const std::string& text, std::size_t i) {
  const char quote = text[i];
  for (++i; i < text.size() && text[i] != quote && text[i] != '\n'; ++i) i += text[i] == '\\' ? 1 : 0;
  return i;
}

/// Where a line of the preprocessor ends that begins at `i`.
std::size_t end_of_directive(const std::string& text, std::size_t i) {
  while (i < text.size() && (text[i] != '\n' || text[i - 1] == '\\')) ++i;
  return i;
}

bool is_digit_separator(const std::string& text, std::size_t i) {
  return i > 0 && std::isxdigit(static_cast<unsigned char>(text[i - 1])) != 0;
}

/// The names of macros that stand for extern "C".
std::vector<std::string> c_macros(const std::string& text) {
  static const Pattern definition(
      R"rx(#[ \t]*define[ \t]+(\w+)(?:\([^)]*\))?(?:[^\n]*\\\n)*[^\n]*extern[ \t]*"C")rx");
  std::vector<std::string> names;
  for (const Match& match : definition.all(text)) names.push_back(match[1]);
  return names;
}

}  // namespace

Linkage linkage_of(const std::string& text, const std::string& function, int line) {
  static const Pattern unnamed(R"(\bnamespace\s*$)"), c_block(R"rx(\bextern\s*"C(\+\+)?"\s*$)rx"),
      c_head(R"rx(\bextern\s*"C")rx"), internal(R"(\b(static|inline|__forceinline__)\b)");
  const std::string name = function.substr(function.rfind(':') + 1);
  const Pattern meant("\\b" + literally(name) + "\\s*\\(");
  std::size_t at = 0;
  for (int n = 1; n < line && at != std::string::npos; ++n) at = text.find('\n', at) + 1;
  // Declared so before, or made by a macro that makes such functions.
  const Pattern declared("extern\\s*\"C\"[^;{}]*\\b" + literally(name) + "\\s*\\(");
  if (declared.found_in(text)) return Linkage::c;
  const std::optional<Match> found = at < text.size() ? meant.find(text, at) : std::nullopt;
  if (!found || text.find('\n', at) < found->begin())
    return c_macros(text).empty() ? Linkage::cpp : Linkage::c;
  const std::size_t end = found->begin();
  std::vector<Scope> scopes;
  std::size_t begin = 0;
  bool fresh = true;  // at the begin of a line
  for (std::size_t i = 0; i < end; ++i) {
    const char c = text[i];
    if (c == '#' && fresh) {
      i = end_of_directive(text, i);
      begin = i;
    } else if (c == '"' || (c == '\'' && !is_digit_separator(text, i))) {
      i = end_of_literal(text, i);
    } else if (c == '{') {
      const std::string head = text.substr(begin, i - begin);
      scopes.push_back(unnamed.found_in(head)   ? Scope::unnamed
                       : c_block.found_in(head) ? Scope::c
                                                : Scope::other);
      begin = i + 1;
    } else if (c == '}') {
      if (!scopes.empty()) scopes.pop_back();
      begin = i + 1;
    } else if (c == ';') {
      begin = i + 1;
    }
    fresh = c == '\n' || (fresh && (c == ' ' || c == '\t'));
  }
  const std::string head = text.substr(std::min(begin, end), end - std::min(begin, end));
  if (internal.found_in(head) || std::find(scopes.begin(), scopes.end(), Scope::unnamed) != scopes.end())
    return Linkage::internal;
  const std::vector<std::string> macros = c_macros(text);
  const bool by_macro = std::any_of(macros.begin(), macros.end(), [&](const std::string& macro) {
    return Pattern("\\b" + literally(macro) + "\\b").found_in(head);
  });
  const bool in_block = std::find(scopes.begin(), scopes.end(), Scope::c) != scopes.end();
  return in_block || by_macro || c_head.found_in(head) ? Linkage::c : Linkage::cpp;
}

}  // namespace isomer::lab
