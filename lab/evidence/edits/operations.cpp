#include "lab/evidence/edits/operations.hpp"

#include "lab/evidence/edits/operands.hpp"
#include "lab/evidence/edits/terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

constexpr int kBindsAsProduct = 5;
constexpr std::size_t kMostSizes = 3;
constexpr std::size_t kMostFound = 4;  ///< elements and products of the function that are tried

class LackedOperations {
 public:
  LackedOperations(const EditPlaces& places, ChangedValues& changed)
      : places_(places), tokens_(places.tokens()), changed_(changed) {}

  void add(const SourceValue& value) {
    for (std::size_t i = value.first; i <= value.last; ++i) {
      if (!begins_operand(i)) continue;
      const std::size_t last = end_of_name(i);
      if (last > value.last || tokens_.is(last + 1, "(")) continue;
      add_function(value, i, last);
      add_divided(value, i, last);
      add_going_on(value, i, last);
    }
    if (value.kind == SourceValue::Kind::real || value.kind == SourceValue::Kind::other)
      for (std::size_t i = value.first; i < value.last; ++i) add_real_quotient(value, i);
    if (value.target.ends_with("+=")) add_counted(value);
    if (value.kind == SourceValue::Kind::whole && !value.begins_loop && value.target != "bound")
      add_beginning(value);
    if (value.target == "argument") add_bytes(value);
    add_rounded_up(value);
  }

 private:
  std::string text(std::size_t first, std::size_t last) const {
    return std::string(tokens_.text(first, last));
  }
  bool names(std::size_t first, std::size_t last, std::string_view name) const {
    for (std::size_t i = first; i <= last; ++i)
      if (tokens_.is(i, name)) return true;
    return false;
  }
  bool is_product(std::size_t i) const {
    return tokens_.is(i, "*") || tokens_.is(i, "/") || tokens_.is(i, "%");
  }
  bool begins_operand(std::size_t i) const {
    return tokens_.is_name(i) && i > 0 && !tokens_.is(i - 1, ".") && !tokens_.is(i - 1, "->") &&
           !tokens_.is(i - 1, "&") && places_.functions().named(i) != nullptr;
  }

  /// The last token of the variable, the element or the member.
  std::size_t end_of_name(std::size_t at) const {
    std::size_t last = at;
    while (last + 2 < tokens_.size()) {
      if (tokens_.is(last + 1, "[") && tokens_[last + 1].partner > last)
        last = tokens_[last + 1].partner;
      else if (tokens_.is(last + 1, ".") || tokens_.is(last + 1, "->"))
        last += 2;
      else
        break;
    }
    return last;
  }

  /// The type of what stands there; empty: it is not known.
  std::string type_of(std::size_t first, std::size_t last) const {
    const CppVariable* named = places_.functions().named(first);
    if (named == nullptr) return {};
    if (first == last) return named->type;
    if (tokens_.is(first + 1, "[") && tokens_[first + 1].partner == last) return element_of(named->type);
    for (const CppMember& each : places_.structs().of(first))
      if (each.text == text(first, last)) return each.type;
    return {};
  }
  bool is_whole(std::size_t first, std::size_t last) const { return is_whole_type(type_of(first, last)); }

  static bool is_number(const std::string& type) {
    constexpr std::array<std::string_view, 4> kShort = {"bool ", "uint8_t ", "int8_t ", "unsigned char "};
    return is_whole_type(type) || is_real_type(type) ||
           std::find(kShort.begin(), kShort.end(), type) != kShort.end();
  }

  /// What is compared or passed, too: `f(ratios[j])` as `f(sqrtf(ratios[j]))`.
  void add_function(const SourceValue& value, std::size_t first, std::size_t last) {
    if (!is_real_type(type_of(first, last)) || (first == value.first && last == value.last)) return;
    if (first == value.first && tokens_.text(last + 1).back() == '=') return;
    std::size_t count = 0;
    for (const std::string& each : places_.label().functions) {
      if (tokens_.is(first - 1, "(") && first > 1 && tokens_.is(first - 2, each)) continue;
      const bool absolute = each == "fabsf";
      if (!absolute && count++ >= kMostSizes) continue;
      changed_.add(value, {{first, last, fmt::format("{}({})", each, text(first, last))}},
                   absolute ? Code::missing_absolute : Code::wrong_expression, 4);
    }
  }

