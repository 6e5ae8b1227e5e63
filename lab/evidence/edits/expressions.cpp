#include "lab/evidence/edits/numbers.hpp"
#include "lab/evidence/edits/operands.hpp"
#include "lab/evidence/edits/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

/// Whether a pointer is held against 0 there.
bool is_null_test(const EditPlaces& places, std::size_t at) {
  const CppTokens& tokens = places.tokens();
  if (at == 0 || (!tokens.is(at, "==") && !tokens.is(at, "!="))) return false;
  const auto is_pointer = [&](std::size_t i) {
    const CppVariable* named = places.functions().named(i);
    return named != nullptr && named->type.find('*') != std::string::npos;
  };
  const auto is_null = [&](std::size_t i) {
    return tokens.is(i, "0") || tokens.is(i, "NULL") || tokens.is(i, "nullptr");
  };
  return (is_null(at + 1) && is_pointer(at - 1)) || (is_null(at - 1) && is_pointer(at + 1));
}

/// Whether a real number stands there, which no count is.
bool is_real(const EditPlaces& places, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i) {
    const CppVariable* named = places.functions().named(i);
    if (places.tokens()[i].kind == CppToken::Kind::number
            ? is_real_number(std::string(places.tokens().text(i)))
            : places.tokens().is(i, "float") || places.tokens().is(i, "double") ||
                  (named != nullptr && is_real_type(named->type)))
      return true;
  }
  return false;
}

void add_operator(EditPlaces& places, std::size_t at) {
  const CppTokens& tokens = places.tokens();
  const ExchangedOperator* op = operator_of(tokens.text(at));
  if (op == nullptr || at == 0 || !places.open(at) || !ends_value(places, at - 1)) return;
  if (begins_arguments(tokens, at) || ends_arguments(tokens, at) || is_null_test(places, at)) return;
  const std::size_t first = begin_of_operand(places, at - 1, op->binds),
                    last = end_of_operand(tokens, at + 1, op->binds);
  const int number = places.next();
  for (const char* const word : op->others) {
    if (word == nullptr) continue;
    const std::string_view other = word;
    const std::string left(tokens.text(first, at - 1)), right(tokens.text(at + 1, last));
    const bool compares = op->binds <= 2;
    // One off is likelier than the opposite, and another operator than a part that is too much.
    const bool one_off = compares && op->binds == 2 && (op->word.front() == other.front());
    const Code code = one_off    ? Code::off_by_one
                      : compares ? Code::inverted_condition
                                 : Code::wrong_expression;
    const int rank = one_off || other == "!=" || other == "==" ? 0 : compares ? 3 : 2;
    if (other.empty())
      places.add({{at, last, ""}}, code, rank);
    else if (other == "right")
      places.add({{first, at + 1, std::string(tokens.text(at + 1))}}, code, rank);
    else if (other == "exchanged")
      places.add({{first, last, right + " - " + left}}, code, rank);
    else if (other == "up" && is_real(places, first, last))
      continue;
    else if (other == "up")
      places.add({{first, last, fmt::format("({} + {} - 1) / {}", left, right, right)}}, Code::tail_mask, 1);
    else
      places.add({{at, at, std::string(other)}}, code, rank);
  }
  places.replace(at, fmt::format("{} isomer_edits::{}{{{}}} {}", op->word, op->name, number, op->word));
}

/// Whether a number is the null stream, or no shared memory, of a launch or a copy.
bool is_nothing_of_launch(const CppTokens& tokens, std::size_t at) {
  if (!tokens.is(at, "0") || at == 0 || !tokens.is(at - 1, ",")) return false;
  for (std::size_t i = at; i-- > 0 && !tokens.is(i, ";") && !tokens.is(i, "{");)
    if (tokens.is(i, "<<<") || tokens.is(i, "hipLaunchKernelGGL") || tokens.text(i).ends_with("Async"))
      return true;
  return false;
}

