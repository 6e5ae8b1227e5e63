#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {
namespace {

constexpr int kRankOfCounts = 2;

/// Counts that may have to be one less or more, `(in - 1) / (out - 1)`, or so many times another: the blocks
/// of a grid.
class Counts {
 public:
  explicit Counts(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    for (std::size_t i = 1; i + 2 < tokens_.size(); ++i) {
      if (is_plain(i) && (is_divisor(i) || is_cast(i) || is_bound(i))) add_ones(i);
      if (tokens_.is(i, "dim3")) add_factors(tokens_.is(i + 1, "(") ? i + 1 : i + 2);
    }
  }

 private:
  /// A variable of whole numbers, alone.
  bool is_plain(std::size_t at) const {
    if (!tokens_.is_name(at) || !places_.open_rewrites(at)) return false;
    for (const char* other : {"(", "[", ".", "->", "::", "<", "=", "++", "--"})
      if (tokens_.is(at + 1, other)) return false;
    if (tokens_.is(at - 1, ".") || tokens_.is(at - 1, "->") || tokens_.is(at - 1, "&")) return false;
    const CppVariable* variable = places_.functions().named(at);
    return variable != nullptr && is_whole_type(variable->type) && !variable->shared;
  }

  bool is_divisor(std::size_t at) const { return tokens_.is(at - 1, "/") || tokens_.is(at - 1, "%"); }

  /// `(float)n`, `static_cast<double>(n)`: what is no number of memory's elements.
  bool is_cast(std::size_t at) const {
    const auto real = [&](std::size_t i) { return tokens_.is(i, "float") || tokens_.is(i, "double"); };
    if (at > 3 && tokens_.is(at - 1, ")") && real(at - 2) && tokens_.is(at - 3, "(")) return true;
    if (!tokens_.is(at - 1, "(") || !tokens_.is(at + 1, ")") || at < 5) return false;
    return real(at - 2) || (tokens_.is(at - 2, ">") && real(at - 3));
  }

  /// The last argument of a bound.
  bool is_bound(std::size_t at) const {
    if (!tokens_.is(at - 1, ",") || !tokens_.is(at + 1, ")")) return false;
    const std::size_t open = tokens_[at + 1].partner;
    return open > 0 && (tokens_.is(open - 1, "min") || tokens_.is(open - 1, "max"));
  }

  void add_ones(std::size_t at) {
    const std::string own(tokens_.text(at));
    std::string text = "(";
    for (const std::string_view one : {"- 1", "+ 1"}) {
      const std::string made = fmt::format("{} {}", own, one);
      const std::string shown = tokens_.is(at - 1, "(") || is_bound(at) ? made : "(" + made + ")";
      const int edit = places_.add({{at, at, shown}}, Code::off_by_one, kRankOfCounts);
      text += fmt::format("isomer_edits::chosen({}) ? {} : ", edit, made);
    }
    places_.surround(at, at, text, ")");
  }

  /// Each extent of a grid times each of the function's own numbers.
  void add_factors(std::size_t open) {
    if (open >= tokens_.size() || !tokens_.is(open, "(") || !places_.open_rewrites(open)) return;
    const std::size_t close = tokens_[open].partner;
    std::vector<std::string> sizes;
    constexpr std::size_t kMost = 6;
    for (const CppVariable* each : places_.functions().in_scope(open))
      if (is_whole_type(each->type) && places_.functions().is_parameter(*each) && sizes.size() < kMost)
        sizes.push_back(each->name);
    for (std::size_t i = open + 1, first = i; i <= close && close > open; i = tokens_.behind(i)) {
      if (i != close && !tokens_.is(i, ",")) continue;
      if (i > first) add_factors(first, i - 1, sizes);
      first = i + 1;
      if (i == close) break;
    }
  }

  void add_factors(std::size_t first, std::size_t last, const std::vector<std::string>& sizes) {
    const std::string own(tokens_.text(first, last));
    std::string text = "((", factors;
    for (const std::string& each : sizes) {
      if (own.find(each) != std::string::npos) continue;
      const std::string shown =
          last > first ? fmt::format("({}) * {}", own, each) : fmt::format("{} * {}", own, each);
      const int edit = places_.add({{first, last, shown}}, Code::wrong_expression, kRankOfCounts + 1);
      factors += fmt::format(" * (isomer_edits::chosen({}) ? {} : 1)", edit, each);
    }
    if (!factors.empty()) places_.surround(first, last, text, ")" + factors + ")");
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_counts(EditPlaces& places) { Counts(places).add(); }

}  // namespace isomer::lab
