// The address of a function by its name and its parameters: `select`, `index`, `round` or `exp2` may be the C
// library's as well, and its name alone would mean both.
#include <set>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

/// One token more; what stood together stays so ("&&").
void append(std::string& text, const std::vector<Token>& t, std::size_t i) {
  if (!text.empty() && t[i - 1].end() != t[i].offset) text += ' ';
  text += t[i].text;
}

/// What the function gives back, as written; empty where the text does not say it in front of the name.
std::string result_type(const Source& s, const Function& f) {
  static const std::set<std::string_view> no_type = {
      "static",           "inline",      "extern",          "constexpr",
      "__global__",       "__host__",    "__device__",      "__noinline__",
      "__inline__",       "__inline",    "__forceinline__", "__launch_bounds__",
      "__cluster_dims__", "__maxnreg__", "__attribute__",   "__declspec",
      "alignas"};
  const auto& t = s.text.tokens;
  std::string type;
  for (std::size_t i = f.begin; i < f.name_at; ++i) {
    if (t[i].is("auto") || t[i].is("template")) return {};
    if (t[i].kind == Token::string) continue;
    const bool attribute = t[i].is("[") && i + 1 < f.name_at && t[i + 1].is("[");
    if (!attribute && no_type.count(t[i].text) == 0) {
      append(type, t, i);
      continue;
    }
    if (attribute) {
      i = closing(t, i);
    } else if (i + 1 < f.name_at && t[i + 1].is("(")) {
      i = closing(t, i + 1);
    }
  }
  return type;
}

/// Whether the token at the end of a parameter is its name: in a template it may hide one of the template's.
bool names_parameter(const std::vector<Token>& t, std::size_t begin, std::size_t i) {
  static const std::set<std::string_view> of_type = {"int",  "unsigned", "signed",   "long",   "short",
                                                     "char", "float",    "double",   "bool",   "const",
                                                     "auto", "void",     "volatile", "wchar_t"};
  static const std::set<std::string_view> before_type = {"const", "volatile", "struct", "class",
                                                         "enum",  "typename", "union",  "::"};
  if (i == begin || t[i].kind != Token::name || of_type.count(t[i].text) != 0) return false;
  if (!t[i + 1].is(",") && !t[i + 1].is(")") && !t[i + 1].is("=") && !t[i + 1].is("[")) return false;
  const Token& before = t[i - 1];
  if (before.kind == Token::mark) return before.is("*") || before.is("&") || before.is(">");
  if (before_type.count(before.text) == 0) return true;
  // T const x
  return before.is("const") && i >= begin + 2 && t[i - 2].kind == Token::name &&
         before_type.count(t[i - 2].text) == 0;
}

/// The parameters as written, without their names and their defaults.
std::string parameter_list(const Source& s, const Function& f) {
  const auto& t = s.text.tokens;
  const std::size_t close = closing(t, f.parameters);
  std::string list;
  std::size_t begin = f.parameters + 1;  // of the parameter
  int angles = 0;
  for (std::size_t i = begin; i < close; ++i) {
    if (t[i].is("__grid_constant__")) continue;
    angles += t[i].is("<") ? 1 : t[i].is(">") ? -1 : 0;
    if (angles == 0 && t[i].is(",")) begin = i + 1;
    if (angles == 0 && names_parameter(t, begin, i)) continue;
    if (t[i].is("=")) {
      for (int depth = 0; i < close && !(t[i].is(",") && depth == 0); ++i) {
        depth += t[i].is("(") || t[i].is("{") || t[i].is("[") || t[i].is("<");
        depth -= t[i].is(")") || t[i].is("}") || t[i].is("]") || t[i].is(">");
      }
      if (i >= close) break;
    }
    append(list, t, i);
  }
  return list;
}

}  // namespace

std::string address_of(const Source& s, const Function& f) {
  // In a namespace nothing of the C library stands beside it, and what its types are called is known there.
  if (!f.scope.empty()) return "&::" + f.scope + f.name;
  const std::string result = f.is_template ? std::string() : result_type(s, f);
  if (result.empty()) return "&::" + f.name;
  // Unqualified: a name in an unnamed namespace is hidden behind the C library's by "::".
  return "static_cast<" + result + " (*)(" + parameter_list(s, f) + ")>(&" + f.name + ")";
}

}  // namespace isomer::emulator::source
