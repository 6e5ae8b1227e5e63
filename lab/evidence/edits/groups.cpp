#include "lab/evidence/edits/operands.hpp"
#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace isomer::lab {
namespace {

constexpr std::size_t kMostWholes = 12;  ///< sizes that may be divided into groups

/// To which group an index belongs, `c / (channels / groups)` or `c % groups`; and an index that is one off
/// before its remainder is taken.
class Groups {
 public:
  explicit Groups(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (!places_.open_rewrites(i) || !is_whole(i - 1) || !is_first_operand(i - 1)) continue;
      if (tokens_.is(i, "%") && is_whole(i + 1)) add_blocks(i);
      if (tokens_.is(i, "%") && tokens_.is_name(i + 1) && !tokens_.is(i + 2, "(") &&
          !tokens_.is(i + 2, ".") && !tokens_.is(i + 2, "::"))
        add_one_off(i);
      if (tokens_.is(i, "/") && tokens_.is(i + 1, "(") && tokens_[i + 1].partner == i + 5 &&
          is_whole(i + 2) && tokens_.is(i + 3, "/") && is_whole(i + 4))
        put(i - 1, i + 5, fmt::format("{} % {}", tokens_.text(i - 1), tokens_.text(i + 4)),
            Code::head_mapping);
    }
  }

 private:
  bool is_whole(std::size_t at) const {
    const CppVariable* named = places_.functions().named(at);
    return named != nullptr && is_whole_type(named->type) && !places_.functions().is_declared_here(at) &&
           (at == 0 || (!tokens_.is(at - 1, ".") && !tokens_.is(at - 1, "->")));
  }

  /// Whether what stands before it is no part of the same product: of `a / b % c`, `b % c` is no value.
  bool is_first_operand(std::size_t at) const {
    for (const char* each : {"*", "/", "%", "!", "~"})
      if (at > 0 && tokens_.is(at - 1, each)) return false;
    return at < 2 || !tokens_.is(at - 1, "-") || ends_value(places_, at - 2);
  }

  void put(std::size_t first, std::size_t last, const std::string& text, Code code) {
    const int edit = places_.add({{first, last, text}}, code, 1);
    places_.surround(
        first, last,
        fmt::format("(isomer_edits::chosen({}) ? decltype({})({}) : ", edit, tokens_.text(first, last), text),
        ")");
  }

  void add_blocks(std::size_t at) {
    std::size_t count = 0;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(at);
    for (auto it = scope.rbegin(); it != scope.rend() && count < kMostWholes; ++it) {
      const std::string& whole = (*it)->name;
      if (!is_whole_type((*it)->type) || (*it)->declared + 1 >= at || whole == tokens_.text(at - 1) ||
          whole == tokens_.text(at + 1))
        continue;
      // Of a size that is less than the groups the quotient is none.
      const int edit =
          places_.add({{at - 1, at + 1,
                        fmt::format("{} / ({} / {})", tokens_.text(at - 1), whole, tokens_.text(at + 1))}},
                      Code::head_mapping, 2);
      places_.surround(
          at - 1, at + 1,
          fmt::format(
              "(isomer_edits::chosen({0}) && {2} / {3} != 0 ? decltype({1} % {3})({1} / ({2} / {3})) : ",
              edit, tokens_.text(at - 1), whole, tokens_.text(at + 1)),
          ")");
      ++count;
    }
  }

  void add_one_off(std::size_t at) {
    for (const char* step : {"- 1", "+ 1"})
      put(at - 1, at + 1, fmt::format("({} {}) % {}", tokens_.text(at - 1), step, tokens_.text(at + 1)),
          Code::off_by_one);
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
};

}  // namespace

void add_groups(EditPlaces& places) { Groups(places).add(); }

}  // namespace isomer::lab
