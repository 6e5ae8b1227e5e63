#include "lab/evidence/edits/calls.hpp"
#include "lab/evidence/edits/dimensions.hpp"
#include "lab/evidence/edits/lacked.hpp"
#include "lab/evidence/edits/nested.hpp"
#include "lab/evidence/edits/operands.hpp"
#include "lab/evidence/edits/operations.hpp"
#include "lab/evidence/edits/reals.hpp"
#include "lab/evidence/edits/repeated.hpp"
#include "lab/evidence/edits/siblings.hpp"
#include "lab/evidence/edits/terms.hpp"
#include "lab/evidence/edits/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

namespace isomer::lab {
namespace {

using Part = EditPlaces::Part;

constexpr int kSum = 4, kProduct = 5;  ///< how tightly operators bind

/// Functions of one real number, whose argument something may have been added to, or which it was added
/// behind.
constexpr std::array<std::string_view, 9> kOfReal = {"sqrtf", "rsqrtf", "sqrt", "rsqrt", "logf",
                                                     "log",   "expf",   "exp",  "tanhf"};
constexpr std::array<std::string_view, 6> kLargest = {"fmaxf", "fmax", "max", "std::max", "fminf", "fmin"};

/// What PyTorch calls the numbers that a kernel is made for, whichever they are.
bool is_type_of_numbers(const std::string& type) {
  return type.ends_with("scalar_t ") || type.ends_with("acc_t ") || type.ends_with("opmath_t ");
}

template <class List>
bool is_among(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// How one value may have been put together otherwise.
class Rewriting {
 public:
  Rewriting(const EditPlaces& places, const SourceValue& value, ChangedValues& changed)
      : places_(places), tokens_(places.tokens()), value_(value), changed_(changed) {}

  void add() {
    if (value_.begins_loop) add_begin();
    exchange_names();
    exchange_members();
    for (std::size_t i = value_.first; i <= value_.last; ++i) {
      if (is_product(i) && is_operator(i)) add_product(i);
      if (is_sum(i) && is_operator(i)) add_sum(i);
      if (is_sum(i) && is_operator(i)) add_shift(i);
      if (tokens_.is(i, "(") && i > value_.first) add_call(i);
      if (tokens_.is(i, "[")) add_element(i);
    }
  }

 private:
  bool is_sum(std::size_t i) const { return tokens_.is(i, "+") || tokens_.is(i, "-"); }
  bool is_product(std::size_t i) const {
    return tokens_.is(i, "*") || tokens_.is(i, "/") || tokens_.is(i, "%");
  }
  bool is_operator(std::size_t i) const { return i > value_.first && ends_value(places_, i - 1); }
  std::string text(std::size_t first, std::size_t last) const {
    return std::string(tokens_.text(first, last));
  }
  void put(std::vector<Part> parts, Code code, int rank) const {
    for (const Part& part : parts)
      if (part.first < value_.first || part.last > value_.last || part.first > part.last) return;
    changed_.add(value_, std::move(parts), code, rank);
  }
  void put_brackets(std::size_t first, std::size_t last, int rank) const {
    if (first >= last) return;
    put({{first, first, "(" + text(first, first)}, {last, last, text(last, last) + ")"}},
        Code::wrong_expression, rank);
  }

  /// `(a + b) / c` as `a / c + b`: what is added is divided or multiplied no more.
  void add_behind(std::size_t left, std::size_t at, std::size_t right) {
    const std::size_t sign = sum_in(left + 1, at - 2);
    if (sign == 0) return;
    const std::string by = text(at, right), kept = text(sign, at - 2);
    const bool epsilon = kept.find("eps") != std::string::npos;
    put({{left, right, fmt::format("({} {} {})", text(left + 1, sign - 1), by, kept)}},
        epsilon ? Code::epsilon : Code::wrong_expression, 3);
  }

  /// Whole numbers alone, whose quotient is one.
  bool is_whole(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i <= last; ++i) {
      const CppVariable* named = places_.functions().named(i);
      if (tokens_[i].kind == CppToken::Kind::number ? is_real_number(text(i, i))
                                                    : named == nullptr || !is_whole_type(named->type))
        return false;
    }
    return true;
  }

  /// A product or a quotient that is the value of a variable: `head_size / 2` where `half` was meant.
  void add_variables(std::size_t left, std::size_t right) {
    constexpr int kMost = 5;  // of those that are declared in the function, and of its parameters
    int locals = 0, parameters = 0;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(value_.first);
    for (auto it = scope.rbegin(); it != scope.rend(); ++it) {
      if (!is_whole_type((*it)->type) || (*it)->declared >= value_.statement || (*it)->name == value_.name)
        continue;
      if (int& count = places_.functions().is_parameter(**it) ? parameters : locals; count++ < kMost)
        put({{left, right, (*it)->name}}, Code::wrong_expression, 3);
    }
  }

  /// Numbers alone, or elements of memory: what may be bracketed in another way.
  bool of_numbers(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i <= last; ++i) {
      if (tokens_.is(i, "&") || tokens_.is(i, "?") || (tokens_.is(i, "<") && !begins_arguments(tokens_, i)))
        return false;
      const CppVariable* named = places_.functions().named(i);
      if (named == nullptr || is_whole_type(named->type) || is_real_type(named->type) ||
          is_type_of_numbers(named->type))
        continue;
      if (tokens_.is(i + 1, ".") && is_place(i)) return false;
      if (!tokens_.is(i + 1, "[") && !tokens_.is(i + 1, ".") && named->type != "auto ") return false;
    }
    return true;
  }