/// Whether a variable begins with 0 or 1 there, or is bounded by it: another variable may have been meant.
bool is_first_or_bound(const EditPlaces& places, std::size_t at) {
  const CppTokens& tokens = places.tokens();
  const std::string_view word = tokens.text(at);
  if (word.substr(0, 1) != "0" && word.substr(0, 1) != "1") return false;
  if (tokens.is(at - 1, "=") && (tokens.is(at + 1, ";") || tokens.is(at + 1, ","))) return true;
  std::size_t open = at;
  while (open > 0 && !tokens.is(open, "(") && !tokens.is(open, ";") && !tokens.is(open, "{"))
    open = tokens.is(open, ")") && tokens[open].partner > 0 ? tokens[open].partner - 1 : open - 1;
  return open > 0 && (tokens.text(open - 1).ends_with("min") || tokens.text(open - 1).ends_with("max") ||
                      tokens.text(open - 1).ends_with("fminf") || tokens.text(open - 1).ends_with("fmaxf"));
}

/// Parameters that a number may stand for, those that nothing uses first, and the rank of each.
std::vector<std::pair<std::string, int>> names_for_number(const EditPlaces& places, std::size_t at,
                                                          bool real) {
  const bool wide = is_first_or_bound(places, at);
  const std::size_t most = wide ? 8 : 3;
  std::vector<std::pair<std::string, int>> names;
  const bool launch = places.tokens().is(at - 1, ",") && places.tokens().is(at + 1, ">>>");
  for (const CppVariable* each : places.functions().in_scope(at)) {
    const bool fits = is_real_type(each->type) || (!real && is_whole_type(each->type));
    if (!fits || launch || each->declared + 1 >= at) continue;
    const bool used = places.functions().is_used(*each);
    if (!used || ((wide || places.functions().is_parameter(*each)) && is_real_type(each->type) == real))
      names.emplace_back(each->name, used ? 3 : 1);
  }
  std::stable_sort(names.begin(), names.end(),
                   [](const auto& a, const auto& b) { return a.second < b.second; });
  if (names.size() > most) names.resize(most);
  return names;
}

void add_number(EditPlaces& places, std::size_t at) {
  const CppTokens& tokens = places.tokens();
  if (tokens[at].kind != CppToken::Kind::number || !places.open(at) || is_nothing_of_launch(tokens, at))
    return;
  // A pointer to nothing.
  if (is_null_test(places, at + 1) || (at > 0 && is_null_test(places, at - 1))) return;
  if (at > 2 && tokens.is(at - 1, "=") && tokens.is(at - 3, "*") &&
      places.functions().is_declared_here(at - 2))
    return;
  const std::string text(tokens.text(at));
  const bool real = is_real_number(text);
  std::vector<std::string> others = other_numbers(text);
  const std::vector<std::string> of_label = places.absent().near(text);
  others.insert(others.end(), of_label.begin(), of_label.end());
  if (others.empty()) return;
  const int number = places.next();
  std::string list = text;
  const double own = real ? std::strtod(text.c_str(), nullptr) : 0;
  for (std::size_t i = 0; i < others.size(); ++i) {
    list += ", " + others[i];
    // A step of a tree.
    // One of a few that are named by their numbers.
    const bool chosen = at > 0 && tokens.is(at - 1, "[") && tokens.is(at + 1, "]");
    const bool halves = at > 0 && (tokens.is(at - 1, ">>=") || tokens.is(at - 1, "/="));
    // A quotient or a product by one is none.
    const bool none = at > 0 && (others[i] == "1" || text == "1" || others[i] == "0") &&
                      (tokens.is(at - 1, "/") || tokens.is(at - 1, "*"));
    const Code code = real && own > 0 && own < 0.01 ? Code::epsilon
                      : halves                      ? Code::other_reduction
                      : none                        ? Code::wrong_expression
                      : !real && i < 2 && !chosen   ? Code::off_by_one
                                                    : Code::wrong_expression;
    // Another divisor of a test for a remainder only chooses another way.
    const bool of_remainder =
        at > 0 && tokens.is(at - 1, "%") && (tokens.is(at + 1, "==") || tokens.is(at + 1, "!="));
    places.add({{at, at, others[i]}}, code,
               of_remainder                                    ? 4
               : i < 2 || i + of_label.size() >= others.size() ? 1
                                                               : 2);
  }
  const bool negative = at > 1 && tokens.is(at - 1, "-") && !ends_value(places, at - 2);
  for (const auto& [name, rank] : names_for_number(places, at, real)) {
    if (negative) {
      const int edit = places.add({{at - 1, at, name}}, Code::wrong_expression, rank);
      places.surround(at - 1, at, fmt::format("isomer_edits::swapped({}, ", edit), ", " + name + ")");
      continue;
    }
    list += ", " + name;
    places.add({{at, at, name}}, Code::wrong_expression, rank);
  }
  places.replace(at, fmt::format("isomer_edits::value({}, {})", number, list));
}