  /// `i` as `i % n`, `i / n` or `i * n`.
  void add_divided(const SourceValue& value, std::size_t first, std::size_t last) {
    if (!is_whole(first, last) || is_product(last + 1) ||
        (first > value.first && (tokens_.is(first - 1, "%") || tokens_.is(first - 1, ")"))))
      return;
    const std::string own = text(first, last);
    const bool compared = tokens_.is(last + 1, "==") || tokens_.is(last + 1, "!=");
    if (compared) changed_.add(value, {{first, last, own + " % 2"}}, Code::wrong_expression, 3);
    // A sum of which this is the last part stands in brackets, or is an index.
    std::size_t begin = first;
    while (begin > value.first && !tokens_.is(begin - 1, "(") && !tokens_.is(begin - 1, "[") &&
           !tokens_.is(begin - 1, ",") && !tokens_.is(begin - 1, "?") && !tokens_.is(begin - 1, ":"))
      --begin;
    const bool sum = begin < first && tokens_.is(begin - 1, "(") && tokens_.is(last + 1, ")") &&
                     (tokens_.is(first - 1, "+") || tokens_.is(first - 1, "-"));
    for (const std::string& size : sizes_near(places_, value.first, own, kMostSizes)) {
      const bool product = first > value.first && is_product(first - 1);
      if (!product)
        for (const char op : {'%', '/'})
          changed_.add(value, {{first, last, fmt::format("{} {} {}", own, op, size)}}, Code::wrong_expression,
                       4);
      if (sum && begin >= value.first)
        changed_.add(value, {{begin, last, fmt::format("({}) % {}", text(begin, last), size)}},
                     Code::wrong_expression, 3);
    }
    if (!compared && first > value.first && !is_product(first - 1))
      changed_.add(value, {{first, last, own + " * 2"}}, Code::wrong_expression, 4);
  }

  /// `(step + 1) / all` as a real quotient.
  void add_real_quotient(const SourceValue& value, std::size_t at) {
    if (!tokens_.is(at, "/") || at == value.first || !ends_value(places_, at - 1)) return;
    const std::size_t left = begin_of_operand(places_, at - 1, kBindsAsProduct),
                      right = end_of_operand(tokens_, at + 1, kBindsAsProduct);
    if (left < value.first || right > value.last || (left > value.first && tokens_.is(left - 1, ")"))) return;
    for (std::size_t i = left; i <= right; ++i) {
      const CppVariable* named = places_.functions().named(i);
      if (tokens_.is(i, "[") || tokens_.is(i, ",") || tokens_.is(i, "?") ||
          (tokens_.is_name(i) ? named == nullptr || !is_whole_type(named->type)
                              : tokens_[i].kind == CppToken::Kind::number && is_real_number(text(i, i))))
        return;
    }
    // An index stays whole.
    int depth = 0;
    for (std::size_t i = value.first; i < left; ++i)
      depth += tokens_.is(i, "[") ? 1 : tokens_.is(i, "]") ? -1 : 0;
    if (depth == 0)
      changed_.add(value, {{left, left, "(double)" + text(left, left)}}, Code::wrong_expression, 2);
  }

  /// `place[d]` as `place[d]++`: the next one that reads it goes on behind it.
  void add_going_on(const SourceValue& value, std::size_t first, std::size_t last) {
    const CppVariable* named = places_.functions().named(first);
    if (!tokens_.is(last, "]") || !is_whole(first, last) || named->type.starts_with("const ") ||
        (first > value.first && (tokens_.is(first - 1, "(") || is_product(first - 1))) ||
        is_product(last + 1) || tokens_.is(last + 1, "++"))
      return;
    changed_.add(value, {{first, last, text(first, last) + "++"}}, Code::stale_state, 4);
  }

  /// `count += 1` as `count += valid[i]`: an element that the function reads elsewhere.
  void add_counted(const SourceValue& value) {
    if (value.first != value.last || tokens_[value.first].kind != CppToken::Kind::number) return;
    const std::size_t body = places_.functions().body_of(value.first);
    if (body == 0) return;
    std::vector<std::string> found;
    for (std::size_t i = body + 1; i < tokens_[body].partner && found.size() < kMostFound; ++i) {
      if (!begins_operand(i) || !tokens_.is(i + 1, "[") || tokens_.text(tokens_[i + 1].partner + 1) == "=")
        continue;
      const std::size_t last = tokens_[i + 1].partner;
      if (last >= tokens_[body].partner || tokens_.is(last + 1, "[") || tokens_.is(last + 1, ".") ||
          !is_number(type_of(i, last)))
        continue;
      bool reached = true;
      for (std::size_t k = i; k <= last; ++k)
        if (const CppVariable* own = places_.functions().named(k); own != nullptr)
          reached = reached && places_.functions().named_as(value.first, own->name) == own;
      std::string element = text(i, last);
      if (reached && std::find(found.begin(), found.end(), element) == found.end())
        found.push_back(std::move(element));
    }
    for (const std::string& each : found) {
      changed_.add(value, {{value.first, value.last, each}}, Code::wrong_expression, 3);
      changed_.add(value, {{value.first, value.last, fmt::format("({} ? 1 : 0)", each)}},
                   Code::wrong_expression, 4);
    }
  }

