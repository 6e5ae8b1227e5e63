#include "lab/evidence/edits/terms.hpp"

#include "lab/evidence/edits/likeness.hpp"
#include "lab/evidence/edits/operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

constexpr int kBindsAsProduct = 5;  ///< how tightly operators bind
constexpr std::size_t kMostOtherSizes = 5;

class IndexTerms {
 public:
  IndexTerms(const EditPlaces& places, ChangedValues& changed)
      : places_(places), tokens_(places.tokens()), changed_(changed) {}

  void add(const SourceValue& value) {
    const bool place = value.kind == SourceValue::Kind::whole || value.kind == SourceValue::Kind::memory;
    if (place) add_sum(value, value.first, value.last);
    for (std::size_t i = value.first; i <= value.last; ++i) {
      const bool bracket = tokens_.is(i, "[") || (tokens_.is(i, "(") && is_group(i));
      if (bracket && tokens_[i].partner > i + 1 && tokens_[i].partner <= value.last)
        add_sum(value, i + 1, tokens_[i].partner - 1);
      if (i > value.first && is_divided(i) && ends_value(places_, i - 1)) add_quotient(value, i);
    }
  }

 private:
  bool is_divided(std::size_t i) const { return tokens_.is(i, "/") || tokens_.is(i, "%"); }
  bool is_product(std::size_t i) const { return is_divided(i) || tokens_.is(i, "*"); }
  std::string text(std::size_t first, std::size_t last) const {
    return std::string(tokens_.text(first, last));
  }

  /// Whether it begins no arguments of a call and no cast.
  bool is_group(std::size_t open) const {
    return open > 0 && (!tokens_.is_name(open - 1) || tokens_.is(open - 1, "return")) &&
           !tokens_.is(open - 1, ">") && !tokens_.is(open - 1, "]") && !tokens_.is(open - 1, ")");
  }