/// The least and the largest numbers of a type, which maxima and minima begin with.
void add_limit(EditPlaces& places, std::size_t at) {
  const CppTokens& tokens = places.tokens();
  if (!places.open(at) || !tokens.is_name(at)) return;
  std::size_t first = at, last = at;
  std::string_view word = tokens.text(at);
  std::vector<std::string> others;
  if (word == "FLT_MIN") {
    others = {"-FLT_MAX", "-INFINITY"};
  } else if (word == "FLT_MAX" || word == "INFINITY") {
    if (at > 0 && tokens.is(at - 1, "-")) {
      first = at - 1;
      others = {"0.0f", std::string(word)};
    } else {
      others = {"-" + std::string(word), "0.0f"};
    }
  } else if (word == "INT_MIN" || word == "INT_MAX") {
    others = {word == "INT_MIN" ? "INT_MAX" : "INT_MIN", "0"};
  } else if (word == "numeric_limits" && tokens.is(at + 1, "<") && tokens.is(at + 3, ">") &&
             tokens.is(at + 4, "::") && tokens.is(at + 6, "(") && tokens.is(at + 7, ")")) {
    first = at > 1 && tokens.is(at - 1, "::") ? at - 2 : at;
    last = at + 7;
    if (first > 0 && tokens.is(first - 1, "-")) --first;
    const std::string of(tokens.text(first, at + 4));
    const bool least = tokens.is(at + 5, "min") || tokens.is(at + 5, "lowest");
    const std::string bare = of[0] == '-' ? of.substr(1) : of;
    if (least) others = {bare + "lowest()", "-" + bare + "infinity()"};
    if (tokens.is(at + 5, "max") || tokens.is(at + 5, "infinity")) others = {bare + "lowest()"};
  }
  std::erase_if(others, [&](const std::string& each) { return each == tokens.text(first, last); });
  // The operator before what is subtracted is no sign.
  if (others.empty() || (first < at && tokens.is(first, "-") && first > 0 && ends_value(places, first - 1)))
    return;
  const int number = places.next();
  std::string list;
  for (const std::string& each : others) {
    // The least number above 0 is a bound of what is compared with it.
    places.add({{first, last, each}}, word == "FLT_MIN" ? Code::wrong_expression : Code::other_reduction, 1);
    list += ", " + each;
  }
  places.surround(first, last, fmt::format("isomer_edits::value({}, ", number), list + ")");
}

