#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace isomer::lab {
namespace {

constexpr int kRankOfOrder = 2;

/// Two statements beside each other that may have changed places: a term that is added before the sum is
/// gated, and not behind that.
class Order {
 public:
  explicit Order(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    for (std::size_t i = 1; i + 2 < tokens_.size(); ++i) {
      if (!tokens_.is(i - 1, ";") && !tokens_.is(i - 1, "{") && !tokens_.is(i - 1, "}")) continue;
      const std::size_t end = end_of(i);
      if (end == 0 || end + 2 >= tokens_.size()) continue;
      const std::size_t other = end_of(end + 1);
      if (other == 0 || tokens_.is(end + 1, "else") || tokens_.is(other + 1, "else")) continue;
      if (shares_a_result(i, end, other)) exchange(i, end, other);
    }
  }

 private:
  /// The `;` of a statement that assigns, alone or under a condition; 0: it is of another kind.
  std::size_t end_of(std::size_t at) const {
    if (!places_.open_rewrites(at) || !places_.functions().starts_statement(at)) return 0;
    std::size_t begin = at;
    if (tokens_.is(at, "if") && tokens_.is(at + 1, "(")) begin = tokens_[at + 1].partner + 1;
    if (begin > at && is_jump(begin)) return begin + 1;
    if (begin >= tokens_.size() || !tokens_.is_name(begin) || places_.functions().begins_declaration(begin))
      return 0;
    constexpr std::array<std::string_view, 10> kWords = {"return", "break", "continue", "if",   "for",
                                                         "while",  "do",    "switch",   "case", "else"};
    if (std::find(kWords.begin(), kWords.end(), tokens_.text(begin)) != kWords.end()) return 0;
    std::size_t end = begin;
    while (end < tokens_.size() && !tokens_.is(end, ";") && !tokens_.is(end, "{") && !tokens_.is(end, "}"))
      end = tokens_.behind(end);
    return end < tokens_.size() && tokens_.is(end, ";") && assigned(begin) != 0 ? end : 0;
  }

  bool is_jump(std::size_t at) const {
    return (tokens_.is(at, "continue") || tokens_.is(at, "break") || tokens_.is(at, "return")) &&
           tokens_.is(at + 1, ";");
  }
  /// `if (…) continue;`, as which a statement goes on or ends.
  bool may_jump(std::size_t end) const { return end > 0 && is_jump(end - 1); }

  /// The `=` of an assignment to a name, a member or an element; 0: none.
  std::size_t assigned(std::size_t at) const {
    if (tokens_.is(at, "if") && tokens_.is(at + 1, "(")) at = tokens_[at + 1].partner + 1;
    ++at;
    while (tokens_.is(at, ".") || tokens_.is(at, "->") || tokens_.is(at, "["))
      at = tokens_.is(at, "[") ? tokens_[at].partner + 1 : at + 2;
    for (const char* each : {"=", "+=", "-=", "*=", "/="})
      if (tokens_.is(at, each)) return at;
    return 0;
  }

  std::string_view target(std::size_t at) const {
    if (tokens_.is(at, "if") && tokens_.is(at + 1, "(")) at = tokens_[at + 1].partner + 1;
    return tokens_.text(at);
  }

  /// Whether one of them names what the other one is assigned to.
  bool shares_a_result(std::size_t first, std::size_t middle, std::size_t last) const {
    const auto names = [&](std::size_t from, std::size_t to, std::string_view name) {
      for (std::size_t i = from; i < to; ++i)
        if (tokens_.is(i, name)) return true;
      return false;
    };
    // What stands before such a way out is done in any case.
    if (may_jump(middle) || may_jump(last)) return may_jump(middle) != may_jump(last);
    return names(middle + 1, last, target(first)) || names(first, middle, target(middle + 1));
  }

  void exchange(std::size_t first, std::size_t middle, std::size_t last) {
    const std::string one(tokens_.text(first, middle)), other(tokens_.text(middle + 1, last));
    if (one == other) return;
    const int edit =
        places_.add({{first, middle, other}, {middle + 1, last, one}}, Code::wrong_expression, kRankOfOrder);
    places_.surround(first, middle, fmt::format("if (isomer_edits::chosen({})) {{ {} }} ", edit, other), "");
    places_.surround(middle + 1, last, fmt::format("if (!isomer_edits::chosen({})) {{ ", edit), " }");
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_order(EditPlaces& places) { Order(places).add(); }

}  // namespace isomer::lab