  /// Whether a member that is named there is memory, of which no element is taken.
  bool is_place(std::size_t at) const {
    const std::size_t end = places_.structs().end_of(at);
    const std::vector<CppMember> members = places_.structs().of(at);
    return !tokens_.is(end + 1, "[") &&
           std::any_of(members.begin(), members.end(), [&](const CppMember& each) {
             return each.text == text(at, end) && each.type.find('*') != std::string::npos;
           });
  }

  /// The first operator outside of all brackets between the tokens; 0: there is none.
  template <class Is>
  std::size_t outside(std::size_t first, std::size_t last, const Is& is) const {
    for (std::size_t i = first; i <= last; ++i) {
      if ((tokens_.is(i, "(") || tokens_.is(i, "[")) && tokens_[i].partner > i) {
        i = tokens_[i].partner;
        continue;
      }
      if (i > first && is(i) && is_operator(i)) return i;
    }
    return 0;
  }
  std::size_t sum_in(std::size_t first, std::size_t last) const {
    return outside(first, last, [&](std::size_t i) { return is_sum(i); });
  }

  /// Whether a whole sum or product stands in brackets there, by its first and last token.
  bool is_bracketed_sum(std::size_t first, std::size_t last) const {
    return is_bracketed(first, last) && sum_in(first + 1, last - 1) != 0;
  }
  bool is_bracketed_product(std::size_t first, std::size_t last) const {
    return is_bracketed(first, last) &&
           outside(first + 1, last - 1, [&](std::size_t i) { return is_product(i); }) != 0;
  }
  bool is_bracketed(std::size_t first, std::size_t last) const {
    return tokens_.is(first, "(") && tokens_[first].partner == last && last > first + 2 &&
           !(first > 0 && tokens_.is_name(first - 1) && !tokens_.is(first - 1, "return"));
  }
  void without_brackets(std::size_t first, std::size_t last, int rank) const {
    put({{first, first, ""}, {last, last, ""}}, Code::wrong_expression, rank);
  }