/// Another axis of a thread's, block's or grid's numbers.
void add_axis(EditPlaces& places, std::size_t at) {
  const CppTokens& tokens = places.tokens();
  constexpr std::array<std::string_view, 4> kNumbers = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
  if (!places.open(at) || !tokens.is(at + 1, ".") || !tokens.is_name(at + 2) ||
      std::find(kNumbers.begin(), kNumbers.end(), tokens.text(at)) == kNumbers.end())
    return;
  std::string chosen;
  for (const std::string_view number : kNumbers)
    for (const std::string_view axis : {"x", "y", "z"}) {
      const bool same = number == tokens.text(at);
      const std::string text = fmt::format("{}.{}", number, axis);
      // Another axis of the same, or the same axis of a size for a size.
      const bool sizes = (number == "blockDim" || number == "gridDim") &&
                         (tokens.is(at, "blockDim") || tokens.is(at, "gridDim"));
      if ((same && axis == tokens.text(at + 2)) || (!same && (axis != tokens.text(at + 2) || !sizes)))
        continue;
      const int edit = places.add({{at, at + 2, text}}, Code::wrong_expression, 2);
      chosen += fmt::format("isomer_edits::chosen({}) ? {} : ", edit, text);
    }
  constexpr std::size_t kMost = 5;
  std::size_t count = 0;
  const std::vector<const CppVariable*> scope = places.functions().in_scope(at);
  for (auto it = scope.rbegin(); it != scope.rend() && count < kMost; ++it) {
    if (!is_whole_type((*it)->type) || (*it)->declared + 1 >= at || places.functions().is_parameter(**it))
      continue;
    const int edit = places.add({{at, at + 2, (*it)->name}}, Code::wrong_expression, 2);
    chosen += fmt::format("isomer_edits::chosen({}) ? decltype({}.{})({}) : ", edit, tokens.text(at),
                          tokens.text(at + 2), (*it)->name);
    ++count;
  }
  if (!chosen.empty()) places.surround(at, at + 2, "(" + chosen, ")");
}

/// Functions that are mistaken for each other; "" is the argument itself.
struct Mistaken {
  std::string_view name;
  std::vector<std::string_view> others;
  Code code;
};

const std::vector<Mistaken>& mistaken() {
  static const std::vector<Mistaken> list = {
      {"fmaxf", {"fminf"}, Code::other_reduction},
      {"fminf", {"fmaxf"}, Code::other_reduction},
      {"max", {"min"}, Code::other_reduction},
      {"min", {"max"}, Code::other_reduction},
      {"fmax", {"fmin"}, Code::other_reduction},
      {"fmin", {"fmax"}, Code::other_reduction},
      {"expf", {"exp2f", "", "expm1f"}, Code::log_base},
      {"__expf", {"exp2f", "", "expm1f"}, Code::log_base},
      {"exp", {"exp2", "", "expm1"}, Code::log_base},
      {"exp2f", {"expf", ""}, Code::log_base},
      {"exp2", {"exp", ""}, Code::log_base},
      {"logf", {"log2f", "", "log1pf", "log10f"}, Code::log_base},
      {"__logf", {"log2f", "", "log1pf"}, Code::log_base},
      {"log", {"log2", "", "log10", "log1p"}, Code::log_base},
      {"log10", {"log", "log2"}, Code::log_base},
      {"log10f", {"logf", "log2f"}, Code::log_base},
      {"std::log10", {"std::log", "std::log2"}, Code::log_base},
      {"std::log", {"std::log2", "std::log10", "std::log1p"}, Code::log_base},
      {"std::exp", {"std::exp2", "std::expm1"}, Code::log_base},
      {"std::floor", {"std::ceil", "std::round"}, Code::rounding_mode},
      {"std::ceil", {"std::floor", "std::round"}, Code::rounding_mode},
      {"std::round", {"std::rint", "std::trunc"}, Code::rounding_mode},
      {"std::max", {"std::min"}, Code::other_reduction},
      {"std::min", {"std::max"}, Code::other_reduction},
      {"log2f", {"logf", ""}, Code::log_base},
      {"log2", {"log", ""}, Code::log_base},
      {"log1pf", {"logf"}, Code::missing_term},
      {"floorf", {"ceilf", "rintf", "truncf", "roundf"}, Code::rounding_mode},
      {"floor", {"ceil", "rint", "trunc"}, Code::rounding_mode},
      {"ceilf", {"floorf", "rintf", "truncf"}, Code::rounding_mode},
      {"roundf", {"rintf", "truncf", "floorf", "ceilf"}, Code::rounding_mode},
      {"rintf", {"roundf", "truncf", "floorf", "ceilf"}, Code::rounding_mode},
      {"nearbyintf", {"roundf", "truncf", "floorf", "ceilf"}, Code::rounding_mode},
      {"truncf", {"rintf", "roundf", "floorf"}, Code::rounding_mode},
      {"sqrtf", {"rsqrtf", ""}, Code::wrong_expression},
      {"rsqrtf", {"sqrtf", ""}, Code::wrong_expression},
      {"fabsf", {""}, Code::wrong_expression},
      {"fabs", {""}, Code::wrong_expression},
      {"abs", {""}, Code::wrong_expression},
      {"sinf", {"cosf"}, Code::wrong_expression},
      {"cosf", {"sinf"}, Code::wrong_expression},
      {"tanhf", {"erff", ""}, Code::wrong_expression},
      {"erff", {"tanhf"}, Code::wrong_expression},
      {"__shfl_down_sync", {"__shfl_xor_sync", "__shfl_up_sync"}, Code::other_reduction},
      {"__shfl_up_sync", {"__shfl_down_sync", "__shfl_xor_sync"}, Code::wrong_expression},
      {"__shfl_xor_sync", {"__shfl_down_sync"}, Code::other_reduction},
      {"__any_sync", {"__all_sync"}, Code::inverted_condition},
      {"__all_sync", {"__any_sync"}, Code::inverted_condition}};
  return list;
}

