#include "lab/evidence/edits/reals.hpp"

#include "lab/evidence/edits/operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace isomer::lab {
namespace {

constexpr std::size_t kMostFunctions = 3;

class Reals {
 public:
  Reals(const EditPlaces& places, ChangedValues& changed)
      : places_(places), tokens_(places.tokens()), changed_(changed) {
    halves_ = among(places.label().numbers, "0.5");
    functions_ = places.label().functions;
    if (functions_.size() > kMostFunctions) functions_.resize(kMostFunctions);
    bounds_ = places.label().bounds;
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      pairs_ =
          pairs_ || tokens_.is(i, "half2") || tokens_.is(i, "__half2") || tokens_.is(i, "__nv_bfloat162");
    add_unused_constants();
  }

  void add(const SourceValue& value) {
    const bool returned =
        value.kind == SourceValue::Kind::other && value.target.empty() && returns_real(value.first);
    const bool real = value.kind == SourceValue::Kind::real || returned;
    for (std::size_t i = value.first; i <= value.last; ++i) {
      add_rounding(value, i);
      add_sign_of_byte(value, i);
      if (tokens_.is(i, "[") && tokens_[i].partner > i) {
        i = tokens_[i].partner;
        continue;
      }
      if (real || value.target == "argument") add_operand(value, i);
      add_argument(value, i);
    }
    if (returned || (real && is_number(value))) add_whole(value);
    if (returned) add_returned(value);
  }

 private:
  static constexpr int kTightest = 6;  ///< binds tighter than a product

  template <class List>
  static bool among(const List& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  }
  std::string text(std::size_t first, std::size_t last) const {
    return std::string(tokens_.text(first, last));
  }
  bool is_product(std::size_t i) const { return tokens_.is(i, "*") || tokens_.is(i, "/"); }

  /// Whether it is no pair of numbers, which a template may stand for.
  bool is_number(const SourceValue& value) const {
    if (!pairs_) return true;
    for (std::size_t i = value.statement; i < value.first; ++i)
      if (tokens_.is(i, "float") || tokens_.is(i, "double")) return true;
    return false;
  }

  /// Real constants of the file that nothing names: bounds that were meant.
  void add_unused_constants() {
    for (std::size_t i = 0; i + 4 < tokens_.size(); ++i) {
      if (!tokens_.is(i, "float") || !tokens_.is_name(i + 1) || !tokens_.is(i + 2, "=") ||
          places_.functions().in_body(i))
        continue;
      std::size_t named = 0;
      for (std::size_t k = 0; k < tokens_.size(); ++k) named += tokens_.text(k) == tokens_.text(i + 1);
      if (named == 1) bounds_.push_back(text(i + 1, i + 1));
    }
  }

  bool returns_real(std::size_t at) const {
    std::size_t i = places_.functions().body_of(at);
    while (i > 0 && !tokens_.is(i, ")")) --i;
    if (i == 0 || tokens_[i].partner < 2) return false;
    const std::size_t name = tokens_[i].partner - 1;
    return tokens_.is_name(name) && (tokens_.is(name - 1, "float") || tokens_.is(name - 1, "double"));
  }

  /// The last token of a real number that begins there: a variable, an element or a member; the token before
  /// it where none does.
  std::size_t end_of_real(std::size_t at) const {
    if (!tokens_.is_name(at) || (at > 0 && (tokens_.is(at - 1, ".") || tokens_.is(at - 1, "->"))))
      return at - 1;
    const CppVariable* named = places_.functions().named(at);
    if (named == nullptr) return at - 1;
    if (tokens_.is(at + 1, "[") && tokens_[at + 1].partner > at + 1)
      return is_real_type(element_of(named->type)) && !tokens_.is(tokens_[at + 1].partner + 1, "[")
                 ? tokens_[at + 1].partner
                 : at - 1;
    if (tokens_.is(at + 1, ".") && tokens_.is_name(at + 2)) {
      for (const CppMember& each : places_.structs().of(at))
        if (each.text == text(at, at + 2) && is_real_type(each.type)) return at + 2;
      return at - 1;
    }
    return is_real_type(named->type) ? at : at - 1;
  }

  /// Another sign of what begins a product, or a function of the label's of one of its factors.
  void add_operand(const SourceValue& value, std::size_t at) {
    const std::size_t last = end_of_real(at);
    if (last < at || last > value.last) return;
    constexpr std::array<std::string_view, 6> kBefore = {"(", ",", "=", "return", "?", ":"};
    const bool begins = at == value.first || among(kBefore, tokens_.text(at - 1));
    if (begins && at > 0 && !(last == value.last && at == value.first && value.target == "argument"))
      changed_.add(value, {{at, at, "-" + text(at, at)}}, Code::wrong_expression, 3);
    if (at == 0 || (!is_product(at - 1) && !is_product(last + 1)) || at == value.first) return;
    for (const std::string& each : functions_)
      if (at < 2 || !tokens_.is(at - 2, each))
        changed_.add(value, {{at, last, fmt::format("{}({})", each, text(at, last))}},
                     each == "fabsf" ? Code::missing_absolute : Code::wrong_expression, 3);
  }

