// Loops of device code that wait for another thread: they read, and neither count nor write. What they read
// is a flag, which the watch must know even where it was set before it was asked for.
#include <algorithm>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

/// The last token of the statement that begins there.
std::size_t statement_end(const std::vector<Token>& t, std::size_t at, std::size_t end) {
  if (at < end && t[at].is("{")) return std::min(closing(t, at), end);
  while (at < end && !t[at].is(";"))
    at = t[at].is("(") || t[at].is("[") || t[at].is("{") ? closing(t, at) + 1 : at + 1;
  return std::min(at, end);
}

bool joined(const std::vector<Token>& t, std::size_t i) { return t[i].end() == t[i + 1].offset; }

/// Whether what stands between neither counts nor writes memory.
bool only_reads(const std::vector<Token>& t, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i + 1 < end; ++i) {
    const bool doubled = joined(t, i) && t[i].text == t[i + 1].text;
    if (doubled && (t[i].is("+") || t[i].is("-"))) return false;
    if (!t[i].is("=") || i == begin) continue;
    if (joined(t, i) && t[i + 1].is("=")) {
      ++i;
      continue;
    }
    const Token& left = t[i - 1];
    if (left.kind == Token::mark) {
      const bool compares = left.end() == t[i].offset && (left.is("<") || left.is(">") || left.is("!"));
      if (!compares) return false;  // a compound assignment, or one to an element
      continue;
    }
    if (i >= begin + 2 && (t[i - 2].is("->") || t[i - 2].is("."))) return false;
    const bool dereferences = i >= begin + 3 && t[i - 2].is("*") &&
                              (t[i - 3].is(";") || t[i - 3].is("{") || t[i - 3].is("}") || t[i - 3].is(")"));
    if (dereferences) return false;
  }
  return true;
}

/// Of a loop that does not count by itself: the `continue` behind an `if`, up to which it only reads. There
/// it looks again. Its body's last token where there is none.
std::size_t looks_again(const std::vector<Token>& t, std::size_t loop, std::size_t body, std::size_t end) {
  if (!t[loop].is("do")) {
    const std::size_t close = closing(t, loop + 1);
    if (t[loop].is("for") && !t[close - 1].is(";")) return end;
  }
  for (std::size_t i = body; i < end; ++i) {
    if (!t[i].is("if") || !t[i + 1].is("(")) continue;
    std::size_t then = closing(t, i + 1) + 1;
    if (t[then].is("{")) ++then;
    if (t[then].is("continue") && only_reads(t, loop, then)) return then;
  }
  return end;
}

}  // namespace

std::string waits(const Source& s) {
  const auto& t = s.text.tokens;
  std::string out;
  int serial = 0;
  for (const Function& f : s.outline.functions) {
    if (!f.definition || !(f.global || f.device)) continue;
    for (std::size_t i = f.body; i < f.end; ++i) {
      std::size_t end = i, body = i + 1;
      if ((t[i].is("while") || t[i].is("for")) && t[i + 1].is("(")) {
        body = closing(t, i + 1) + 1;
        end = statement_end(t, body, f.end);
      } else if (t[i].is("do")) {
        end = statement_end(t, statement_end(t, i + 1, f.end) + 1, f.end);
      } else {
        continue;
      }
      end = looks_again(t, i, body, end);
      if (t[i].file != t[end].file || !only_reads(t, i, end)) continue;
      out += "static ::isomer::emulator::WaitRegistration isomer_wait_" + std::to_string(serial++) + "(" +
             quoted(s.text.files[t[i].file]) + ", " + std::to_string(t[i].line) + ", " +
             std::to_string(t[end].line) + ");\n";
    }
  }
  return out;
}

}  // namespace isomer::emulator::source
