// Casts to integers in device code. Of a value that the integer cannot hold the device gives the nearest one
// that it can, where C++ leaves open what happens: `(int)x` becomes `(int)(Saturating<int>)x`, which reads as
// the first does, whatever stands around it.
#include <algorithm>
#include <array>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

/// One past a type of 32 or 64 bits that is spelled in words of the language and stands at `i`; `i` where
/// none does. Narrower ones are made of these, and how the device cuts them is not written anywhere.
std::size_t after_integer(const std::vector<Token>& t, std::size_t i) {
  static constexpr std::array<std::string_view, 6> kWords = {"int",  "unsigned", "signed",
                                                             "long", "const",    "uint"};
  static constexpr std::array<std::string_view, 5> kNames = {"int32_t", "uint32_t", "int64_t", "uint64_t",
                                                             "size_t"};
  const auto among = [&](const auto& list) {
    return std::find(list.begin(), list.end(), t[i].text) != list.end();
  };
  const std::size_t begin = i;
  if (i + 1 < t.size() && t[i].is("std") && t[i + 1].is("::")) i += 2;
  if (i < t.size() && among(kNames)) return i + 1;
  i = begin;
  bool counts = false;
  for (; i < t.size() && among(kWords); ++i) counts |= !t[i].is("const");
  return counts ? i : begin;
}

bool begins_operand(const Token& t) {
  if (t.kind == Token::mark)
    return t.is("(") || t.is("-") || t.is("+") || t.is("*") || t.is("::") || t.is("&") || t.is("~");
  return !t.is("const") && !t.is("volatile") && !t.is("noexcept") && !t.is("override");
}

}  // namespace

void rewrite_conversions(Source& s) {
  const auto& t = s.text.tokens;
  const auto saturating = [&](std::size_t first, std::size_t last) {
    return "(::isomer::emulator::Saturating<" + s.written(first, last) + ">)";
  };
  for (const Function& f : s.outline.functions) {
    if (!f.definition || !(f.global || f.device) || f.constant_expression) continue;
    for (std::size_t i = f.body; i + 3 < f.end; ++i) {
      if (t[i].is("static_cast") && t[i + 1].is("<")) {
        const std::size_t last = after_integer(t, i + 2);
        if (last == i + 2 || !t[last].is(">") || !t[last + 1].is("(")) continue;
        s.edits.insert(t[last + 1].end(), saturating(i + 2, last) + "(");
        s.edits.insert(t[closing(t, last + 1)].offset, ")");
      } else if (t[i].is("(")) {
        const std::size_t last = after_integer(t, i + 1);
        // Behind a name, `(int)` is a list of parameters; behind sizeof, a type.
        const bool of_name = t[i - 1].kind == Token::name && !t[i - 1].is("return");
        if (last == i + 1 || !t[last].is(")") || of_name || t[i - 1].is(")") || t[i - 1].is("]") ||
            t[i - 1].is(">") || !begins_operand(t[last + 1]))
          continue;
        s.edits.insert(t[last].end(), saturating(i + 1, last));
      } else if (t[i].is("int") || t[i].is("unsigned")) {
        const Token& before = t[i - 1];
        const bool in_expression = before.is("=") || before.is("return") || before.is("+") ||
                                   before.is("*") || before.is("[") || before.is("/") || before.is("?") ||
                                   before.is(":");
        if (!in_expression || !t[i + 1].is("(")) continue;
        s.edits.insert(t[i + 1].end(), saturating(i, i + 1) + "(");
        s.edits.insert(t[closing(t, i + 1)].offset, ")");
      }
    }
  }
}

}  // namespace isomer::emulator::source