  /// What a function is given, within a bound.
  void add_argument(const SourceValue& value, std::size_t at) {
    constexpr std::array<std::string_view, 8> kReal = {"expf", "exp",   "__expf", "logf",
                                                       "log",  "sqrtf", "powf",   "rsqrtf"};
    const std::size_t close = tokens_[at].partner;
    if (!tokens_.is(at, "(") || close <= at + 1 || close > value.last || at == 0 ||
        !among(kReal, tokens_.text(at - 1)))
      return;
    for (std::size_t i = at + 1; i < close; i = tokens_.behind(i))
      if (tokens_.is(i, ",")) return;
    for (const std::string& bound : bounds_)
      for (const char* function : {"fminf", "fmaxf"})
        changed_.add(
            value, {{at + 1, close - 1, fmt::format("{}({}, {})", function, text(at + 1, close - 1), bound)}},
            Code::clamp, 3);
  }

  /// `(int)x` rounded up, down or to the nearest.
  void add_rounding(const SourceValue& value, std::size_t at) {
    std::size_t first = 0, last = 0;
    if (tokens_.is(at, "(") && tokens_.is(at + 1, "int") && tokens_.is(at + 2, ")") && at + 3 <= value.last) {
      first = at + 3;
      last = end_of_operand(tokens_, first, kTightest);
    } else if (tokens_.is(at, "static_cast") && tokens_.is(at + 2, "int") && tokens_.is(at + 4, "(")) {
      first = at + 5;
      last = tokens_[at + 4].partner - 1;
    }
    if (first == 0 || last < first || last > value.last || !is_real(first, last)) return;
    for (const char* function : {"ceilf", "floorf", "rintf", "roundf"})
      if (!tokens_.is(first, function))
        changed_.add(value, {{first, last, fmt::format("{}({})", function, text(first, last))}},
                     Code::rounding_mode, 2);
  }

  /// `(float)(w >> 24)` of a byte that has a sign.
  void add_sign_of_byte(const SourceValue& value, std::size_t at) {
    if (!tokens_.is(at, "(") || !tokens_.is(at + 1, "float") || !tokens_.is(at + 2, ")") ||
        !tokens_.is(at + 3, "(") || tokens_[at + 3].partner > value.last || tokens_[at + 3].partner == 0)
      return;
    bool bits = false;
    for (std::size_t i = at + 4; i < tokens_[at + 3].partner; ++i)
      bits = bits || tokens_.is(i, ">>") || tokens_.is(i, "&");
    if (!bits || is_number_word(tokens_.text(at + 4)) || tokens_.text(at + 4).ends_with("int8_t")) return;
    changed_.add(value, {{at + 3, at + 3, "(signed char)("}}, Code::wrong_expression, 2);
    changed_.add(value, {{at + 3, at + 3, "(unsigned char)("}}, Code::wrong_expression, 3);
  }

  /// Whether anything in it is a real number, and nothing a function that rounds.
  bool is_real(std::size_t first, std::size_t last) const {
    bool real = false;
    for (std::size_t i = first; i <= last; ++i) {
      const std::string_view word = tokens_.text(i);
      for (const char* each : {"floor", "ceil", "rint", "round", "trunc"})
        if (word.find(each) != std::string_view::npos) return false;
      real = real || end_of_real(i) >= i || word == "float" || word == "double" ||
             (tokens_[i].kind == CppToken::Kind::number && is_real_number(std::string(word)));
    }
    return real;
  }

  /// Half a pixel more or less, before and behind a scale, and the reciprocal.
  void add_whole(const SourceValue& value) {
    std::size_t product = 0;
    bool sum = false, divided = false;
    for (std::size_t i = value.first; i <= value.last; i = tokens_.behind(i)) {
      divided = divided || tokens_.is(i, "/");
      if (i == value.first || !ends_value(places_, i - 1)) continue;
      sum = sum || tokens_.is(i, "+") || tokens_.is(i, "-") || tokens_.is(i, "?");
      if (is_product(i) && product == 0) product = i;
    }
    const std::string own = text(value.first, value.last);
    const auto put = [&](std::string made, Code code, int rank) {
      changed_.add(value, {{value.first, value.last, std::move(made)}}, code, rank);
    };
    if (!divided && !sum && product == 0 && !tokens_.is(value.first, "static_cast"))
      put(fmt::format("1.0f / ({})", own), Code::wrong_expression, 4);
    if (!halves_) return;
    if (!sum) {
      put(own + " - 0.5f", Code::missing_term, 3);
      put(own + " + 0.5f", Code::missing_term, 3);
    }
    if (sum || product == 0) return;
    const std::string left = text(value.first, product - 1), behind = text(product, value.last);
    put(fmt::format("({} + 0.5f) {} - 0.5f", left, behind), Code::wrong_expression, 3);
    put(fmt::format("({} + 0.5f) {}", left, behind), Code::missing_term, 3);
  }

  /// What a function of the source returns.
  void add_returned(const SourceValue& value) {
    const std::string own = text(value.first, value.last);
    const auto put = [&](std::string made, Code code) {
      changed_.add(value, {{value.first, value.last, std::move(made)}}, code, 3);
    };
    put(fmt::format("fabsf({})", own), Code::missing_absolute);
    for (const std::string& each : functions_)
      if (each != "fabsf") put(fmt::format("{}({})", each, own), Code::wrong_expression);
    for (const std::string& bound : bounds_)
      for (const char* function : {"fminf", "fmaxf"})
        put(fmt::format("{}({}, {})", function, own, bound), Code::clamp);
  }

  const EditPlaces& places_;
  const CppTokens& tokens_;
  ChangedValues& changed_;
  bool halves_ = false;  ///< the label names 0.5
  bool pairs_ = false;   ///< the source has numbers of which two are one
  std::vector<std::string> functions_, bounds_;
};

}  // namespace

void add_reals(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed) {
  Reals reals(places, changed);
  for (const SourceValue& value : values) reals.add(value);
}

}  // namespace isomer::lab