  void add_product(std::size_t at) {
    const std::size_t left = begin_of_operand(places_, at - 1, kProduct),
                      right = end_of_operand(tokens_, at + 1, kProduct);
    if (left < value_.first || right > value_.last || !of_numbers(left, right)) return;
    if (is_bracketed_sum(at + 1, right) || (tokens_.is(at, "/") && is_bracketed_product(at + 1, right)))
      without_brackets(at + 1, right, 2);
    if (is_bracketed_sum(left, at - 1)) {
      without_brackets(left, at - 1, 2);
      add_behind(left, at, right);
    }
    if (is_product(right + 1) && right < value_.last) {
      const std::size_t end = end_of_operand(tokens_, right + 2, kProduct);
      if (end <= value_.last && !tokens_.is(at, "*")) put_brackets(at + 1, end, 3);
      // Whole rounds of a size: without the division there is no part that is left out.
      if (tokens_.is(at, "/") && tokens_.is(right + 1, "*") && text(at + 1, right) == text(right + 2, end))
        put({{at - 1, end, text(at - 1, at - 1)}}, Code::tail_mask, 1);
    }
    const bool places = value_.kind == SourceValue::Kind::whole || value_.kind == SourceValue::Kind::memory;
    if (places && !tokens_.is(at, "*")) add_quotient(at, right);
    if (!places && tokens_.is(at, "/")) add_epsilon(at + 1, right);
    if (value_.kind == SourceValue::Kind::real && tokens_.is(at, "/") && is_whole(left, at - 1) &&
        is_whole(at + 1, right))
      put({{left, at - 1, "static_cast<float>(" + text(left, at - 1) + ")"}}, Code::rounding_mode, 1);
    if (places) add_variables(left, right);
  }

  /// A quotient or remainder of whole numbers by another size.
  void add_quotient(std::size_t at, std::size_t right) {
    const bool quotient = tokens_.is(at, "/");
    const std::string_view other = quotient ? "%" : "/";
    const std::string own = text(at + 1, right);
    if (tokens_.is(at + 1, "(") && tokens_[at + 1].partner == right) {
      const std::size_t divides =
          outside(at + 2, right - 1, [&](std::size_t i) { return tokens_.is(i, "/"); });
      if (divides != 0) {
        put({{at, right, fmt::format("{} {}", other, text(divides + 1, right - 1))}}, Code::layout_convention,
            2);
        put({{at, right, fmt::format("{} {}", other, text(at + 2, divides - 1))}}, Code::layout_convention,
            3);
      }
    }
  }

  /// What is divided by may have to be kept from being 0.
  void add_epsilon(std::size_t first, std::size_t last) {
    for (const CppVariable* each : places_.functions().in_scope(value_.first)) {
      if (!is_real_type(each->type) || each->name.find("eps") == std::string::npos) continue;
      bool own = false;
      for (std::size_t i = first; i <= last; ++i) own = own || tokens_.is(i, each->name);
      if (!own)
        put({{first, last, fmt::format("({} + {})", text(first, last), each->name)}}, Code::epsilon, 1);
    }
  }

  void add_sum(std::size_t at) {
    const std::size_t left = begin_of_operand(places_, at - 1, kProduct),
                      right = end_of_operand(tokens_, at + 1, kSum);
    if (left < value_.first || right > value_.last || !of_numbers(left, right)) return;
    const auto product = [&](std::size_t i) { return is_product(i); };
    // a * b + c as a * (b + c), and as (a + b) * c what is a + b * c.
    if (std::size_t times = outside(left, at - 1, product); times != 0) {
      while (const std::size_t next = outside(times + 1, at - 1, product)) times = next;
      put_brackets(times + 1, right, 2);
    }
    if (const std::size_t times = outside(at + 1, right, product); times != 0) {
      put_brackets(left, times - 1, 2);
      const std::size_t all = begin_of_operand(places_, at - 1, kSum);
      if (all >= value_.first && of_numbers(all, left)) put_brackets(all, times - 1, 3);
    }
    if (tokens_.is(at, "-")) {
      if (is_bracketed_sum(at + 1, right)) without_brackets(at + 1, right, 3);
      if (right < value_.last && is_sum(right + 1))
        put_brackets(at + 1, end_of_operand(tokens_, right + 2, kSum), 3);
    }
    // f(a) + b as f(a + b).
    if (tokens_.is(at - 1, ")") && tokens_.is(at, "+") && tokens_[at - 1].partner > value_.first &&
        is_among(kOfReal, tokens_.text(tokens_[at - 1].partner - 1)))
      put({{at - 1, at - 1, ""}, {right, right, text(right, right) + ")"}}, code_of(at + 1, right), 2);
    if (tokens_.is(at, "+") && is_small(at + 1, right))
      put({{begin_of_operand(places_, at - 1, kSum), right,
            fmt::format("fmaxf({}, {})", text(begin_of_operand(places_, at - 1, kSum), at - 1),
                        text(at + 1, right))}},
          Code::epsilon, 3);
  }

