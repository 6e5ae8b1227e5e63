// `kernel<<<grid, block, shared, stream>>>(arguments)` → a launcher called with the arguments. A kernel that
// the source defines once and that is no template is launched through its address, so that arguments convert
// to its parameters on the host; any other through a lambda that names it where its template arguments can be
// deduced.
#include <algorithm>
#include <set>

#include "isomer/emulator/error.hpp"
#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

/// The parenthesis that the one at `close` closes.
std::size_t opened(const std::vector<Token>& t, std::size_t close) {
  int depth = 1;
  while (close > 0 && depth > 0) {
    --close;
    depth += t[close].is(")") ? 1 : t[close].is("(") ? -1 : 0;
  }
  return close;
}

// The first token of the expression that ends before `end`: `a::b<int>::c<float>`, an element of a table of
// kernels, or a parenthesis.
std::size_t expression_begin(const std::vector<Token>& t, std::size_t end) {
  std::size_t i = end;  // one past what has been read
  for (;;) {
    if (i == 0) return 0;
    if (t[i - 1].is(">")) {
      int depth = 0;
      std::size_t k = i;
      while (k > 0) {
        --k;
        if (t[k].is(")")) k = opened(t, k);  // (1 << 3) is one argument
        if (t[k].is(">")) ++depth;
        if (t[k].is("<") && --depth == 0) break;
      }
      i = k;
      continue;
    }
    if (t[i - 1].is(")")) return opened(t, i - 1);
    if (t[i - 1].is("]")) {
      int depth = 0;
      while (i > 0) {
        --i;
        if (t[i].is("]")) ++depth;
        if (t[i].is("[") && --depth == 0) break;
      }
      continue;
    }
    if (t[i - 1].kind != Token::name) return i;
    --i;
    while (i > 0 && (t[i - 1].is("template") || t[i - 1].is("::") || t[i - 1].is(".") || t[i - 1].is("->"))) {
      const bool word = t[i - 1].is("template");
      --i;
      if (!word) break;
    }
    if (t[i].is("::") || t[i].is(".") || t[i].is("->")) {
      const bool member = !t[i].is("::");
      if (i > 0 && (t[i - 1].kind == Token::name || t[i - 1].is(">")) && !t[i - 1].is("return")) continue;
      if (i > 0 && member && t[i - 1].is("]")) continue;
      if (i == 0 || !member || !t[i - 1].is(")")) return i;
      // Of what a call gives, or of what stands in a parenthesis.
      i = opened(t, i - 1);
      if (i == 0 || t[i - 1].kind != Token::name || t[i - 1].is("return") || t[i - 1].is("else")) return i;
      continue;
    }
    return i;
  }
}

/// The name of a kernel that is launched by `a::b<4>` up to `end`.
std::string_view kernel_name(const std::vector<Token>& t, std::size_t begin, std::size_t end) {
  int depth = 0;
  std::string_view name;
  for (std::size_t k = begin; k < end; ++k) {
    depth += t[k].is("<") ? 1 : t[k].is(">") ? -1 : 0;
    if (depth == 0 && t[k].kind == Token::name) name = t[k].text;
  }
  return name;
}

/// Whether a parameter of the function round that token has that name, and hides a kernel that has it too.
bool is_parameter(const Source& s, std::string_view name, std::size_t at) {
  const auto& t = s.text.tokens;
  for (const Function& f : s.outline.functions) {
    if (!f.definition || at <= f.body || at >= f.end) continue;
    for (std::size_t k = f.parameters + 1; k < closing(t, f.parameters); ++k)
      if (t[k].is(name) && (t[k + 1].is(",") || t[k + 1].is(")") || t[k + 1].is("="))) return true;
  }
  return false;
}

/// Whether every kernel of that name has a pointer as its parameter of that number.
bool takes_pointer(const Source& s, std::string_view kernel, std::size_t number) {
  const auto& t = s.text.tokens;
  bool any = false;
  for (const Function& f : s.outline.functions) {
    if (!f.global || f.name != kernel) continue;
    std::size_t at = 0;
    int depth = 0;
    bool pointer = false;
    for (std::size_t k = f.parameters + 1; k < closing(t, f.parameters); ++k) {
      depth += t[k].is("<") || t[k].is("(") ? 1 : t[k].is(">") || t[k].is(")") ? -1 : 0;
      at += depth == 0 && t[k].is(",");
      pointer |= at == number && depth == 0 && t[k].is("*");
    }
    if (!pointer) return false;
    any = true;
  }
  return any;
}

/// Whether a kernel of that name may have a class as its parameter, by value.
bool may_take_class(const Source& s, std::string_view kernel) {
  static const std::set<std::string_view> kOthers = {"*",    "&",     "int",    "unsigned", "signed",   "float",
                                                     "long", "short", "double", "char",     "bool",     "size_t"};
  const auto& t = s.text.tokens;
  for (const Function& f : s.outline.functions) {
    if (!f.global || f.name != kernel) continue;
    bool other = t[f.parameters + 1].is(")");
    int depth = 0;
    for (std::size_t k = f.parameters + 1, close = closing(t, f.parameters); k <= close; ++k) {
      depth += t[k].is("<") || t[k].is("(") ? 1 : t[k].is(">") || (t[k].is(")") && k < close) ? -1 : 0;
      other |= depth == 0 && kOthers.count(t[k].text) != 0;
      if (k != close && (depth != 0 || !t[k].is(","))) continue;
      if (!other) return true;
      other = false;
    }
  }
  return false;
}

