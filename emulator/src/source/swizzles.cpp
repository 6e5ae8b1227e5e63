// `v.zyx`, `v.s02`, `v.lo`: several elements of one of clang's vectors, by a function of the emulator's
// class. What is assigned to is a place, all else a value.
#include <algorithm>
#include <optional>
#include <set>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

/// What the name selects, as arguments of the class's templates: "<2, 1, 0>", or "_lo".
std::optional<std::string> selection(std::string_view name) {
  for (const char* half : {"lo", "hi", "even", "odd"})
    if (name == half) return "_" + std::string(half);
  std::string indices;
  const auto add = [&](std::size_t index) {
    if (index == std::string_view::npos) return false;
    indices += (indices.empty() ? "" : ", ") + std::to_string(index);
    return true;
  };
  const auto from = [&](std::string_view letters) {
    indices.clear();
    return name.size() >= 2 && name.size() <= 4 &&
           std::all_of(name.begin(), name.end(), [&](char c) { return add(letters.find(c)); });
  };
  const auto numbered = [&] {
    indices.clear();
    return name.size() >= 3 && name.size() <= 17 && (name[0] == 's' || name[0] == 'S') &&
           std::all_of(name.begin() + 1, name.end(), [&](char c) {
             return add(std::string_view("0123456789abcdef").find(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
           });
  };
  if (!from("xyzw") && !from("rgba") && !numbered()) return std::nullopt;
  return "<" + indices + ">";
}

/// Whether an assignment begins at this token; `+=` is two tokens, `<<=` three.
bool assignment_begins(const std::vector<Token>& t, std::size_t i) {
  if (i + 3 >= t.size()) return false;
  if ((t[i].is("<") || t[i].is(">")) && t[i + 1].is(t[i].text))
    i += 2;
  else if (std::string_view("+-*/%&|^").find(t[i].text) != std::string_view::npos)
    ++i;
  return t[i].is("=") && !t[i + 1].is("=");
}

bool behind_an_object(const std::vector<Token>& t, std::size_t i) {
  return i > 0 && (t[i - 1].is(".") || t[i - 1].is("->"));
}

}  // namespace

void rewrite_swizzles(Source& s) {
  const auto& t = s.text.tokens;
  // Where something else has the name, it may be a member of a structure.
  std::set<std::string_view> taken;
  for (std::size_t i = 0; i < t.size(); ++i)
    if (t[i].kind == Token::name && !behind_an_object(t, i) && selection(t[i].text)) taken.insert(t[i].text);
  for (std::size_t i = 1; i + 1 < t.size(); ++i) {
    if (t[i].kind != Token::name || !behind_an_object(t, i) || t[i + 1].is("(") ||
        taken.count(t[i].text) != 0)
      continue;
    if (const auto selected = selection(t[i].text))
      s.edits.replace(t[i].offset, t[i].text.size(),
                      std::string((*selected)[0] == '<' ? "template " : "") +
                          (assignment_begins(t, i + 1) ? "place" : "part") + *selected + "()");
  }
}

}  // namespace isomer::emulator::source
