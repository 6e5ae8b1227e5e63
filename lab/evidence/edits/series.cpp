// Statements that a row of alike ones lacks, that an `else` keeps from being reached, or that clamp what goes
// round.
#include "lab/evidence/edits/places.hpp"
#include "lab/evidence/edits/well_formed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {
namespace {

class Series {
 public:
  explicit Series(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    for (std::size_t i = 1; i + 4 < tokens_.size(); ++i) {
      if (tokens_.is(i, "else")) add_reached(i);
      if (tokens_.is(i, "*") && tokens_.is_name(i + 1)) add_summed(i);
      if (!places_.functions().starts_statement(i) || !places_.open_statement(i)) continue;
      i = add_member(i);
    }
  }

 private:
  std::string text(std::size_t first, std::size_t last) const {
    return std::string(tokens_.text(first, last));
  }
  std::size_t end_of_statement(std::size_t i) const {
    while (i < tokens_.size() && !tokens_.is(i, ";") && !tokens_.is(i, "{") && !tokens_.is(i, "}"))
      i = tokens_.behind(i);
    return i < tokens_.size() && tokens_.is(i, ";") ? i : 0;
  }

  /// `v.x *= g;`
  struct OfMember {
    std::string object, member, behind;  ///< what follows the member, with @ where that is named again
    std::size_t end = 0;                 ///< the semicolon; 0: it is no such statement
  };
  OfMember member_at(std::size_t i) const {
    OfMember found;
    if (!tokens_.is_name(i) || !tokens_.is(i + 1, ".") || !tokens_.is_name(i + 2)) return found;
    const std::string_view word = tokens_.text(i + 3);
    if (word != "=" && word != "+=" && word != "*=" && word != "-=" && word != "/=") return found;
    const std::size_t end = end_of_statement(i);
    if (end == 0) return found;
    found = {text(i, i), text(i + 2, i + 2), {}, end};
    for (std::size_t k = i + 3; k < end; ++k) {
      const bool again = tokens_.is(k, found.member) && tokens_.is(k - 1, ".");
      found.behind += (again ? std::string("@") : text(k, k)) +
                      (k + 1 < end && tokens_[k + 1].begin > tokens_[k].end ? " " : "");
    }
    return found;
  }

  /// The members of an object of that name, of the same type as that one.
  std::vector<std::string> members_beside(std::size_t at, const std::string& member) const {
    const CppVariable* named = places_.functions().named(at);
    std::vector<std::string> list;
    if (named == nullptr) return list;
    for (const int count : {2, 3, 4})
      if (named->type.find(std::to_string(count)) != std::string::npos && member.size() == 1 &&
          std::string_view("xyzw").find(member) != std::string_view::npos)
        for (int k = 0; k < count; ++k) list.emplace_back(1, "xyzw"[k]);
    if (!list.empty()) return list;
    std::string type;
    const std::vector<CppMember> members = places_.structs().of(at);
    const std::string base = text(at, at) + ".";
    for (const CppMember& each : members)
      if (each.text == base + member) type = each.type;
    for (const CppMember& each : members)
      if (!type.empty() && each.type == type && each.text.starts_with(base))
        list.push_back(each.text.substr(base.size()));
    return list;
  }

  /// A row of statements of all members but one. Gives where it ends.
  std::size_t add_member(std::size_t first) {
    constexpr std::size_t kFewest = 2, kMost = 3;
    const OfMember begins = member_at(first);
    if (begins.end == 0) return first;
    std::set<std::string> told = {begins.member};
    std::size_t end = begins.end;
    for (OfMember next = member_at(end + 1);
         next.end != 0 && next.object == begins.object && next.behind == begins.behind;
         next = member_at(end + 1)) {
      told.insert(next.member);
      end = next.end;
    }
    if (told.size() < kFewest || !places_.open_statement(end - 1)) return first;
    std::size_t count = 0;
    std::string list;
    for (const std::string& each : members_beside(first, begins.member)) {
      if (told.count(each) > 0 || count++ == kMost) continue;
      std::string behind = begins.behind;
      for (std::size_t at = behind.find('@'); at != std::string::npos; at = behind.find('@'))
        behind.replace(at, 1, each);
      const std::string statement = fmt::format("{}.{} {};", begins.object, each, behind);
      if (!is_well_formed(places_, first, end, statement)) continue;
      const int edit = places_.add({{end, end, "; " + statement}}, Code::wrong_expression, 2);
      list += fmt::format(" if (isomer_edits::chosen({})) {{ {} }}", edit, statement);
    }
    if (!list.empty() && !tokens_.is(end + 1, "else")) places_.surround(end, end, "", list);
    return end;
  }

  /// What stands behind an `else` is done in any case.
  void add_reached(std::size_t at) {
    constexpr std::size_t kLongest = 40;
    if (tokens_.is(at + 1, "if") || at < 2 || at + 2 >= tokens_.size()) return;
    const bool block = tokens_.is(at - 1, "}");
    if (!block && !tokens_.is(at - 1, ";")) return;
    const std::size_t last = tokens_.is(at + 1, "{") ? tokens_[at + 1].partner : end_of_statement(at + 1);
    if (last <= at + 1 || last - at > kLongest || tokens_[last].line != tokens_[at].line) return;
    for (std::size_t i = at + 1; i <= last; ++i)
      for (const char* each : {"return", "continue", "break", "<<<", "for", "while", "if"})
        if (tokens_.is(i, each)) return;
    if (!places_.open_statement(at + 2)) return;
    const int edit = places_.add({{at, at + 1, text(at + 1, at + 1)}}, Code::wrong_expression, 3);
    const std::string also = fmt::format("if (isomer_edits::chosen({})) {{ {} }}", edit, text(at + 1, last));
    if (block) return places_.surround(at - 1, at - 1, also + " ", "");
    std::size_t first = at - 1;
    while (first > 0 && !tokens_.is(first - 1, ";") && !tokens_.is(first - 1, "{") &&
           !tokens_.is(first - 1, "}"))
      --first;
    // Of `if (…) a; else b;` the first way.
    if (!tokens_.is(first, "if") || !tokens_.is(first + 1, "(")) return;
    const std::size_t way = tokens_[first + 1].partner + 1;
    if (way >= at - 1 || !places_.open_statement(way)) return;
    places_.surround(way, at - 1, "{ ", " " + also + " }");
  }

  /// `*sum = x;` as `*sum += x;`
  void add_summed(std::size_t at) {
    if (!(tokens_.is(at - 1, ";") || tokens_.is(at - 1, "{") || tokens_.is(at - 1, "}") ||
          tokens_.is(at - 1, ")")) ||
        !tokens_.is(at + 2, "=") || !places_.open_statement(at + 1))
      return;
    const CppVariable* named = places_.functions().named(at + 1);
    const std::size_t end = end_of_statement(at + 3);
    if (named == nullptr || end <= at + 3 || !places_.open_statement(end - 1) ||
        (named->type.find("float") == std::string::npos && named->type.find("int") == std::string::npos &&
         named->type.find("T ") == std::string::npos))
      return;
    const std::string value = text(at + 3, end - 1), target = text(at, at + 1);
    const int edit = places_.add({{at + 2, at + 2, "+="}}, Code::wrong_expression, 2);
    places_.surround(
        at + 3, end - 1,
        fmt::format("isomer_edits::chosen({}) ? static_cast<std::decay_t<decltype({})>>({} + ({})) : "
                    "static_cast<std::decay_t<decltype({})>>(",
                    edit, target, target, value, target),
        ")");
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_series(EditPlaces& places) { Series(places).add(); }

}  // namespace isomer::lab
