#include "lab/evidence/edits/rebuilt.hpp"

#include "lab/evidence/edits/numbers.hpp"
#include "lab/evidence/edits/places.hpp"
#include "lab/evidence/edits/variables.hpp"
#include "lab/text/cpp_tokens.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

namespace isomer::lab {
namespace {

constexpr std::size_t kMostOfNumber = 5;   ///< others of one constant
constexpr std::size_t kLongestTable = 64;  ///< elements of a table of which neighbours change places

struct TypeExchanged {
  std::string_view from, to;
  Code code;
  int rank;
};

// Sums in few bits, places that are too large for theirs, bytes and quotients with or without a sign or a
// fraction.
constexpr std::array<TypeExchanged, 14> kTypes = {{
    {"half", "float", Code::intermediate_precision, 0},
    {"__half", "float", Code::intermediate_precision, 0},
    {"__nv_bfloat16", "float", Code::intermediate_precision, 0},
    {"__hip_bfloat16", "float", Code::intermediate_precision, 0},
    {"hip_bfloat16", "float", Code::intermediate_precision, 0},
    {"uint8_t", "int8_t", Code::wrong_expression, 1},
    {"int8_t", "uint8_t", Code::wrong_expression, 1},
    {"uint16_t", "int16_t", Code::wrong_expression, 1},
    {"int16_t", "uint16_t", Code::wrong_expression, 1},
    {"unsigned", "int", Code::wrong_expression, 2},
    {"uint32_t", "int32_t", Code::wrong_expression, 2},
    {"int", "float", Code::wrong_expression, 2},
    {"int", "long long", Code::index_overflow, 3},
    {"float", "double", Code::intermediate_precision, 4},
}};

class Rebuilt {
 public:
  Rebuilt(const std::string& source, const OfLabel& label)
      : source_(source),
        label_(label),
        tokens_(source),
        functions_(tokens_),
        absent_(label.numbers, tokens_) {}

  std::vector<RebuiltEdit> all() && {
    add_macros();
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is_constant(i)) add_constant(i);
      if (tokens_.is(i, "{") && i > 0 && (tokens_.is(i - 1, "=") || tokens_.is(i - 1, "]"))) add_table(i);
      if (tokens_.is(i, "{") && i > 0 && functions_.in_body(i) &&
          (tokens_.is_name(i - 1) || tokens_.is(i - 1, "=")))
        add_members(i);
      if (tokens_.is(i, "enum")) add_enumerators(i);
      if (functions_.begins_declaration(i) || is_parameter(i)) add_type(i);
      if (tokens_.is(i, "<") && i > 0 && tokens_.is_name(i - 1)) add_template_arguments(i);
      if (tokens_.is(i, "(") && functions_.in_body(i) && is_macro(i - 1)) add_macro_arguments(i);
      if (tokens_[i].kind == CppToken::Kind::number && i > 1 && tokens_.is(i - 1, "=") &&
          tokens_.is(i - 2, ")"))
        add_default(i);
      if (tokens_[i].kind == CppToken::Kind::number && tokens_.is(i - 1, "=") && !functions_.in_body(i) &&
          (tokens_.is(i + 1, ",") || tokens_.is(i + 1, ")")))
        add_number(i, 1);  // what an argument is by default
    }
    std::stable_sort(list_.begin(), list_.end(),
                     [](const RebuiltEdit& a, const RebuiltEdit& b) { return a.edit.rank < b.edit.rank; });
    return std::move(list_);
  }

 private:
  struct Part {
    std::size_t begin, end;  ///< bytes
    std::string text;
  };

  void add(int line, std::vector<Part> parts, Code code, int rank) {
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
    const std::size_t from = source_.rfind('\n', parts.front().begin) + 1,
                      to = std::min(source_.find('\n', parts.front().begin), source_.size());
    std::string made;
    std::size_t at = 0;
    for (const Part& part : parts) {
      if (part.begin < std::max(at, from) || part.end > to) return;
      made += source_.substr(at, part.begin - at) + part.text;
      at = part.end;
    }
    const std::size_t rest = source_.size() - to;
    made += source_.substr(at);
    Exchange edit;
    edit.line = line;
    edit.code = code;
    edit.rank = rank;
    edit.was = without_spaces(std::string_view(source_).substr(from, to - from));
    edit.becomes = without_spaces(std::string_view(made).substr(from, made.size() - rest - from));
    if (edit.was != edit.becomes && known_.insert(fmt::format("{} {}", line, edit.becomes)).second)
      list_.push_back({std::move(edit), std::move(made)});
  }

  void add(std::size_t token, std::string text, Code code, int rank) {
    add(tokens_[token].line, {{tokens_[token].begin, tokens_[token].end, std::move(text)}}, code, rank);
  }

