#include "lab/evidence/edits/nested.hpp"

#include "lab/evidence/edits/operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

class NestedParts {
 public:
  NestedParts(const EditPlaces& places, ChangedValues& changed)
      : places_(places), tokens_(places.tokens()), changed_(changed) {}

  void add(const SourceValue& value) {
    for (std::size_t i = value.first; i <= value.last; ++i) {
      if (tokens_.is(i, "(") && i > value.first && tokens_[i].partner <= value.last) add_bound(value, i);
      if (tokens_[i].kind == CppToken::Kind::number) add_variable(value, i);
      if (tokens_.is_name(i)) add_square(value, i);
      if ((tokens_.is(i, "-") || tokens_.is(i, "+")) && i > value.first) {
        add_moved_factor(value, i);
        add_rescaled(value, i);
      }
      if (tokens_.is(i, "/") && i > value.first && i < value.last) add_divisor(value, i);
    }
    add_sign(value);
    add_round(value);
    add_one(value);
  }

 private:
  static constexpr int kBindsAsProduct = 5;

  std::string text(std::size_t first, std::size_t last) const {
    return first > last ? std::string() : std::string(tokens_.text(first, last));
  }
  static bool is_limit(std::string_view word) {
    constexpr std::array<std::string_view, 6> kLimits = {"fmaxf", "fminf", "fmax", "fmin", "max", "min"};
    return std::find(kLimits.begin(), kLimits.end(), word) != kLimits.end();
  }
  static bool is_function(std::string_view word) {
    constexpr std::array<std::string_view, 10> kOfOne = {"sqrtf", "rsqrtf", "sqrt", "rsqrt", "expf",
                                                         "exp",   "logf",   "log",  "fabsf", "tanhf"};
    return std::find(kOfOne.begin(), kOfOne.end(), word) != kOfOne.end();
  }
  bool is_real_variable(std::size_t i) const {
    const CppVariable* named = places_.functions().named(i);
    return named != nullptr && is_real_type(named->type);
  }

  /// `max(f(x), b)` as `f(max(x, b))`, and the other way round.
  void add_bound(const SourceValue& value, std::size_t open) {
    const std::size_t close = tokens_[open].partner, name = open - 1;
    if (is_limit(tokens_.text(name)) && is_function(tokens_.text(open + 1)) && tokens_.is(open + 2, "(") &&
        tokens_.is(tokens_[open + 2].partner + 1, ",")) {
      const std::size_t inner = tokens_[open + 2].partner;
      changed_.add(value,
                   {{name, close,
                     fmt::format("{}({}({}, {}))", text(open + 1, open + 1), text(name, name),
                                 text(open + 3, inner - 1), text(inner + 2, close - 1))}},
                   Code::wrong_expression, 3);
    }
    if (is_function(tokens_.text(name)) && is_limit(tokens_.text(open + 1)) && tokens_.is(open + 2, "(") &&
        tokens_[open + 2].partner + 1 == close) {
      std::size_t comma = open + 3;
      while (comma < close && !tokens_.is(comma, ",")) comma = tokens_.behind(comma);
      if (comma + 1 < close)
        changed_.add(value,
                     {{name, close,
                       fmt::format("{}({}({}), {})", text(open + 1, open + 1), text(name, name),
                                   text(open + 3, comma - 1), text(comma + 1, close - 2))}},
                     Code::wrong_expression, 3);
    }
  }

  /// A one, a half or a zero where a variable was meant.
  void add_variable(const SourceValue& value, std::size_t at) {
    constexpr std::size_t kMost = 5;
    const std::string own = text(at, at);
    const bool plain = own == "1.f" || own == "1.0f" || own == "0.f" || own == "0.0f" || own == "0.5f" ||
                       own == "1.0" || own == "0.5";
    if (!plain || (at == value.first && at == value.last) || tokens_.is(at + 1, "/")) return;
    std::size_t count = 0;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(value.first);
    for (const bool unread : {true, false})
      for (auto it = scope.rbegin(); it != scope.rend(); ++it) {
        const CppVariable& each = **it;
        if (!is_real_type(each.type) || each.declared >= value.statement || each.name == value.name ||
            places_.functions().is_used(each) == unread || count == kMost)
          continue;
        ++count;
        changed_.add(value, {{at, at, each.name}}, Code::wrong_expression, unread ? 1 : 4);
      }
  }