  /// `(1 << n) - 1` where `1 << n - 1` stands, which shifts by less.
  void add_shift(std::size_t at) {
    std::size_t shift = at;
    while (shift > value_.first && !tokens_.is(shift, "<<") && !tokens_.is(shift, ">>") &&
           !tokens_.is(shift, "?") && !tokens_.is(shift, ":") && !tokens_.is(shift, ","))
      shift = tokens_.is(shift, ")") && tokens_[shift].partner > 0 ? tokens_[shift].partner - 1 : shift - 1;
    if (!tokens_.is(shift, "<<") && !tokens_.is(shift, ">>")) return;
    const std::size_t left = begin_of_operand(places_, shift - 1, kSum);
    if (left >= value_.first) put_brackets(left, at - 1, 1);
  }

  /// Whether an epsilon stands there.
  bool is_small(std::size_t first, std::size_t last) const {
    if (first != last) return false;
    return tokens_.text(first).find("eps") != std::string_view::npos ||
           tokens_.text(first).find("EPS") != std::string_view::npos ||
           tokens_.text(first).find("e-") != std::string_view::npos;
  }
  Code code_of(std::size_t first, std::size_t last) const {
    return is_small(first, last) ? Code::epsilon : Code::wrong_expression;
  }

  void add_call(std::size_t open) {
    const std::size_t close = tokens_[open].partner;
    if (close <= open + 1 || close > value_.last || !tokens_.is_name(open - 1)) return;
    // f(a + b) as (f(a) + b).
    if (is_among(kOfReal, tokens_.text(open - 1)) && of_numbers(open + 1, close - 1))
      if (const std::size_t sum = sum_in(open + 1, close - 1); sum != 0)
        put({{open - 1, open - 1, "(" + text(open - 1, open - 1)},
             {sum - 1, sum - 1, text(sum - 1, sum - 1) + ")"}},
            code_of(sum + 1, close - 1), 2);
    if (!is_among(kLargest, tokens_.text(open - 1))) return;
    std::size_t comma = 0;
    for (std::size_t i = open + 1; i < close; ++i) {
      if ((tokens_.is(i, "(") || tokens_.is(i, "[")) && tokens_[i].partner > i) i = tokens_[i].partner;
      if (tokens_.is(i, ",")) comma = i;
    }
    if (comma != 0 && (is_small(comma + 1, close - 1) || is_small(open + 1, comma - 1)))
      put({{open - 1, open, "("}, {comma, comma, " +"}}, Code::epsilon, 3);
  }