  /// Whole numbers alone.
  bool is_whole(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i <= last; ++i) {
      if (tokens_[i].kind == CppToken::Kind::number && is_real_number(text(i, i))) return false;
      for (const char* each : {"?", ",", "=", "<", ">", "{", "float", "double"})
        if (tokens_.is(i, each)) return false;
      if (i > 0 && (tokens_.is(i - 1, ".") || tokens_.is(i - 1, "->"))) continue;
      if (tokens_.is_name(i) && tokens_.is(i + 1, "(") && !tokens_.is(i, "min") && !tokens_.is(i, "max"))
        return false;
      const CppVariable* named = places_.functions().named(i);
      if (named == nullptr || is_whole_type(named->type)) continue;
      if (tokens_.is(i + 1, "[") && is_whole_type(element_of(named->type))) continue;
      const std::size_t end = places_.structs().end_of(i);
      const std::vector<CppMember> members = places_.structs().of(i);
      if (std::none_of(members.begin(), members.end(), [&](const CppMember& each) {
            return each.text == tokens_.text(i, end) && is_whole_type(each.type);
          }))
        return false;
    }
    return true;
  }

  /// `a * S + b` as `b * T + a`, for other sizes T, and for S.
  void add_sum(const SourceValue& value, std::size_t first, std::size_t last) {
    std::vector<std::size_t> plus;
    for (std::size_t i = first; i <= last; i = tokens_.behind(i)) {
      if (tokens_.is(i, "-")) return;
      if (tokens_.is(i, "+")) plus.push_back(i);
    }
    // Of more terms the last two, which lie beside each other.
    if (plus.empty() || plus.back() == first || plus.back() == last) return;
    const std::size_t begin = plus.size() == 1 ? first : plus[plus.size() - 2] + 1, sign = plus.back();
    if (!is_whole(begin, last)) return;
    std::size_t times = 0;
    for (std::size_t i = begin; i < sign; i = tokens_.behind(i))
      if (is_product(i)) times = tokens_.is(i, "*") ? i : 0;
    if (times == 0 || times == begin) return;
    const std::string index = text(begin, times - 1), size = text(times + 1, sign - 1),
                      other = text(sign + 1, last);
    bool product = false;
    for (std::size_t i = sign + 1; i <= last; i = tokens_.behind(i)) product = product || is_divided(i);
    for (const std::string& each : with(size, sizes_near(places_, value.first, size, kMostOtherSizes)))
      changed_.add(
          value,
          {{begin, last, fmt::format("{} * {} + {}", product ? "(" + other + ")" : other, each, index)}},
          Code::layout_convention, 2);
  }

  static std::vector<std::string> with(const std::string& first, std::vector<std::string> others) {
    others.insert(others.begin(), first);
    return others;
  }

  /// A quotient for a remainder, by another size, and what is divided beforehand.
  void add_quotient(const SourceValue& value, std::size_t at) {
    const std::size_t left = begin_of_operand(places_, at - 1, kBindsAsProduct),
                      right = end_of_operand(tokens_, at + 1, kBindsAsProduct);
    if (left < value.first || right > value.last || !is_whole(left, right)) return;
    // What is cast is no whole number any more.
    if (left > value.first && tokens_.is(left - 1, ")")) return;
    const std::string own = text(at + 1, right);
    const bool quotient = tokens_.is(at, "/");
    for (const std::string& each : sizes_near(places_, value.first, own, kMostOtherSizes)) {
      changed_.add(value, {{at, right, fmt::format("{} {}", quotient ? "%" : "/", each)}},
                   Code::layout_convention, 3);
      // A group of heads that read one.
      changed_.add(value, {{at, right, fmt::format("{} ({} / {})", quotient ? "%" : "/", each, own)}},
                   Code::layout_convention, 3);
      if (!quotient)
        changed_.add(value, {{at, right, fmt::format("/ {} % {}", each, own)}}, Code::layout_convention, 3);
    }
    // (a * b) % c for (a % c) * b.
    if (!tokens_.is(left, "(") || tokens_[left].partner != at - 1) return;
    std::size_t inner = 0;
    for (std::size_t i = left + 1; i + 1 < at; i = tokens_.behind(i))
      if (is_product(i)) inner = i;
    if (inner == 0) return;
    changed_.add(value,
                 {{left, right,
                   fmt::format("({} {} {}) {} {}", text(left + 1, inner - 1), text(at, at), own,
                               text(inner, inner), text(inner + 1, at - 2))}},
                 Code::wrong_expression, 3);
  }

  const EditPlaces& places_;
  const CppTokens& tokens_;
  ChangedValues& changed_;
};

/// Two values that are made alike but for a few parts.
class Crossed {
 public:
  Crossed(const EditPlaces& places, ChangedValues& changed)
      : places_(places), tokens_(places.tokens()), changed_(changed) {}

  void add(const SourceValue& one, const SourceValue& other) {
    if (one.last - one.first == other.last - other.first) exchange_parts(one, other);
    if (one.kind == SourceValue::Kind::whole && other.kind == SourceValue::Kind::whole)
      exchange_quotients(one, other);
  }

 private:
  std::string text(std::size_t first, std::size_t last) const {
    return std::string(tokens_.text(first, last));
  }

  bool can_move(std::size_t token, const SourceValue& to) const {
    const CppVariable* named = places_.functions().named(token);
    if (!tokens_.is_name(token) && tokens_[token].kind != CppToken::Kind::number &&
        operator_of(tokens_.text(token)) == nullptr && !tokens_.is(token, ">>") && !tokens_.is(token, "<<") &&
        !tokens_.is(token, "&") && !tokens_.is(token, "|"))
      return false;
    return !tokens_.is(token + 1, "(") && !tokens_.is(token + 1, "=") &&
           (named == nullptr ||
            (named->declared < to.statement && named->first <= to.first && named->last >= to.last));
  }