/// Whether a function is one of a single real number.
bool takes_one(std::string_view name) {
  constexpr std::array<std::string_view, 12> kOfOne = {"expf",  "__expf", "exp2f", "logf", "__logf", "log2f",
                                                       "sqrtf", "rsqrtf", "sinf",  "cosf", "tanhf",  "erff"};
  return std::find(kOfOne.begin(), kOfOne.end(), name) != kOfOne.end();
}

/// The comma of a call of two arguments, by its opening parenthesis; 0 where it has another number of them.
std::size_t comma_of_two(const CppTokens& tokens, std::size_t open) {
  std::size_t comma = 0;
  for (std::size_t i = open + 1; i < tokens[open].partner; ++i) {
    if ((tokens.is(i, "(") || tokens.is(i, "[") || tokens.is(i, "{")) && tokens[i].partner > i)
      i = tokens[i].partner;
    else if (tokens.is(i, ",") && std::exchange(comma, i) != 0)
      return 0;
  }
  return comma;
}

/// One argument of a minimum or maximum in place of it: a bound that is too much.
std::string without_bounds(EditPlaces& places, std::size_t at, std::string_view name) {
  const CppTokens& tokens = places.tokens();
  if (name.find("min") == std::string_view::npos && name.find("max") == std::string_view::npos) return {};
  const std::size_t close = tokens[at + 1].partner, comma = comma_of_two(tokens, at + 1);
  if (comma <= at + 2 || comma + 1 >= close) return {};
  std::string chosen;
  for (const bool first : {true, false}) {
    const int edit = places.add(
        {{at, close,
          std::string(first ? tokens.text(at + 2, comma - 1) : tokens.text(comma + 1, close - 1))}},
        Code::clamp, 2);
    chosen += fmt::format("if (isomer_edits::chosen({})) return decltype({}(v...))(isomer_edits::{}(v...)); ",
                          edit, name, first ? "first" : "second");
  }
  return chosen;
}

/// Edits that exchange a function wherever one body calls it, by the tokens of its calls: what moves values
/// between threads is one matter in all of its steps.
using EverywhereEdits = std::map<std::size_t, std::vector<std::pair<int, std::string_view>>>;

EverywhereEdits everywhere(EditPlaces& places) {
  const CppTokens& tokens = places.tokens();
  EverywhereEdits edits;
  for (const Mistaken& each : mistaken()) {
    if (!each.name.starts_with("__shfl")) continue;
    std::map<std::size_t, std::vector<std::size_t>> calls;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens.is(i, each.name) && tokens.is(i + 1, "(") && places.open(i))
        calls[places.functions().body_of(i)].push_back(i);
    for (const auto& [body, list] : calls) {
      if (list.size() < 2) continue;
      for (const std::string_view other : each.others) {
        std::vector<EditPlaces::Part> parts;
        for (const std::size_t i : list) parts.push_back({i, i, std::string(other)});
        const int edit = places.add(std::move(parts), each.code, 1);
        for (const std::size_t i : list) edits[i].emplace_back(edit, other);
      }
    }
  }
  return edits;
}

