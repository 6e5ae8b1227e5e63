#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

constexpr std::array<std::string_view, 4> kAxes = {"x", "y", "z", "w"};
constexpr std::array<std::string_view, 4> kOfLaunch = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
constexpr std::size_t kMostListed = 24;  ///< elements of a list in braces

bool is_axis(std::string_view word) { return std::find(kAxes.begin(), kAxes.end(), word) != kAxes.end(); }

class Members {
 public:
  explicit Members(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    find_axes();
    for (std::size_t i = 2; i < tokens_.size(); ++i) {
      if (is_member(i)) add_axes(i);
      add_locals(i);
      if (tokens_.is(i, "{") && places_.functions().in_body(i + 1) && is_list(i)) add_list(i);
      if (tokens_.is(i, ">>>") && tokens_.is(i + 1, "(")) add_launch(i + 1);
    }
  }

 private:
  /// One of x, y, z and w of a variable that is none of the launch's.
  bool is_member(std::size_t i) const {
    return is_axis(tokens_.text(i)) && tokens_.is(i - 1, ".") && !tokens_.is(i + 1, "(") &&
           tokens_.is_name(i - 2) && (i < 3 || (!tokens_.is(i - 3, ".") && !tokens_.is(i - 3, "->"))) &&
           std::find(kOfLaunch.begin(), kOfLaunch.end(), tokens_.text(i - 2)) == kOfLaunch.end();
  }

  /// The type of a variable, or its name where it is a reference, of which the type is not known.
  std::string kind_of(std::size_t base) const {
    const CppVariable* named = places_.functions().named(base);
    return named == nullptr ? std::string(tokens_.text(base)) : named->type;
  }