  void exchange_parts(const SourceValue& one, const SourceValue& other) {
    constexpr std::size_t kMostParts = 4;
    std::vector<std::size_t> differ;
    for (std::size_t i = 0; i <= one.last - one.first; ++i)
      if (tokens_.text(one.first + i) != tokens_.text(other.first + i)) differ.push_back(i);
    if (differ.size() < 2 || differ.size() > kMostParts || differ.size() > (one.last - one.first + 1) / 2)
      return;
    for (const std::size_t i : differ) {
      const std::size_t a = one.first + i, b = other.first + i;
      if (tokens_[a].kind != tokens_[b].kind || !can_move(b, one) || !can_move(a, other)) continue;
      const CppVariable *first = places_.functions().named(a), *second = places_.functions().named(b);
      if ((first == nullptr) != (second == nullptr) || (first != nullptr && first->type != second->type))
        continue;
      changed_.add({{one, {{a, a, text(b, b)}}}, {other, {{b, b, text(a, a)}}}}, Code::wrong_expression, 2);
    }
  }

  /// Where `/` or `%` stands, when the value is no more than that; 0: it is another one.
  std::size_t divides(const SourceValue& value) const {
    std::size_t at = 0;
    for (std::size_t i = value.first; i <= value.last; i = tokens_.behind(i)) {
      if (tokens_.is(i, "/") || tokens_.is(i, "%")) at = at == 0 ? i : value.last + 1;
      for (const char* each : {"+", "-", "*", "?"})
        if (tokens_.is(i, each)) at = value.last + 1;
    }
    return at > value.first && at < value.last ? at : 0;
  }

  /// `i / m` and `i % m` for `i % n` and `i / n`.
  void exchange_quotients(const SourceValue& one, const SourceValue& other) {
    const std::size_t a = divides(one), b = divides(other);
    if (a == 0 || b == 0 || text(one.first, a - 1) != text(other.first, b - 1) ||
        text(a + 1, one.last) != text(b + 1, other.last) || tokens_.text(a) == tokens_.text(b))
      return;
    const std::string own = text(a + 1, one.last);
    std::vector<std::string> sizes = sizes_near(places_, one.first, own, kMostOtherSizes);
    sizes.insert(sizes.begin(), own);
    for (const std::string& each : sizes) {
      changed_.add({{one, {{a, one.last, text(b, b) + " " + each}}},
                    {other, {{b, other.last, text(a, a) + " " + each}}}},
                   Code::layout_convention, 2);
      if (each != own)
        changed_.add({{one, {{a + 1, one.last, each}}}, {other, {{b + 1, other.last, each}}}},
                     Code::layout_convention, 2);
    }
  }

  const EditPlaces& places_;
  const CppTokens& tokens_;
  ChangedValues& changed_;
};

}  // namespace

std::vector<std::string> sizes_near(const EditPlaces& places, std::size_t token, std::string_view name,
                                    std::size_t most) {
  std::vector<std::string> sizes = places.functions().counts_and_sizes(token).second;
  for (const CppMember& each : places.structs().in_scope(token))
    if (is_whole_type(each.type)) sizes.push_back(each.text);
  std::erase(sizes, name);
  std::stable_sort(sizes.begin(), sizes.end(), [&](const std::string& a, const std::string& b) {
    return likeness(a, name) > likeness(b, name);
  });
  if (sizes.size() > most) sizes.resize(most);
  return sizes;
}

void add_terms(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed) {
  IndexTerms terms(places, changed);
  for (const SourceValue& value : values) terms.add(value);
}

void add_crossed(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed) {
  constexpr std::size_t kNear = 3;
  Crossed crossed(places, changed);
  for (std::size_t a = 0; a < values.size(); ++a)
    for (std::size_t b = a + 1; b < std::min(values.size(), a + 1 + kNear); ++b)
      if (values[a].kind == values[b].kind && !values[a].begins_loop && !values[b].begins_loop &&
          places.functions().body_of(values[a].first) == places.functions().body_of(values[b].first))
        crossed.add(values[a], values[b]);
}

}  // namespace isomer::lab