/// Whether a minimum or maximum bounds a value by a number, and is none of many.
bool bounds_by_number(const CppTokens& tokens, std::size_t open) {
  const std::size_t close = tokens[open].partner, comma = comma_of_two(tokens, open);
  const auto is_number = [&](std::size_t first, std::size_t last) {
    if (tokens.is(first, "-")) ++first;
    return first == last && tokens[first].kind == CppToken::Kind::number;
  };
  return comma > open + 1 && comma + 1 < close &&
         (is_number(open + 1, comma - 1) || is_number(comma + 1, close - 1));
}

void add_function(EditPlaces& places, std::size_t at, const EverywhereEdits& everywhere) {
  const CppTokens& tokens = places.tokens();
  if (!tokens.is_name(at) || !tokens.is(at + 1, "(") || !places.open(at)) return;
  if (at > 0 && (tokens.is(at - 1, ".") || tokens.is(at - 1, "->"))) return;
  const bool qualified = at > 0 && tokens.is(at - 1, "::");
  if (qualified &&
      (at < 2 || !tokens.is(at - 2, "std") || (at > 2 && tokens.is(at - 3, "::")) || tokens.is(at + 2, "{")))
    return;
  const std::size_t first = qualified ? at - 2 : at;
  const std::string own = qualified ? "std::" + std::string(tokens.text(at)) : std::string(tokens.text(at));
  const auto found = std::find_if(mistaken().begin(), mistaken().end(),
                                  [&](const Mistaken& each) { return each.name == own; });
  if (found == mistaken().end()) return;
  std::string chosen;
  if (takes_one(found->name))
    for (const std::string& other : places.label().functions) {
      const auto known = std::find(found->others.begin(), found->others.end(), other);
      if (other == found->name || known != found->others.end()) continue;
      const int edit = places.add({{first, at, other}}, Code::approximation, 2);
      chosen += fmt::format("if (isomer_edits::chosen({})) return decltype({}(v...))({}(v...)); ", edit,
                            found->name, other);
    }
  for (const std::string_view other : found->others) {
    const bool bounds = found->code == Code::other_reduction && bounds_by_number(tokens, at + 1);
    // With another base it is another function; with the 1 it is the same one with a term.
    const bool term =
        other.find("expm1") != std::string_view::npos || other.find("log1p") != std::string_view::npos;
    const int edit = places.add({{first, at, std::string(other)}},
                                bounds ? Code::clamp
                                : term ? Code::missing_term
                                       : found->code,
                                other.empty() ? 3 : 1);
    chosen += fmt::format("if (isomer_edits::chosen({})) return decltype({}(v...))({}(v...)); ", edit,
                          found->name, other.empty() ? "isomer_edits::first" : other);
  }
  if (const auto all = everywhere.find(at); all != everywhere.end())
    for (const auto& [edit, other] : all->second)
      chosen += fmt::format("if (isomer_edits::chosen({})) return decltype({}(v...))({}(v...)); ", edit,
                            found->name, other);
  chosen += without_bounds(places, at, found->name);
  for (std::size_t i = first; i < at; ++i) places.replace(i, "");
  places.replace(at, fmt::format("([&](auto&&... v) {{ {}return {}(v...); }})", chosen, found->name));
}

}  // namespace

void add_expressions(EditPlaces& places) {
  const EverywhereEdits exchanged = everywhere(places);
  for (std::size_t i = 0; i < places.tokens().size(); ++i) {
    add_operator(places, i);
    add_number(places, i);
    add_limit(places, i);
    add_axis(places, i);
    add_function(places, i, exchanged);
  }
}

}  // namespace isomer::lab