  /// Which of them the source's variables have: all that are named, and of a vector of four all four.
  void find_axes() {
    for (std::size_t i = 2; i < tokens_.size(); ++i)
      if (is_member(i)) axes_[kind_of(i - 2)].insert(tokens_.text(i));
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
      if (!tokens_.is_name(i) || !tokens_.text(i).ends_with('4')) continue;
      const std::size_t name = tokens_.is(i + 1, "&") ? i + 2 : i + 1;
      // Where it is declared it is none yet.
      for (const std::string& kind : {std::string(tokens_.text(name)), std::string(tokens_.text(i)) + " "})
        if (const auto found = axes_.find(kind); tokens_.is_name(name) && found != axes_.end())
          found->second.insert(kAxes.begin(), kAxes.end());
    }
  }

  void add_axes(std::size_t i) {
    if (!places_.open_object(i) || !places_.open_object(i - 2)) return;
    const std::string base(tokens_.text(i - 2));
    for (const std::string_view each : axes_[kind_of(i - 2)]) {
      if (tokens_.is(i, each)) continue;
      const int edit = places_.add({{i, i, std::string(each)}}, Code::wrong_expression, 1);
      places_.surround(i - 2, i, fmt::format("isomer_edits::either({}, {}.{}, ", edit, base, each), ")");
    }
  }

  /// `state.top` where a number that was made of it is meant.
  void add_locals(std::size_t i) {
    constexpr std::size_t kMost = 3;
    if (!tokens_.is(i - 1, ".") || !tokens_.is_name(i) || !tokens_.is_name(i - 2) ||
        !places_.open_rewrites(i - 2) ||
        std::find(kOfLaunch.begin(), kOfLaunch.end(), tokens_.text(i - 2)) != kOfLaunch.end())
      return;
    for (const char* other : {"(", "[", ".", "->", "=", "+=", "-=", "*=", "/=", "++", "--", "<"})
      if (tokens_.is(i + 1, other)) return;
    if (i > 2 && (tokens_.is(i - 3, "&") || tokens_.is(i - 3, ".") || tokens_.is(i - 3, "->") ||
                  tokens_.is(i - 3, "++") || tokens_.is(i - 3, "--")))
      return;
    std::string before, behind;
    std::size_t count = 0;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(i);
    for (auto it = scope.rbegin(); it != scope.rend() && count < kMost; ++it) {
      const CppVariable& each = **it;
      if (!is_real_type(each.type) || places_.functions().is_parameter(each) || each.declared + 1 >= i)
        continue;
      const int edit = places_.add({{i - 2, i, each.name}}, Code::wrong_expression, 2);
      before = fmt::format("isomer_edits::swapped({}, ", edit) + before;
      behind += fmt::format(", {})", each.name);
      ++count;
    }
    if (count > 0) places_.surround(i - 2, i, before, behind);
  }

  bool is_list(std::size_t open) const {
    return tokens_.is_name(open - 1) || tokens_.is(open - 1, "=") || tokens_.is(open - 1, "(") ||
           tokens_.is(open - 1, ",");
  }

  /// What an object is made of: two variables of one type that have changed places.
  void add_list(std::size_t open) {
    const std::size_t close = tokens_[open].partner;
    std::vector<std::size_t> elements;  // 0: no variable alone
    for (std::size_t i = open + 1, first = i; i <= close && close > open; i = tokens_.behind(i)) {
      if (tokens_.is(i, ";")) return;
      if (i != close && !tokens_.is(i, ",")) continue;
      if (i > first) elements.push_back(i == first + 1 && places_.open(first) ? first : 0);
      first = i + 1;
      if (i == close) break;
    }
    if (elements.size() < 2 || elements.size() > kMostListed) return;
    for (std::size_t a = 0; a < elements.size(); ++a)
      for (std::size_t b = a + 1; b < std::min(elements.size(), a + 3); ++b)
        exchange(elements[a], elements[b]);
  }

  void exchange(std::size_t a, std::size_t b) {
    if (a == 0 || b == 0) return;
    const CppVariable *one = places_.functions().named(a), *other = places_.functions().named(b);
    if (one == nullptr || other == nullptr || one->type != other->type || one->name == other->name) return;
    const int edit = places_.add({{a, a, other->name}, {b, b, one->name}}, Code::argument_order, 0);
    places_.surround(a, a, fmt::format("isomer_edits::either({}, {}, ", edit, other->name), ")");
    places_.surround(b, b, fmt::format("isomer_edits::either({}, {}, ", edit, one->name), ")");
  }

  /// Two arguments of a kernel that stand beside each other, of which one is a number: `1.f, beta`.
  void add_launch(std::size_t open) {
    const std::size_t close = tokens_[open].partner;
    std::vector<std::pair<std::size_t, std::size_t>> arguments;
    for (std::size_t i = open + 1, first = i; i <= close && close > open; i = tokens_.behind(i)) {
      if (i != close && !tokens_.is(i, ",")) continue;
      if (i > first) arguments.emplace_back(first, i - 1);
      first = i + 1;
      if (i == close) break;
    }
    for (std::size_t a = 0; a + 1 < arguments.size(); ++a) {
      const auto &one = arguments[a], &other = arguments[a + 1];
      const bool number = is_number_at(one) || is_number_at(other);
      if (!number || one.second > one.first + 2 || other.second > other.first + 2 ||
          !places_.open(one.first) || !places_.open(other.first))
        continue;
      const std::string first(tokens_.text(one.first, one.second)),
          second(tokens_.text(other.first, other.second));
      const int edit = places_.add({{one.first, one.second, second}, {other.first, other.second, first}},
                                   Code::argument_order, 1);
      places_.surround(one.first, one.second, fmt::format("isomer_edits::swapped({}, ", edit),
                       ", " + second + ")");
      places_.surround(other.first, other.second, fmt::format("isomer_edits::swapped({}, ", edit),
                       ", " + first + ")");
    }
  }

  bool is_number_at(const std::pair<std::size_t, std::size_t>& argument) const {
    return argument.first == argument.second && tokens_[argument.first].kind == CppToken::Kind::number &&
           !tokens_.is(argument.first, "0");
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
  std::map<std::string, std::set<std::string_view>> axes_;
};

}  // namespace

void add_members(EditPlaces& places) { Members(places).add(); }

}  // namespace isomer::lab
