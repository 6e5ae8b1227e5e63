#include "lab/evidence/edits/operands.hpp"
#include "lab/evidence/edits/places.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

namespace isomer::lab {
namespace {

/// Values that may have to be one more or one less: `lens[b] - 1` where the source has `lens[b]`, `1 + w[c]`
/// where it has `w[c]`, `2 * i` where it has `i`.
class OneMore {
 public:
  explicit OneMore(EditPlaces& places) : places_(places), tokens_(places.tokens()) {
    for (const std::string& each : places.label().numbers)
      of_label_ = of_label_ || each == "1" || each == "1.0";
  }

  void add() {
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
      add_operand(i);
      add_index(i);
      if (places_.functions().starts_statement(i)) add_assigned(i);
    }
  }

 private:
  /// Which way a value is put together with 1 or 2, whether it is a whole number, and what shall be said of
  /// it.
  void put(std::size_t first, std::size_t last, bool real, int rank) {
    if (!places_.open_statement(first) || !places_.open_statement(last)) return;
    const std::string own(tokens_.text(first, last));
    const std::string inner = first == last || tokens_.is(last, "]") ? own : "(" + own + ")";
    const bool alone = stands_alone(first, last);
    const auto round = [&](const std::string& text) { return alone ? text : "(" + text + ")"; };
    const int number = places_.next();
    const Code code = real ? Code::missing_term : Code::off_by_one;
    places_.add({{first, last, round(own + (real ? " + 1.0f" : " + 1"))}}, code, rank);
    places_.add({{first, last, round(own + (real ? " - 1.0f" : " - 1"))}}, code, rank);
    if (real) places_.add({{first, last, round("1.0f - " + own)}}, code, rank);
    places_.surround(first, last, fmt::format("isomer_edits::one_more({}, ", number), ")");
    if (real || !alone) return;
    const int twice = places_.next();
    places_.add({{first, last, "2 * " + inner}}, Code::wrong_expression, 4);
    places_.add({{first, last, inner + " / 2"}}, Code::wrong_expression, 4);
    places_.surround(first, last, fmt::format("isomer_edits::twice({}, ", twice), ")");
  }

  /// Whether nothing binds it to what stands beside it.
  bool stands_alone(std::size_t first, std::size_t last) const {
    constexpr std::array<std::string_view, 5> kBefore = {"(", "[", "=", ",", "return"};
    constexpr std::array<std::string_view, 4> kBehind = {")", "]", ";", ","};
    bool before = false, behind = false;
    for (const std::string_view each : kBefore) before = before || tokens_.is(first - 1, each);
    for (const std::string_view each : kBehind) behind = behind || tokens_.is(last + 1, each);
    return before && behind;
  }

  bool is_product(std::size_t i) const {
    return tokens_.is(i, "*") || tokens_.is(i, "/") || tokens_.is(i, "%");
  }

  /// The last token of a name with its members and its index; the token before it where none begins there.
  std::size_t end_of_name(std::size_t at) const {
    if (!tokens_.is_name(at)) return at - 1;
    std::size_t end = at;
    while ((tokens_.is(end + 1, ".") || tokens_.is(end + 1, "->")) && tokens_.is_name(end + 2)) end += 2;
    if (tokens_.is(end + 1, "[") && tokens_[end + 1].partner > end + 1) end = tokens_[end + 1].partner;
    return end;
  }

  /// Whether it is a whole number, a real one, or neither, by the variable that it begins with.
  enum class Is { whole, real, neither };
  Is what_is(std::size_t first, std::size_t last) const {
    const CppVariable* named = places_.functions().named(first);
    if (named == nullptr) return Is::neither;
    const bool element = tokens_.is(last, "]"), member = last > first && tokens_.is(first + 1, ".");
    if (member) return Is::neither;
    if (!element)
      return is_whole_type(named->type) ? Is::whole : is_real_type(named->type) ? Is::real : Is::neither;
    static const Pattern whole("\\b(?:int|int32_t|int64_t|long|unsigned|size_t)\\b"),
        real("\\b(?:float|double)\\b");
    return whole.found_in(named->type) ? Is::whole : real.found_in(named->type) ? Is::real : Is::neither;
  }