  /// What a number becomes that begins there.
  void add_numbers(int line, std::size_t begin, const std::string& text, int rank) {
    const bool epsilon = is_real_number(text) && std::strtod(text.c_str(), nullptr) < 0.01 &&
                         std::strtod(text.c_str(), nullptr) > 0;
    std::vector<std::string> others = other_numbers(text);
    // Sides of tiles are doubled or halved rather than one more.
    if (!is_real_number(text) && others.size() > 3 && std::atoi(text.c_str()) > 8)
      std::rotate(others.begin(), others.begin() + 2, others.begin() + 4);
    // Of an epsilon other epsilons, and not its multiples.
    if (epsilon && others.size() > 8) others.erase(others.begin(), others.begin() + 3);
    if (others.size() > (epsilon ? 2 * kMostOfNumber : kMostOfNumber))
      others.resize(epsilon ? 2 * kMostOfNumber : kMostOfNumber);
    // Rather a factor than how many threads or elements there are.
    if (!is_real_number(text)) rank += std::atoi(text.c_str()) > 8 ? 2 : 1;
    const auto put = [&](const std::string& other, int likely) {
      add(line, {{begin, begin + text.size(), other}}, epsilon ? Code::epsilon : Code::wrong_expression,
          likely);
    };
    for (const std::string& each : absent_.near(text)) put(each, is_nearly(each, text) ? kMistyped : rank);
    for (const std::string& each : others) put(each, rank);
  }

  void add_number(std::size_t token, int rank) {
    add_numbers(tokens_[token].line, tokens_[token].begin, std::string(tokens_.text(token)), rank);
  }

  void add_macros() {
    static const Pattern defined(
        "^\\s*#\\s*define\\s+\\w+\\s+\\(?\\s*-?([\\d.][\\w.]*(?:[eE][-+]\\d+[fF]?)?)\\)?\\s*(?://.*)?$");
    int line = 1;
    for (std::size_t at = 0; at < source_.size(); ++line) {
      const std::size_t end = std::min(source_.find('\n', at), source_.size());
      const std::string text = source_.substr(at, end - at);
      if (const auto found = defined.find(text)) {
        const std::string number = (*found)[1];
        add_numbers(line, at + text.rfind(number), number, 0);
      }
      at = end + 1;
    }
  }

  /// Whether a whole number is declared there as what a function is given.
  bool is_parameter(std::size_t i) const {
    return i > 0 && tokens_.is(i, "int") && (tokens_.is(i - 1, "(") || tokens_.is(i - 1, ",")) &&
           tokens_.is_name(i + 1) && functions_.is_declared_here(i + 1) &&
           (tokens_.is(i + 2, ",") || tokens_.is(i + 2, ")"));
  }

  /// Whether a constant is declared there: behind that word everything is known when it is compiled.
  bool is_constant(std::size_t i) const {
    if (tokens_.is(i, "constexpr")) return true;
    return tokens_.is(i, "const") && !functions_.in_body(i) &&
           (i == 0 || tokens_.is(i - 1, ";") || tokens_.is(i - 1, "}") || tokens_.is(i - 1, "static"));
  }

  void add_constant(std::size_t first) {
    std::size_t at = first;
    while (at < tokens_.size() && !tokens_.is(at, "=") && !tokens_.is(at, ";") && !tokens_.is(at, "(")) ++at;
    if (!tokens_.is(at, "=") || tokens_.is(at + 1, "{")) return;
    for (; at < tokens_.size() && !tokens_.is(at, ";"); ++at) {
      if (tokens_[at].kind == CppToken::Kind::number) add_number(at, 0);
      if (tokens_.is(at, "true") || tokens_.is(at, "false"))
        add(at, tokens_.is(at, "true") ? "false" : "true", Code::wrong_expression, 0);
    }
  }