  /// An element of memory that may have to be read as it was before it was written.
  void add_element(std::size_t open) {
    constexpr std::size_t kMost = 4;
    const CppVariable* memory = places_.functions().named(open - 1);
    const std::size_t close = tokens_[open].partner;
    if (memory == nullptr || close > value_.last) return;
    const std::string element = element_of(memory->type);
    if (!is_memory_of_numbers(memory->type) && element == memory->type) return;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(value_.first);
    std::size_t count = 0;
    // Another index; those of its own type are exchanged for it anyway.
    const CppVariable* index = close == open + 2 ? places_.functions().named(open + 1) : nullptr;
    for (auto it = scope.rbegin(); index != nullptr && it != scope.rend() && count < kMost; ++it)
      if (is_whole_type((*it)->type) && is_whole_type(index->type) && (*it)->type != index->type &&
          !places_.functions().is_parameter(**it) && (*it)->declared + 1 < value_.statement) {
        put({{open + 1, open + 1, (*it)->name}}, Code::wrong_expression, 2);
        ++count;
      }
    count = 0;
    for (auto it = scope.rbegin(); it != scope.rend() && count < kMost; ++it)
      if (((is_real_type((*it)->type) && is_memory_of_numbers(memory->type)) || (*it)->type == element) &&
          !places_.functions().is_parameter(**it) && (*it)->declared + 1 < value_.statement) {
        put({{open - 1, close, (*it)->name}}, Code::wrong_expression, 4);
        ++count;
      }
  }

  /// Two variables of one type, each in the other's place.
  void exchange_names() {
    constexpr std::size_t kMost = 6;
    std::vector<const CppVariable*> own = places_.functions().named_in(value_.first, value_.last);
    std::erase_if(own, [](const CppVariable* each) { return each->shared; });
    if (own.size() > kMost) return;
    for (std::size_t a = 0; a < own.size(); ++a)
      for (std::size_t b = a + 1; b < own.size(); ++b) {
        if (own[a]->type != own[b]->type || own[a]->type.find('[') != std::string::npos) continue;
        std::vector<Part> parts;
        for (std::size_t i = value_.first; i <= value_.last; ++i) {
          const CppVariable* named = places_.functions().named(i);
          if (named == own[a] || named == own[b])
            parts.push_back({i, i, named == own[a] ? own[b]->name : own[a]->name});
        }
        put(std::move(parts), Code::argument_order, 2);
      }
  }

  /// Two parts of vectors, each in the other's place.
  void exchange_members() {
    std::map<std::string, std::vector<std::size_t>> places;
    for (std::size_t i = value_.first + 2; i <= value_.last; ++i)
      if (tokens_.is(i - 1, ".") && places_.functions().named(i - 2) != nullptr)
        for (const char* each : {"x", "y", "z", "w"})
          if (tokens_.is(i, each)) places[each].push_back(i);
    for (auto one = places.begin(); one != places.end(); ++one)
      for (auto other = std::next(one); other != places.end(); ++other) {
        std::vector<Part> parts;
        for (const std::size_t i : one->second) parts.push_back({i, i, other->first});
        for (const std::size_t i : other->second) parts.push_back({i, i, one->first});
        put(std::move(parts), Code::argument_order, 2);
      }
  }

  /// A loop that begins with another number than 0.
  void add_begin() {
    constexpr std::size_t kMost = 5;
    if (value_.first != value_.last || !tokens_.is(value_.first, "0")) return;
    std::vector<std::string> counts, bounds;
    const std::vector<const CppVariable*> scope = places_.functions().in_scope(value_.first);
    for (auto it = scope.rbegin(); it != scope.rend(); ++it) {
      if (!is_whole_type((*it)->type) || (*it)->declared >= value_.statement) continue;
      const bool parameter = places_.functions().is_parameter(**it);
      if (parameter && bounds.size() < kMost) bounds.push_back((*it)->name);
      if (!parameter && counts.size() < kMost) counts.push_back((*it)->name);
    }
    // Constants of the file are sizes, too.
    for (std::size_t i = value_.first; i < value_.last + 24 && !tokens_.is(i, ")"); ++i)
      if (tokens_.is_name(i) && places_.functions().named(i) == nullptr && !tokens_.is(i - 1, ".") &&
          tokens_.text(i).front() >= 'A' && tokens_.text(i).front() <= 'Z')
        bounds.push_back(text(i, i));
    for (const std::string& count : counts)
      put({{value_.first, value_.last, count}}, Code::wrong_expression, 3);
    for (const std::string& count : counts)
      for (const std::string& size : bounds)
        put({{value_.first, value_.last, count + " * " + size}}, Code::wrong_expression, 4);
  }