  /// `c * x` as `c * c * x`: a factor that is one twice.
  void add_square(const SourceValue& value, std::size_t at) {
    const CppVariable* named = places_.functions().named(at);
    if (named == nullptr || !(is_real_type(named->type) || is_whole_type(named->type)) ||
        (at > 0 && (tokens_.is(at - 1, ".") || tokens_.is(at - 1, "->") || tokens_.is(at - 1, "/") ||
                    tokens_.is(at - 1, "%") || tokens_.is(at - 1, "&"))) ||
        tokens_.is(at + 1, "[") || tokens_.is(at + 1, ".") || tokens_.is(at + 1, "->") ||
        tokens_.is(at + 1, "%") || tokens_.is(at + 1, "++"))
      return;
    const bool factor = tokens_.is(at + 1, "*") || (at > value.first && tokens_.is(at - 1, "*"));
    const bool alone = value.target == "argument" && at == value.first && at == value.last;
    if (!factor && !alone) return;
    // Twice already.
    if (tokens_.is(at + 1, "*") && tokens_.is(at + 2, named->name)) return;
    if (at > value.first + 1 && tokens_.is(at - 1, "*") && tokens_.is(at - 2, named->name)) return;
    changed_.add(value, {{at, at, named->name + " * " + named->name}}, Code::missing_scale, 4);
  }

  /// `c * a - b` as `a - c * b`.
  void add_moved_factor(const SourceValue& value, std::size_t sign) {
    if (!ends_value(places_, sign - 1)) return;
    const auto number = [&](std::size_t i) { return tokens_[i].kind == CppToken::Kind::number; };
    if (sign >= value.first + 3 && number(sign - 3) && tokens_.is(sign - 2, "*") &&
        is_real_variable(sign - 1) && sign + 1 <= value.last && is_real_variable(sign + 1))
      changed_.add(value,
                   {{sign - 3, sign + 1,
                     fmt::format("{} {} {} * {}", text(sign - 1, sign - 1), text(sign, sign),
                                 text(sign - 3, sign - 3), text(sign + 1, sign + 1))}},
                   Code::wrong_expression, 3);
    if (is_real_variable(sign - 1) && sign + 3 <= value.last && number(sign + 1) &&
        tokens_.is(sign + 2, "*") && is_real_variable(sign + 3) &&
        (sign < value.first + 2 || !tokens_.is(sign - 2, "*")))
      changed_.add(value,
                   {{sign - 1, sign + 3,
                     fmt::format("{} * {} {} {}", text(sign + 1, sign + 1), text(sign - 1, sign - 1),
                                 text(sign, sign), text(sign + 3, sign + 3))}},
                   Code::wrong_expression, 3);
  }

  /// `s + s2 * f(m2)` as `s * f(m) + s2 * f(m2)`: what one of two is multiplied by, the other is too.
  void add_rescaled(const SourceValue& value, std::size_t plus) {
    if (!tokens_.is(plus, "+") || plus < value.first + 1 || plus + 3 > value.last ||
        !is_real_variable(plus - 1) || !is_real_variable(plus + 1) || !tokens_.is(plus + 2, "*"))
      return;
    const std::string one = text(plus - 1, plus - 1), other = text(plus + 1, plus + 1);
    // What the second name has more.
    if (!other.starts_with(one) || other.size() == one.size()) return;
    const std::string more = other.substr(one.size());
    const std::size_t last = end_of_operand(tokens_, plus + 3, kBindsAsProduct);
    if (last > value.last) return;
    std::string factor;
    bool any = false;
    for (std::size_t i = plus + 3; i <= last; ++i) {
      std::string word = text(i, i);
      const CppVariable* named = places_.functions().named(i);
      if (named != nullptr && word.size() > more.size() && word.ends_with(more) &&
          places_.functions().named_as(i, word.substr(0, word.size() - more.size())) != nullptr) {
        word.resize(word.size() - more.size());
        any = true;
      }
      factor += (i > plus + 3 && tokens_[i].begin > tokens_[i - 1].end ? " " : "") + word;
    }
    if (any) changed_.add(value, {{plus - 1, plus - 1, one + " * " + factor}}, Code::missing_rescale, 1);
  }

