// Inline PTX of the kinds that people write: the statement with its operands becomes a block of C++.
#include "source/ptx.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

bool is_blank(const std::string& text) { return text.find_first_not_of(" \t\n\r") == std::string::npos; }

/// A string literal's characters.
std::string unquoted(std::string_view literal) {
  std::string out;
  for (std::size_t i = literal.find('"') + 1; i + 1 < literal.size(); ++i) {
    if (literal[i] == '\\' && i + 2 < literal.size()) {
      ++i;
      out += literal[i] == 'n' || literal[i] == 't' || literal[i] == 'r' ? ' ' : literal[i];
      if (literal[i] == 'n') out.back() = '\n';
    } else {
      out += literal[i];
    }
  }
  return out;
}

/// Without comments, and with one % where the text has two.
std::string cleaned(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
      out += ' ';
    } else if (text.compare(i, 2, "/*") == 0) {
      i = std::min(text.find("*/", i), text.size() - 2) + 1;
    } else if (text.compare(i, 2, "%%") == 0) {
      out += '%';
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::string rewrite_assembly(Source& s, std::size_t i, bool gcn) {
  const auto& t = s.text.tokens;
  std::size_t open = i + 1;
  while (open < t.size() && (t[open].is("volatile") || t[open].is("__volatile__"))) ++open;
  if (open + 1 >= t.size() || !t[open].is("(")) return "";
  const std::size_t close = closing(t, open);
  std::string text;
  std::size_t at = open + 1;
  for (; at < close && t[at].kind == Token::string; ++at) text += unquoted(t[at].text);
  text = cleaned(text);
  if (is_blank(text)) return "";
  if (gcn) {
    const PtxOfGcn same = ptx_of_gcn(text);
    if (!same.refused.empty()) return same.refused;
    text = same.text;
  }

  std::map<std::string, std::string> operands;
  std::string bound;
  int section = 0, number = 0;
  for (; at < close; ++at) {
    if (t[at].is(":") || t[at].is("::")) {
      section += t[at].is("::") ? 2 : 1;
      continue;
    }
    if (section > 2 || t[at].kind != Token::string || at + 1 >= close || !t[at + 1].is("(")) continue;
    const std::size_t end = closing(t, at + 1);
    const std::string name = "isomer_" + std::to_string(number), expression = s.written(at + 2, end);
    operands["%" + std::to_string(number++)] = name;
    bound += section == 1 ? fmt::format("auto& {} = ({}); ", name, expression)
                          : fmt::format("const auto {} = ({}); ", name, expression);
    at = end;
  }
  const PtxAsCpp code = translated_ptx(text, std::move(operands));
  if (!code.refused.empty()) return code.refused;
  s.edits.replace(t[i].offset, t[close].end() - t[i].offset,
                  "do { " + bound + code.text + s.lines(i, close) + "} while (0)");
  s.uses_ptx = true;
  return "";
}

}  // namespace isomer::emulator::source