  void add_table(std::size_t open) {
    const std::vector<std::pair<std::size_t, std::size_t>> elements = elements_of(open);
    if (elements.size() < 2 || elements.size() > kLongestTable) return;
    const auto text = [&](const auto& element) {
      return std::string(tokens_.text(element.first, element.second));
    };
    const auto part = [&](const auto& element, std::string becomes) {
      return Part{tokens_[element.first].begin, tokens_[element.second].end, std::move(becomes)};
    };
    add_other_orders(open, elements);
    // A table of several rows.
    for (const auto& element : elements)
      if (tokens_.is(element.first, "{") && tokens_[element.first].partner == element.second)
        add_table(element.first);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const int line = tokens_[elements[i].first].line;
      if (i + 1 < elements.size())
        add(line, {part(elements[i], text(elements[i + 1])), part(elements[i + 1], text(elements[i]))},
            Code::wrong_expression, 1);
      const std::string own = text(elements[i]);
      if (tokens_[elements[i].second].kind == CppToken::Kind::number)
        for (const std::string& each : absent_.near(own[0] == '-' ? own.substr(1) : own)) {
          const std::string with_sign = own[0] == '-' ? "-" + each : each;
          add(line, {part(elements[i], with_sign)}, Code::wrong_expression,
              is_nearly(with_sign, own) ? kMistyped : 0);
        }
      if (tokens_[elements[i].second].kind == CppToken::Kind::number)
        add(line, {part(elements[i], own[0] == '-' ? own.substr(1) : "-" + own)}, Code::wrong_expression, 2);
    }
  }

  /// What an object is made of: two of its members that have changed places.
  void add_members(std::size_t open) {
    const std::vector<std::pair<std::size_t, std::size_t>> members = elements_of(open);
    if (members.size() < 2 || members.size() > kLongestTable) return;
    for (std::size_t i = 0; i < members.size(); ++i)
      for (std::size_t k = i + 1; k < members.size() && k < i + 3; ++k) {
        const auto& [a, b] = members[i];
        const auto& [c, d] = members[k];
        if (tokens_[a].line == tokens_[d].line)
          add(tokens_[a].line,
              {{tokens_[a].begin, tokens_[b].end, std::string(tokens_.text(c, d))},
               {tokens_[c].begin, tokens_[d].end, std::string(tokens_.text(a, b))}},
              Code::argument_order, 0);
      }
  }

  /// Two names of an enumeration that have each other's number.
  void add_enumerators(std::size_t at) {
    while (at < tokens_.size() && !tokens_.is(at, "{") && !tokens_.is(at, ";")) ++at;
    if (!tokens_.is(at, "{")) return;
    const std::vector<std::pair<std::size_t, std::size_t>> names = elements_of(at);
    for (const auto& [first, last] : names)
      if (tokens_[last].kind == CppToken::Kind::number && last == first + 2 && tokens_.is(first + 1, "="))
        add_number(last, 1);
    for (std::size_t i = 0; i < names.size() && i < kLongestTable; ++i)
      for (std::size_t k = i + 1; k < names.size() && k < i + 3; ++k) {
        const std::size_t a = names[i].first, b = names[k].first;
        if (tokens_[a].line == tokens_[b].line)
          add(tokens_[a].line,
              {{tokens_[a].begin, tokens_[a].end, std::string(tokens_.text(b))},
               {tokens_[b].begin, tokens_[b].end, std::string(tokens_.text(a))}},
              Code::wrong_expression, 0);
      }
  }

  /// The elements of a list in braces, as tokens; none where it has statements.
  std::vector<std::pair<std::size_t, std::size_t>> elements_of(std::size_t open) const {
    const std::size_t close = tokens_[open].partner;
    std::vector<std::pair<std::size_t, std::size_t>> elements;
    for (std::size_t i = open + 1, first = i; i <= close && close > open; i = tokens_.behind(i)) {
      if (tokens_.is(i, ";")) return {};
      if (i != close && !tokens_.is(i, ",")) continue;
      if (i > first) elements.emplace_back(first, i - 1);
      first = i + 1;
      if (i == close) break;
    }
    return elements;
  }

  /// A table as the label has it, backwards, and that which undoes it.
  void add_other_orders(std::size_t open, const std::vector<std::pair<std::size_t, std::size_t>>& elements) {
    std::vector<std::string> own;
    for (const auto& [first, last] : elements) own.emplace_back(tokens_.text(first, last));
    const auto put = [&](const std::vector<std::string>& other) {
      add(tokens_[open].line,
          {{tokens_[elements.front().first].begin, tokens_[elements.back().second].end,
            fmt::format("{}", fmt::join(other, ", "))}},
          Code::wrong_expression, 0);
    };
    for (const std::vector<std::string>& list : label_.lists)
      if (list.size() == own.size()) put(list);
    std::vector<std::string> inverse(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::size_t place = std::strtoul(own[i].c_str(), nullptr, 10);
      if (place < own.size() && std::to_string(place) == own[i]) inverse[place] = std::to_string(i);
    }
    if (std::none_of(inverse.begin(), inverse.end(), [](const std::string& each) { return each.empty(); }))
      put(inverse);
    std::reverse(own.begin(), own.end());
    put(own);
  }

  void add_type(std::size_t first) {
    for (std::size_t at = first; at < tokens_.size() && at - first < 8 && !functions_.is_declared_here(at);
         ++at)
      for (const TypeExchanged& each : kTypes) {
        if (!tokens_.is(at, each.from) || tokens_.is(at + 1, "*") || tokens_.is(at + 1, "&") ||
            tokens_.is(at - 1, "<") || tokens_.is(at + 1, "::"))
          continue;
        // A whole number that counts becomes none with a fraction.
        if (each.to == "float" && each.from == "int" && tokens_.is(first - 1, "(")) continue;
        add(at, std::string(each.to), each.code, each.rank);
      }
  }

  /// A name in capitals alone, with which something is called.
  bool is_macro(std::size_t at) const {
    if (!tokens_.is_name(at)) return false;
    std::size_t letters = 0;
    for (const char c : tokens_.text(at)) {
      if (c >= 'a' && c <= 'z') return false;
      letters += c >= 'A' && c <= 'Z';
    }
    return letters > 2;
  }

  /// Flags and numbers that a macro is given, which may be arguments of a template.
  void add_macro_arguments(std::size_t open) {
    for (std::size_t at = open + 1; at < tokens_[open].partner; at = tokens_.behind(at)) {
      if (!tokens_.is(at - 1, ",") && at != open + 1) continue;
      if (tokens_[at].kind == CppToken::Kind::number) add_number(at, 1);
      if (tokens_.is(at, "true") || tokens_.is(at, "false"))
        add(at, tokens_.is(at, "true") ? "false" : "true", Code::wrong_expression, 0);
    }
  }

  /// `py::arg("scale") = 1.0`: one of the label's numbers.
  void add_default(std::size_t at) {
    constexpr std::size_t kFew = 4;
    const std::string own(tokens_.text(at));
    std::size_t count = 0;
    for (const std::string& each : label_.numbers)
      if (is_real_number(each) == is_real_number(own) && each != own && count++ < kFew)
        add(at, each, Code::wrong_expression, kMistyped);
  }

  /// Of what is called or launched with arguments that are numbers, flags or types.
  void add_template_arguments(std::size_t open) {
    std::size_t close = open + 1;
    int depth = 1;
    for (; close < tokens_.size() && close - open < 32; ++close) {
      if (tokens_.is(close, ";") || tokens_.is(close, "{") || tokens_.is(close, "&&")) return;
      depth += tokens_.is(close, "<") ? 1 : tokens_.is(close, ">") ? -1 : tokens_.is(close, ">>") ? -2 : 0;
      if (depth <= 0) break;
    }
    if (depth != 0 || (!tokens_.is(close + 1, "(") && !tokens_.is(close + 1, "<<<"))) return;
    for (std::size_t at = open + 1; at < close; ++at) {
      if (tokens_[at].kind == CppToken::Kind::number) add_number(at, 1);
      const bool flag = tokens_.is(at, "true") || tokens_.is(at, "false");
      if (flag) add(at, tokens_.is(at, "true") ? "false" : "true", Code::wrong_expression, 0);
      if (flag || tokens_[at].kind == CppToken::Kind::number)
        for (const std::string& name : of_template_at(at, flag)) add(at, name, Code::wrong_expression, 0);
    }
  }

  /// Flags, or numbers, among the arguments of the template that the token stands in.
  std::vector<std::string> of_template_at(std::size_t at, bool flags) const {
    std::vector<std::string> names;
    std::size_t i = functions_.body_of(at);
    // The template of the function in whose body it is, or of a class round it.
    for (; i > 0 && !tokens_.is(i, "}"); --i)
      if (tokens_.is(i, "template") && tokens_.is(i + 1, "<")) break;
    if (!tokens_.is(i, "template")) return names;
    for (i += 2; i + 1 < tokens_.size() && !tokens_.is(i, ">") && !tokens_.is(i, "{"); ++i)
      if (tokens_.is(i, flags ? "bool" : "int") && tokens_.is_name(i + 1))
        names.emplace_back(tokens_.text(i + 1));
    return names;
  }

  const std::string& source_;
  const OfLabel& label_;
  const CppTokens tokens_;
  const CppFunctions functions_;
  const AbsentNumbers absent_;
  std::vector<RebuiltEdit> list_;
  std::set<std::string> known_;
};

}  // namespace

RebuiltEdit made_in(const std::string& source, const Exchange& edit) {
  std::vector<EditedLine> lines = {{edit.line, edit.was, edit.becomes}};
  lines.insert(lines.end(), edit.also.begin(), edit.also.end());
  std::string made;
  int line = 1;
  for (std::size_t at = 0; at < source.size(); ++line) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const auto edited =
        std::find_if(lines.begin(), lines.end(), [&](const EditedLine& each) { return each.line == line; });
    made += edited == lines.end() ? source.substr(at, end - at) : edited->becomes;
    made += '\n';
    at = end + 1;
  }
  return {edit, std::move(made)};
}

std::vector<RebuiltEdit> rebuilt_edits(const std::string& source, const OfLabel& label) {
  return Rebuilt(source, label).all();
}

}  // namespace isomer::lab
