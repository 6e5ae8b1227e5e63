// `(void*)kernel`, `reinterpret_cast<const void*>(&kernel<float>)`: whoever launches by address has lost the
// kernel's parameters there, so the address is taken by a function that keeps them.
#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

/// One past "void *", "const void *" or "void const *", begun at `i`; 0 where something else stands there.
std::size_t after_void_pointer(const std::vector<Token>& t, std::size_t i) {
  bool is_void = false;
  for (; i < t.size() && (t[i].is("const") || t[i].is("void")); ++i) is_void |= t[i].is("void");
  return is_void && i + 1 < t.size() && t[i].is("*") ? i + 1 : 0;
}

bool is_kernel(const Source& s, const Token& name) {
  for (const Function& f : s.outline.functions)
    if (f.global && !f.member && name.is(f.name)) return true;
  return false;
}

/// One past `&ns::kernel<float, 4>`, begun at `i`; 0 where no kernel is named.
std::size_t after_kernel(const Source& s, std::size_t i) {
  const auto& t = s.text.tokens;
  if (t[i].is("&")) ++i;
  if (i < t.size() && t[i].is("::")) ++i;
  while (i + 2 < t.size() && t[i].kind == Token::name && t[i + 1].is("::")) i += 2;
  if (i >= t.size() || t[i].kind != Token::name || !is_kernel(s, t[i])) return 0;
  if (++i >= t.size() || !t[i].is("<")) return i;
  for (int depth = 0; i < t.size() && !t[i].is(";"); ++i) {
    depth += t[i].is("<");
    if (t[i].is(">") && --depth == 0) return i + 1;
  }
  return 0;
}

bool launches(const Token& t) {
  return t.kind == Token::name && t.text.size() > 12 && t.text.substr(t.text.size() - 6) == "Kernel" &&
         t.text.find("Launch") != std::string_view::npos;
}

}  // namespace

void rewrite_kernel_casts(Source& s) {
  constexpr const char* kTaken = "::isomer::emulator::kernel_address(";
  const auto& t = s.text.tokens;
  for (std::size_t i = 0; i + 4 < t.size(); ++i) {
    // What is launched may be any expression of a kernel's own type; elsewhere a kernel has to be named.
    const bool launched = i > 1 && t[i - 1].is("(") && launches(t[i - 2]);
    if (t[i].is("(")) {
      const std::size_t close = after_void_pointer(t, i + 1);
      if (close == 0 || !t[close].is(")")) continue;
      std::size_t end = after_kernel(s, close + 1);
      if (end == 0 && launched)
        for (end = close + 1; end < t.size() && !t[end].is(",") && !t[end].is(";"); ++end)
          if (t[end].is("(") || t[end].is("[") || t[end].is("{")) end = closing(t, end);
      if (end == 0 || end >= t.size()) continue;
      s.edits.replace(t[i].offset, t[close].end() - t[i].offset, kTaken);
      s.edits.insert(t[end - 1].end(), ")");
      i = end - 1;
    } else if (t[i].is("reinterpret_cast") && t[i + 1].is("<")) {
      const std::size_t close = after_void_pointer(t, i + 2);
      if (close == 0 || !t[close].is(">") || !t[close + 1].is("(")) continue;
      if (const std::size_t end = after_kernel(s, close + 2); !launched && (end == 0 || !t[end].is(")")))
        continue;
      s.edits.replace(t[i].offset, t[close + 1].end() - t[i].offset, kTaken);
      i = close + 1;
    }
  }
}

}  // namespace isomer::emulator::source