  const EditPlaces& places_;
  const CppTokens& tokens_;
  const SourceValue& value_;
  ChangedValues& changed_;
};

/// Values of one kind that stand near each other, each in the other's place.
void exchange_values(const EditPlaces& places, const std::vector<SourceValue>& values,
                     ChangedValues& changed) {
  constexpr std::size_t kNear = 5;
  const CppTokens& tokens = places.tokens();
  const auto names = [&](const SourceValue& value) {
    return places.functions().named_in(value.first, value.last);
  };
  for (std::size_t a = 0; a < values.size(); ++a)
    for (std::size_t b = a + 1; b < std::min(values.size(), a + 1 + kNear); ++b) {
      const SourceValue &one = values[a], &other = values[b];
      if (one.name.empty() || other.name.empty() || one.target != other.target || one.begins_loop ||
          other.begins_loop || tokens.text(one.first, one.last) == tokens.text(other.first, other.last))
        continue;
      bool apart = false;
      for (std::size_t i = one.last; i < other.first; ++i)
        apart = apart || tokens.is(i, "{") || tokens.is(i, "}") || tokens.is(i, "for") || tokens.is(i, "if");
      const std::vector<const CppVariable*> second = names(other);
      for (const CppVariable* each : second)
        apart = apart || each->declared >= one.first || each->name == one.name;
      for (const CppVariable* each : names(one)) apart = apart || each->last < other.last;
      if (!apart) changed.exchange(one, other, Code::argument_order, 2);
    }
}

/// Bytes that are read with a sign, or without, wherever one variable is read.
void add_signs_of_bytes(const EditPlaces& places, const std::vector<SourceValue>& values,
                        ChangedValues& changed) {
  const CppTokens& tokens = places.tokens();
  struct Reads {
    std::string cast;
    std::vector<std::pair<SourceValue, std::vector<Part>>> list;
  };
  std::map<const CppVariable*, Reads> reads;
  for (const SourceValue& value : values) {
    std::map<const CppVariable*, std::vector<Part>> own;
    for (std::size_t i = value.first; i < value.last; ++i) {
      const CppVariable* named = places.functions().named(i);
      if (named == nullptr || !tokens.is(i + 1, "[") || tokens[i + 1].partner > value.last) continue;
      const bool without = named->type.find("uint8_t *") != std::string::npos ||
                           named->type.find("unsigned char *") != std::string::npos;
      const bool with = !without && (named->type.find("int8_t *") != std::string::npos ||
                                     named->type.find("signed char *") != std::string::npos);
      if (!with && !without) continue;
      reads[named].cast = without ? "(signed char)" : "(unsigned char)";
      own[named].push_back(
          {i, tokens[i + 1].partner, reads[named].cast + std::string(tokens.text(i, tokens[i + 1].partner))});
    }
    for (auto& [named, parts] : own) reads[named].list.emplace_back(value, std::move(parts));
  }
  constexpr std::size_t kMost = 12;
  for (const auto& [named, each] : reads)
    if (each.list.size() <= kMost) changed.add(each.list, Code::wrong_expression, 2);
}

}  // namespace

void add_rewrites(EditPlaces& places) {
  const std::vector<SourceValue> values = values_of(places);
  ChangedValues changed(places);
  for (const SourceValue& value : values) Rewriting(places, value, changed).add();
  exchange_values(places, values, changed);
  add_signs_of_bytes(places, values, changed);
  add_siblings(places, values, changed);
  add_terms(places, values, changed);
  add_crossed(places, values, changed);
  add_calls(places, values, changed);
  add_repeated(places, values, changed);
  add_lacked(places, values, changed);
  add_reals(places, values, changed);
  add_dimensions(places, values, changed);
  add_operations(places, values, changed);
  add_nested(places, values, changed);
  changed.write();
}

}  // namespace isomer::lab