  /// `i / n` as `group * m + i / n`: a product that the function has elsewhere.
  void add_beginning(const SourceValue& value) {
    const std::size_t body = places_.functions().body_of(value.first);
    if (body == 0) return;
    std::vector<std::string> found;
    for (std::size_t i = body + 1; i + 2 < tokens_[body].partner && found.size() < kMostFound; ++i) {
      if (!begins_operand(i) || !tokens_.is(i + 1, "*") || !begins_operand(i + 2) || !is_whole(i, i) ||
          !is_whole(i + 2, i + 2) || is_product(i - 1) || is_product(i + 3) || tokens_.is(i + 3, "["))
        continue;
      const CppVariable *one = places_.functions().named(i), *other = places_.functions().named(i + 2);
      if (one->declared >= value.statement || other->declared >= value.statement ||
          places_.functions().named_as(value.first, one->name) != one ||
          places_.functions().named_as(value.first, other->name) != other ||
          names(value.first, value.last, one->name))
        continue;
      std::string product = text(i, i + 2);
      if (std::find(found.begin(), found.end(), product) == found.end()) found.push_back(std::move(product));
    }
    std::string own = text(value.first, value.last);
    if (names(value.first, value.last, "?")) own = "(" + own + ")";
    for (const std::string& each : found)
      changed_.add(value, {{value.first, value.last, fmt::format("{} + {}", each, own)}}, Code::missing_term,
                   4);
  }

  /// `cudaMemset(out, 0, n)` of numbers that have four bytes each.
  void add_bytes(const SourceValue& value) {
    if (!tokens_.is(value.statement + 1, "(") || names(value.first, value.last, "sizeof")) return;
    const std::string function = text(value.statement, value.statement);
    if (function.find("Mem") == std::string::npos && function.find("mem") == std::string::npos) return;
    const CppVariable* named = places_.functions().named(value.statement + 2);
    const std::string element = named == nullptr ? "float " : element_of(named->type);
    bool sum = false;
    for (std::size_t i = value.first; i <= value.last; i = tokens_.behind(i))
      sum = sum || tokens_.is(i, "+") || tokens_.is(i, "-");
    std::string count = text(value.first, value.last);
    if (sum) count = "(" + count + ")";
    changed_.add(value,
                 {{value.first, value.last,
                   fmt::format("{} * sizeof({})", count, element.substr(0, element.size() - 1))}},
                 Code::unwritten_output, 1);
  }

  /// `n < T ? 1 : n / T` as the quotient rounded up.
  void add_rounded_up(const SourceValue& value) {
    std::size_t choice = 0, divided = 0;
    for (std::size_t i = value.first; i < value.last; i = tokens_.behind(i)) {
      if (tokens_.is(i, "?")) choice = i;
      if (tokens_.is(i, "/")) divided = divided == 0 ? i : value.last;
    }
    if (choice == 0 || divided <= choice || divided >= value.last) return;
    const std::size_t left = begin_of_operand(places_, divided - 1, kBindsAsProduct);
    const std::string size = text(divided + 1, value.last);
    if (left <= choice || !is_whole(left, end_of_name(left))) return;
    changed_.add(
        value,
        {{value.first, value.last, fmt::format("({} + {} - 1) / {}", text(left, divided - 1), size, size)}},
        Code::wrong_expression, 2);
  }

  const EditPlaces& places_;
  const CppTokens& tokens_;
  ChangedValues& changed_;
};

}  // namespace

void add_operations(const EditPlaces& places, const std::vector<SourceValue>& values,
                    ChangedValues& changed) {
  LackedOperations operations(places, changed);
  for (const SourceValue& value : values) operations.add(value);
}

}  // namespace isomer::lab
