#include "lab/evidence/edits/siblings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace isomer::lab {
namespace {

using Part = EditPlaces::Part;
constexpr std::size_t kNearest = 5;       ///< values between two that are made alike
constexpr std::size_t kMostLacking = 12;  ///< tokens that one of them lacks

/// Tokens from the first to the last.
struct Range {
  std::size_t first, last;
  std::size_t size() const { return last + 1 - first; }
};

class Siblings {
 public:
  Siblings(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed)
      : places_(places), tokens_(places.tokens()), values_(values), changed_(changed) {
    find_functions();
  }

  void add() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const SourceValue& value = values_[i];
      for (std::size_t k = i > kNearest ? i - kNearest : 0; k < std::min(values_.size(), i + kNearest); ++k)
        if (k != i && values_[k].kind == value.kind && values_[k].target == value.target &&
            value.target != "index")
          complete(value, {value.first, value.last}, {values_[k].first, values_[k].last});
      for (std::size_t at = value.first + 1; at < value.last; at = tokens_.behind(at))
        if (tokens_.is(at, "+") || tokens_.is(at, "-")) add_terms(value, at);
      for (std::size_t at = value.first; at <= value.last; ++at) {
        add_cast(value, at);
        add_sign_of_type(value, at);
        add_bound(value, at);
        add_call(value, at);
      }
    }
  }

 private:
  /// The value with that part of it made as the other one is, where it lacks a piece of that alone.
  void complete(const SourceValue& value, Range own, Range other) {
    if (other.size() <= own.size() || other.size() - own.size() > kMostLacking || own.size() < 1) return;
    constexpr int kMostWays = 3;
    int ways = 0;
    const std::size_t lacks = other.size() - own.size();
    for (std::size_t before = 0; before <= own.size(); ++before) {
      // The names of the other one, and what they are here.
      std::map<std::string_view, std::string_view> names, back;
      bool alike = true;
      for (std::size_t i = 0; i < own.size() && alike; ++i) {
        const std::size_t there = other.first + i + (i < before ? 0 : lacks), here = own.first + i;
        const std::string_view a = tokens_.text(there), b = tokens_.text(here);
        if (a == b && !is_variable(here)) continue;
        alike = are_alike(places_.functions().named(there), places_.functions().named(here)) &&
                names.emplace(a, b).first->second == b && back.emplace(b, a).first->second == a;
      }
      const bool same =
          std::all_of(names.begin(), names.end(), [](const auto& each) { return each.first == each.second; });
      if (!alike || (same && own.size() > 1) || names.empty()) continue;
      std::string text;
      for (std::size_t i = other.first; i <= other.last; ++i) {
        const auto found = is_variable(i) ? names.find(tokens_.text(i)) : names.end();
        if (i > other.first && tokens_[i].begin > tokens_[i - 1].end) text += ' ';
        text += found == names.end() ? tokens_.text(i) : found->second;
      }
      // What is so many times more there lacks a factor here.
      const bool factor = text.find('*') != std::string::npos && text.find('+') == std::string::npos &&
                          text.find('-') == std::string::npos &&
                          tokens_.text(own.first, own.last).find('*') == std::string_view::npos;
      changed_.add(value, {{own.first, own.last, text}}, factor ? Code::missing_scale : Code::missing_term,
                   1);
      if (++ways == kMostWays) return;
    }
  }

  /// Whether one variable may stand in the other's place.
  static bool are_alike(const CppVariable* one, const CppVariable* other) {
    return one != nullptr && other != nullptr &&
           (one->type == other->type || (is_whole_type(one->type) && is_whole_type(other->type)) ||
            (is_real_type(one->type) && is_real_type(other->type)));
  }

  bool is_variable(std::size_t at) const { return places_.functions().named(at) != nullptr; }

  /// The term before a sign as the one behind it is, and the other way round.
  void add_terms(const SourceValue& value, std::size_t sign) {
    if (sign == value.first) return;
    std::size_t first = value.first, last = sign + 1;
    for (std::size_t i = value.first; i < sign; i = tokens_.behind(i))
      if (tokens_.is(i, "+") || tokens_.is(i, "-")) first = i + 1;
    while (last <= value.last && !tokens_.is(last, "+") && !tokens_.is(last, "-"))
      last = tokens_.behind(last);
    if (first >= sign || last <= sign + 1 || last > value.last + 1) return;
    const Range one = {first, sign - 1}, other = {sign + 1, last - 1};
    complete(value, one, other);
    complete(value, other, one);
  }

  /// `(int)x`, rounded down, up or to the nearest.
  void add_cast(const SourceValue& value, std::size_t at) {
    std::optional<Range> operand;
    if (tokens_.is(at, "(") && tokens_.is(at + 2, ")") &&
        (tokens_.is(at + 1, "int") || tokens_.is(at + 1, "long"))) {
      if (is_variable(at + 3) && at + 3 <= value.last) operand = Range{at + 3, at + 3};
      if (tokens_.is(at + 3, "(")) operand = Range{at + 3, tokens_.behind(at + 3) - 1};
      if (operand && tokens_.is(operand->last + 1, "["))
        operand->last = tokens_.behind(operand->last + 1) - 1;
      if (tokens_.is_name(at + 3) && tokens_.is(at + 4, "("))
        operand = Range{at + 3, tokens_.behind(at + 4) - 1};
    } else if (tokens_.is(at, "static_cast") && tokens_.is(at + 2, "int") && tokens_.is(at + 4, "(")) {
      operand = Range{at + 5, tokens_.behind(at + 4) - 2};
    }
    if (!operand || operand->last > value.last || operand->first > operand->last) return;
    const std::string own(tokens_.text(operand->first, operand->last));
    constexpr std::array<std::string_view, 5> kRounded = {"floorf", "rintf", "roundf", "ceilf", "truncf"};
    if (std::any_of(kRounded.begin(), kRounded.end(),
                    [&](std::string_view each) { return own.starts_with(each); }))
      return;
    for (const std::string_view each : kRounded)
      if (each != "truncf")
        changed_.add(value, {{operand->first, operand->last, fmt::format("{}({})", each, own)}},
                     Code::rounding_mode, 2);
  }

  /// A cast to whole numbers with a sign, or without one; and none.
  void add_sign_of_type(const SourceValue& value, std::size_t at) {
    constexpr std::array<std::array<std::string_view, 2>, 4> kTypes = {
        {{"uint8_t", "int8_t"}, {"uint16_t", "int16_t"}, {"uint32_t", "int32_t"}, {"uint64_t", "int64_t"}}};
    if (!tokens_.is(at, "(") || !tokens_.is(at + 2, ")") || at + 3 > value.last) return;
    for (const auto& [one, other] : kTypes) {
      if (!tokens_.is(at + 1, one) && !tokens_.is(at + 1, other)) continue;
      changed_.add(value, {{at + 1, at + 1, std::string(tokens_.is(at + 1, one) ? other : one)}},
                   Code::dtype_reinterpreted, 1);
      changed_.add(value, {{at, at + 3, std::string(tokens_.text(at + 3))}}, Code::dtype_reinterpreted, 2);
    }
  }

  /// `min(a, b) * c` and `min(a * c, b * c)`.
  void add_bound(const SourceValue& value, std::size_t at) {
    constexpr std::array<std::string_view, 6> kBounds = {"fminf", "fmaxf", "min", "max", "fmin", "fmax"};
    if (std::find(kBounds.begin(), kBounds.end(), tokens_.text(at)) == kBounds.end() ||
        !tokens_.is(at + 1, "("))
      return;
    const std::size_t close = tokens_[at + 1].partner;
    if (close <= at + 1 || close > value.last) return;
    std::size_t comma = at + 2;
    while (comma < close && !tokens_.is(comma, ",")) comma = tokens_.behind(comma);
    if (comma >= close) return;
    const std::string name(tokens_.text(at)), one(tokens_.text(at + 2, comma - 1)),
        other(tokens_.text(comma + 1, close - 1));
    if (tokens_.is(close + 1, "*") && close + 2 <= value.last && is_variable(close + 2) &&
        !tokens_.is(close + 3, "[") && !tokens_.is(close + 3, ".")) {
      const std::string factor(tokens_.text(close + 2));
      changed_.add(
          value, {{at, close + 2, fmt::format("{}(({}) * {}, ({}) * {})", name, one, factor, other, factor)}},
          Code::wrong_expression, 3);
    }
    // The same factor of both, outside.
    const auto times = [&](std::size_t first, std::size_t last) {
      return last >= first + 2 && tokens_.is(last - 1, "*") && is_variable(last);
    };
    if (times(at + 2, comma - 1) && times(comma + 1, close - 1) &&
        tokens_.text(comma - 1) == tokens_.text(close - 1))
      changed_.add(value,
                   {{at, close,
                     fmt::format("{}({}, {}) * {}", name, tokens_.text(at + 2, comma - 3),
                                 tokens_.text(comma + 1, close - 3), tokens_.text(close - 1))}},
                   Code::wrong_expression, 3);
  }

  /// Functions that the source defines, by how many arguments they take.
  void find_functions() {
    for (std::size_t i = 2; i + 1 < tokens_.size(); ++i) {
      if (!tokens_.is_name(i) || !tokens_.is(i + 1, "(") || places_.functions().in_body(i) ||
          !tokens_.is_name(i - 1) || tokens_.is(i - 1, "void"))
        continue;
      const std::size_t behind = tokens_.behind(i + 1);
      if (tokens_.is(behind, "{"))
        functions_[std::string(tokens_.text(i))] = {tokens_.text(i - 1), count(i + 1)};
    }
  }

  std::size_t count(std::size_t open) const {
    std::size_t number = tokens_[open].partner > open + 1 ? 1 : 0;
    for (std::size_t i = open + 1; i < tokens_[open].partner; i = tokens_.behind(i))
      number += tokens_.is(i, ",");
    return number;
  }

  void add_call(const SourceValue& value, std::size_t at) {
    const auto own = functions_.find(std::string(tokens_.text(at)));
    if (own == functions_.end() || !tokens_.is(at + 1, "(") || tokens_.is(at - 1, ".") ||
        tokens_.is(at - 1, "::"))
      return;
    for (const auto& [name, other] : functions_)
      if (name != own->first && other == own->second)
        changed_.add(value, {{at, at, name}}, Code::other_reduction, 1);
  }

  const EditPlaces& places_;
  const CppTokens& tokens_;
  const std::vector<SourceValue>& values_;
  ChangedValues& changed_;
  std::map<std::string, std::pair<std::string_view, std::size_t>> functions_;  ///< what they give and take
};

}  // namespace

void add_siblings(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed) {
  Siblings(places, values, changed).add();
}

}  // namespace isomer::lab