  /// `a / b` as `b`: a count where a share was meant.
  void add_divisor(const SourceValue& value, std::size_t at) {
    if (!ends_value(places_, at - 1)) return;
    const std::size_t left = begin_of_operand(places_, at - 1, kBindsAsProduct),
                      right = end_of_operand(tokens_, at + 1, kBindsAsProduct);
    if (left != value.first || right != value.last || !tokens_.is_name(at + 1)) return;
    changed_.add(value, {{left, right, text(at + 1, right)}}, Code::wrong_expression, 3);
  }

  /// `log1pf(fabsf(t))` with the sign of t.
  void add_sign(const SourceValue& value) {
    if (value.kind != SourceValue::Kind::real && value.kind != SourceValue::Kind::other) return;
    for (std::size_t i = value.first; i + 2 <= value.last; ++i) {
      if (!tokens_.is(i, "fabsf") || !tokens_.is(i + 1, "(") || tokens_[i + 1].partner > value.last) continue;
      const std::string inner = text(i + 2, tokens_[i + 1].partner - 1);
      changed_.add(
          value,
          {{value.first, value.last, fmt::format("copysignf({}, {})", text(value.first, value.last), inner)}},
          Code::missing_absolute, 3);
      return;
    }
  }

  /// `if (x >= n) x = n - 1` as `x = x - n`.
  void add_round(const SourceValue& value) {
    const std::size_t name = value.first < 2 ? 0 : value.first - 2;
    if (value.name.empty() || !tokens_.is(value.first - 1, "=") || !tokens_.is(name, value.name) ||
        name < 4 || !tokens_.is(name - 1, ")"))
      return;
    const std::size_t open = tokens_[name - 1].partner;
    if (open == 0 || !tokens_.is(open - 1, "if") || !tokens_.is(open + 1, value.name)) return;
    if ((tokens_.is(open + 2, ">=") || tokens_.is(open + 2, ">")) && value.last >= value.first + 2 &&
        tokens_.is(value.last, "1") && tokens_.is(value.last - 1, "-"))
      changed_.add(
          value,
          {{value.first, value.last, fmt::format("{} - {}", value.name, text(value.first, value.last - 2))}},
          Code::wrong_expression, 2);
  }

  /// One more or less than a quotient, which the sum of a series has.
  void add_one(const SourceValue& value) {
    if (value.kind != SourceValue::Kind::real || value.begins_loop || value.target == "bound") return;
    bool divided = false;
    for (std::size_t i = value.first; i <= value.last; i = tokens_.behind(i)) {
      divided = divided || tokens_.is(i, "/");
      for (const char* each : {"+", "-", "?", "<", ">"})
        if (tokens_.is(i, each)) return;
    }
    if (!divided) return;
    const std::string own = text(value.first, value.last);
    for (const char* each : {" - 1.0f", " + 1.0f"})
      changed_.add(value, {{value.first, value.last, own + each}}, Code::missing_term, 4);
  }

  const EditPlaces& places_;
  const CppTokens& tokens_;
  ChangedValues& changed_;
};

}  // namespace

void add_nested(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed) {
  NestedParts parts(places, changed);
  for (const SourceValue& value : values) parts.add(value);
}

}  // namespace isomer::lab