/// By pointers to the arguments: the kernel whose parameters are just of their types, if there is one.
std::string with_just_these(const std::string& kernel) {
  return "[=](auto... isomer_p) -> decltype(static_cast<void (*)(typename ::isomer::emulator::Pointed<decltype(isomer_p)>"
         "::type...)>(&" + kernel + ")) { return &" + kernel + "; }";
}

}  // namespace

void rewrite_launches(Source& s) {
  const auto& t = s.text.tokens;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (!t[i].is("<<<")) continue;
    std::size_t end = i + 1;
    bool found = false;
    for (; end + 3 < t.size() && !t[end].is(";"); ++end) {
      if (t[end].is("(") || t[end].is("[") || t[end].is("{")) {
        end = closing(t, end);
        continue;
      }
      if (t[end].is(">") && t[end + 1].is(">") && t[end + 2].is(">") && t[end + 3].is("(")) {
        found = true;
        break;
      }
    }
    if (!found) throw Error(s.place(i) + ": a launch begins with <<< and has no matching >>>(");
    const std::size_t begin = expression_begin(t, i);
    const std::string kernel = s.written(begin, i);
    bool one_function = begin < i;
    const Function* meant = nullptr;
    for (std::size_t k = begin; k < i; ++k) one_function &= t[k].kind == Token::name || t[k].is("::");
    if (one_function) {
      int plain = 0, other = 0;
      for (const Function& f : s.outline.functions) {
        if (!f.global || f.name != t[i - 1].text) continue;
        ++(f.is_template || f.member ? other : plain);
        if (f.scope.empty()) meant = &f;
      }
      one_function = plain > 0 && other == 0 && !is_parameter(s, t[i - 1].text, i);
      // A declaration and its definition are one kernel; two definitions are overloads.
      int definitions = 0;
      for (const Function& f : s.outline.functions)
        definitions += f.global && f.name == t[i - 1].text && f.definition;
      one_function &= definitions <= 1;
      // Its defaults are the compiler's to fill in, where the kernel is called by its name.
      for (const Function& f : s.outline.functions) {
        if (!f.global || f.name != t[i - 1].text) continue;
        for (std::size_t k = f.parameters; k < closing(t, f.parameters); ++k) one_function &= !t[k].is("=");
      }
    }
    // Braces for an argument get their type from the parameter: the arguments of a template have to be there.
    const std::size_t last = closing(t, end + 3);
    bool braces = false;
    for (std::size_t k = end + 4; k < last; ++k) {
      braces |= t[k].is("{") && (t[k - 1].is("(") || t[k - 1].is(","));
      if (t[k].is("(") || t[k].is("[") || t[k].is("{")) k = closing(t, k);
    }
    one_function |= begin < i && braces && t[i - 1].is(">");
    const std::string request = "::isomer::emulator::request_of(" + quoted(kernel) + ", " +
                                quoted(s.text.files[t[i].file]) + ", " + std::to_string(t[i].line) +
                                ", ::isomer::emulator::Configuration(";
    const std::string configuration(s.original.substr(t[i + 1].offset, t[end].offset - t[i + 1].offset));
    // By value: a pointer to the kernel in a variable of the host is no memory that device threads may read.
    std::string call = one_function
                           ? "::isomer::emulator::function_launcher(" + request + configuration + ")), " +
                                 (meant && begin + 1 == i ? address_of(s, *meant) : "&" + kernel) + ")"
                           : "::isomer::emulator::launcher(" + request + configuration +
                                 ")), [=](auto&... isomer_a) { " + kernel + "(isomer_a...); }" +
                                 (may_take_class(s, kernel_name(t, begin, i)) ? ", " + with_just_these(kernel) + ")" : ")");
    const std::string kept_lines = s.lines(begin, i);
    s.edits.replace(t[begin].offset, t[end + 2].end() - t[begin].offset, kept_lines + call);
    // NULL, and 0 for a pointer, keep being one where the argument is handed on.
    const std::size_t close = last;
    const std::string_view name = kernel_name(t, begin, i);
    std::size_t number = 0;
    for (std::size_t k = end + 4, next = k; k < close; k = next + 1) {
      next = k;
      if (t[k].is("(") || t[k].is("[") || t[k].is("{")) next = closing(t, k);
      number += t[k].is(",");
      const bool whole = (t[k - 1].is("(") || t[k - 1].is(",")) && (t[k + 1].is(",") || t[k + 1].is(")"));
      if (whole && (t[k].is("__null") || (t[k].is("0") && takes_pointer(s, name, number))))
        s.edits.replace(t[k].offset, t[k].text.size(), "nullptr");
    }
    i = end + 2;
  }
}

}  // namespace isomer::emulator::source
