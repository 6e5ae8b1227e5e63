#include "source/locals.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace isomer::emulator::source {
namespace {

/// No declaration of a variable of the thread's own begins with one of these.
bool begins_other(const Token& t) {
  static const std::set<std::string_view> words = {
      "return",  "if",       "for",           "while",   "do",          "switch",    "case",
      "default", "break",    "continue",      "goto",    "else",        "delete",    "new",
      "throw",   "using",    "namespace",     "typedef", "static",      "extern",    "asm",
      "__asm__", "template", "sizeof",        "class",   "enum",        "union",     "__shared__",
      "try",     "catch",    "static_assert", "public",  "private",     "protected", "operator",
      "friend",  "this",     "thread_local",  "__asm",   "__constant__"};
  return t.kind != Token::name || words.count(t.text) != 0;
}

bool is_qualifier(const Token& t) {
  return t.is("const") || t.is("volatile") || t.is("constexpr") || t.is("register") || t.is("struct") ||
         t.is("typename") || t.is("__restrict__") || t.is("__restrict");
}

bool of_language(std::string_view word) {
  static const std::set<std::string_view> words = {
      "float",   "double",   "int",     "unsigned", "signed",  "long",    "short",
      "char",    "bool",     "size_t",  "int8_t",   "uint8_t", "int16_t", "uint16_t",
      "int32_t", "uint32_t", "int64_t", "uint64_t", "uint",    "const",   "register"};
  return words.count(word) != 0;
}

/// One past the `>` that belongs to the `<` at `open`; `open` where none does before the statement's end.
std::size_t past_angles(const std::vector<Token>& t, std::size_t open, std::size_t end) {
  int depth = 0;
  for (std::size_t i = open; i < end && !t[i].is(";") && !t[i].is("{") && !t[i].is("="); ++i) {
    if (t[i].is("(") || t[i].is("[")) {
      i = closing(t, i);
      continue;
    }
    depth += t[i].is("<") ? 1 : t[i].is(">") ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return open;
}

/// Appends what the declaration that begins at `i` declares, if one does.
void read_declaration(const std::vector<Token>& t, std::size_t i, std::size_t end, std::size_t block,
                      bool of_loop, std::vector<Local>& into) {
  const std::size_t before = into.size();
  std::size_t types = 0;
  bool arithmetic = true, indirect = false;
  // The type: names up to the last one in front of a declarator's end.
  for (; i < end; ++i) {
    if ((t[i].is("alignas") || t[i].is("__attribute__") || t[i].is("decltype")) && t[i + 1].is("(")) {
      types += t[i].is("decltype");
      arithmetic &= !t[i].is("decltype");
      i = closing(t, i + 1);
      continue;
    }
    if (t[i].is("*") || t[i].is("&")) {
      if (types == 0) return;
      indirect = true;
      continue;
    }
    if (t[i].kind != Token::name) return;
    if (is_qualifier(t[i])) {
      arithmetic &= !t[i].is("volatile") && !t[i].is("struct") && !t[i].is("typename");
      continue;
    }
    const Token& next = t[i + 1];
    if (types > 0 && (next.is("[") || next.is(";") || next.is(",") || next.is("=") || next.is("{") ||
                      next.is("(") || next.is(":")))
      break;
    arithmetic &= of_language(t[i].text);
    ++types;
    while (t[i + 1].is("::") && t[i + 2].kind == Token::name) {
      arithmetic = false;
      i += 2;
    }
    if (t[i + 1].is("<")) {
      const std::size_t past = past_angles(t, i + 1, end);
      if (past == i + 1) return;
      arithmetic = false;
      i = past - 1;
      while (t[i + 1].is("::") && t[i + 2].kind == Token::name) i += 2;
    }
  }
  // The declarators.
  while (i < end && t[i].kind == Token::name) {
    Local local;
    local.name = i++;
    local.block = block;
    local.indirect = indirect;
    local.arithmetic = arithmetic;
    local.of_loop = of_loop;
    while (i < end && t[i].is("[")) {
      local.sizes.push_back(i);
      i = closing(t, i) + 1;
    }
    local.initialised = i < end && !t[i].is(";") && !t[i].is(",");
    while (i < end && !t[i].is(",") && !t[i].is(";") && !t[i].is(")")) {
      if (t[i].is("(") || t[i].is("[") || t[i].is("{")) i = closing(t, i);
      if (t[i].is("<") && t[i - 1].kind == Token::name)
        if (const std::size_t past = past_angles(t, i, end); past > i && t[past].is("(")) i = past - 1;
      ++i;
    }
    into.push_back(std::move(local));
    if (i >= end || !t[i].is(",")) break;
    indirect = false;
    for (++i; i < end && (t[i].is("*") || t[i].is("&") || is_qualifier(t[i])); ++i)
      indirect |= t[i].is("*") || t[i].is("&");
  }
  for (std::size_t k = before; k < into.size(); ++k) into[k].end = i;
}

}  // namespace

std::vector<Local> locals_of(const Source& s, const Function& f) {
  const auto& t = s.text.tokens;
  std::vector<Local> found;
  std::vector<std::size_t> open;  // brackets round the token
  for (std::size_t i = f.body; i < f.end; ++i) {
    if (t[i].is("{") || t[i].is("(") || t[i].is("[")) {
      open.push_back(i);
    } else if ((t[i].is("}") || t[i].is(")") || t[i].is("]")) && !open.empty()) {
      open.pop_back();
    }
    if (open.empty()) break;
    const bool statement =
        t[open.back()].is("{") && (t[i].is("{") || t[i].is("}") || t[i].is(";") || t[i].is(":"));
    const bool loop = t[i].is("(") && t[i - 1].is("for");
    if (!statement && !loop) continue;
    if (begins_other(t[i + 1])) continue;
    std::size_t brace = open.size() - 1;
    while (brace > 0 && !t[open[brace]].is("{")) --brace;
    read_declaration(t, i + 1, f.end, closing(t, open[brace]), loop, found);
  }
  return found;
}

}  // namespace isomer::emulator::source