  /// A factor, a divisor or what is divided, and an argument of a function.
  void add_operand(std::size_t at) {
    if (tokens_.is(at - 1, ".") || tokens_.is(at - 1, "->") || tokens_.is(at - 1, "::")) return;
    const std::size_t last = end_of_name(at);
    if (last < at || last + 1 >= tokens_.size() || tokens_.is(last + 1, "(") || tokens_.is(last + 1, "::") ||
        tokens_.is(last + 1, "<<<") || places_.functions().is_declared_here(at))
      return;
    const bool factor = (at > 1 && is_product(at - 1) && ends_value(places_, at - 2)) || is_product(last + 1);
    const bool argument = is_argument(at, last);
    const Is is = what_is(at, last);
    const bool member = last > at && is == Is::neither && tokens_.is(at + 1, ".");
    if (is == Is::neither && !(member && factor)) return;
    if (is == Is::real && !factor) return;
    if (factor || argument) put(at, last, is == Is::real, is == Is::real && of_label_ ? 3 : 4);
  }

  /// Whether it is one of the arguments of a call, alone: not a cast, nor what a condition or a loop has.
  bool is_argument(std::size_t first, std::size_t last) const {
    if (!tokens_.is(first - 1, "(") && !tokens_.is(first - 1, ",")) return false;
    if (!tokens_.is(last + 1, ")") && !tokens_.is(last + 1, ",")) return false;
    std::size_t open = first - 1;
    while (open > 0 && !tokens_.is(open, "(") && !tokens_.is(open, ";") && !tokens_.is(open, "{"))
      open = tokens_.is(open, ")") && tokens_[open].partner > 0 ? tokens_[open].partner - 1 : open - 1;
    constexpr std::array<std::string_view, 10> kValues = {"min",   "max",   "logf", "log", "expf",
                                                          "fminf", "fmaxf", "powf", "pow", "std"};
    if (open == 0 || !tokens_.is(open, "(")) return false;
    for (const std::string_view each : kValues)
      if (tokens_.is(open - 1, each)) return true;
    return false;
  }

  /// An index that adds no number already.
  void add_index(std::size_t open) {
    const std::size_t close = tokens_[open].partner;
    if (!tokens_.is(open, "[") || close <= open + 1 || !places_.functions().in_body(open) ||
        adds_number(close))
      return;
    if (tokens_[open + 1].kind == CppToken::Kind::number && close == open + 2) return;
    for (std::size_t i = open + 1; i < close; ++i)
      if (tokens_.is(i, ",") || tokens_.is(i, ";") || tokens_.is(i, "&") || tokens_.is(i, "=") ||
          tokens_.is(i, "?") || tokens_.is(i, "{"))
        return;
    if (!tokens_.is_name(open - 1) && !tokens_.is(open - 1, "]") && !tokens_.is(open - 1, ")")) return;
    put(open + 1, close - 1, false, 2);
  }

  /// Whether a number is added to what ends before the token.
  bool adds_number(std::size_t end) const {
    return tokens_[end - 1].kind == CppToken::Kind::number &&
           (tokens_.is(end - 2, "+") || tokens_.is(end - 2, "-"));
  }

  /// A whole number that a variable becomes.
  void add_assigned(std::size_t first) {
    std::size_t end = first;
    while (end < tokens_.size() && !tokens_.is(end, ";") && !tokens_.is(end, "{") && !tokens_.is(end, "}"))
      end = tokens_.behind(end);
    if (!tokens_.is(end, ";")) return;
    const bool declares = places_.functions().begins_declaration(first);
    bool whole = false;
    for (std::size_t i = first; declares && i < end && !tokens_.is(i, "="); ++i) {
      whole = whole || is_whole_type(std::string(tokens_.text(i)) + " ");
      if (tokens_.is(i, "*")) return;
    }
    for (std::size_t at = first; at + 1 < end; at = tokens_.behind(at)) {
      if (!tokens_.is(at, "=")) continue;
      const CppVariable* left = declares ? nullptr : places_.functions().named(at - 1);
      std::size_t last = at + 1;
      while (last < end && !tokens_.is(last, ",")) last = tokens_.behind(last);
      if (!(declares ? whole : left != nullptr && is_whole_type(left->type)) || last <= at + 1) continue;
      if (last == at + 2 && tokens_[at + 1].kind == CppToken::Kind::number) continue;
      bool plain = !adds_number(last);
      for (std::size_t i = at + 1; i < last; i = tokens_.behind(i))
        plain = plain && !tokens_.is(i, "?") && !tokens_.is(i, "<") && !tokens_.is(i, ">") &&
                !tokens_.is(i, "=") && !tokens_.is(i, "&") && !tokens_.is(i, "&&") && !tokens_.is(i, "||") &&
                !tokens_.is(i, "{");
      if (plain) put(at + 1, last - 1, false, 2);
    }
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
  bool of_label_ = false;  ///< whether the label has a 1
};

}  // namespace

void add_one_more(EditPlaces& places) { OneMore(places).add(); }

}  // namespace isomer::lab
