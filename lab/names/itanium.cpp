// Names and template arguments of the grammar; types and expressions are in their own files.
#include "lab/names/itanium.hpp"

#include "lab/names/itanium_depth.hpp"
#include "lab/names/itanium_parser.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace isomer::lab {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 49> kOperators{{
    {"nw", "operator new"},      {"na", "operator new[]"},    {"dl", "operator delete"},
    {"da", "operator delete[]"}, {"aw", "operator co_await"}, {"ps", "operator+"},
    {"ng", "operator-"},         {"ad", "operator&"},         {"de", "operator*"},
    {"co", "operator~"},         {"pl", "operator+"},         {"mi", "operator-"},
    {"ml", "operator*"},         {"dv", "operator/"},         {"rm", "operator%"},
    {"an", "operator&"},         {"or", "operator|"},         {"eo", "operator^"},
    {"aS", "operator="},         {"pL", "operator+="},        {"mI", "operator-="},
    {"mL", "operator*="},        {"dV", "operator/="},        {"rM", "operator%="},
    {"aN", "operator&="},        {"oR", "operator|="},        {"eO", "operator^="},
    {"ls", "operator<<"},        {"rs", "operator>>"},        {"lS", "operator<<="},
    {"rS", "operator>>="},       {"eq", "operator=="},        {"ne", "operator!="},
    {"lt", "operator<"},         {"gt", "operator>"},         {"le", "operator<="},
    {"ge", "operator>="},        {"ss", "operator<=>"},       {"nt", "operator!"},
    {"aa", "operator&&"},        {"oo", "operator||"},        {"pp", "operator++"},
    {"mm", "operator--"},        {"cm", "operator,"},         {"pm", "operator->*"},
    {"pt", "operator->"},        {"cl", "operator()"},        {"ix", "operator[]"},
    {"qu", "operator?"},
}};

}  // namespace

using Index = ItaniumParser::Index;

Index ItaniumParser::add(Kind kind, std::string_view text, std::vector<Index> children) {
  for (const Index child : children)
    if (child == kNone) return kNone;
  nodes_.push_back({kind, text, std::move(children)});
  return static_cast<Index>(nodes_.size() - 1);
}

Index ItaniumParser::own(std::string text) { return add(Kind::text, owned_.emplace_back(std::move(text))); }

Index ItaniumParser::remember(Index index) {
  if (index != kNone) substitutions_.push_back(index);
  return index;
}

bool ItaniumParser::eat(std::string_view word) {
  if (!rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

bool ItaniumParser::number(std::string_view& digits) {
  std::size_t count = 0;
  while (count < rest_.size() && std::isdigit(static_cast<unsigned char>(rest_[count]))) ++count;
  digits = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return count > 0;
}

bool ItaniumParser::sequence_id(std::uint64_t& value) {
  if (eat("_")) return value = 0, true;
  value = 0;
  for (; !rest_.empty() && rest_.front() != '_'; rest_.remove_prefix(1)) {
    const char digit = rest_.front();
    if (value > 1u << 30) return false;
    if (digit >= '0' && digit <= '9')
      value = value * 36 + static_cast<unsigned>(digit - '0');
    else if (digit >= 'A' && digit <= 'Z')
      value = value * 36 + static_cast<unsigned>(digit - 'A') + 10;
    else
      return false;
  }
  ++value;
  return eat("_");
}

void ItaniumParser::discriminator() {
  std::string_view digits;
  if (eat("__")) {
    number(digits);
    eat("_");
  } else if (peek() == '_' && std::isdigit(static_cast<unsigned char>(peek(1)))) {
    rest_.remove_prefix(2);
  }
}

Index ItaniumParser::encoding(bool whole, bool bare) {
  const Depth deeper(depth_);
  if (!deeper.allowed || peek() == 'T' || peek() == 'G') return kNone;  // no kernel is a table or a guard
  std::vector<Index> outer = template_parameters_;
  bool templated = false;
  std::string_view behind;
  Index result = name(templated, behind);
  if (result == kNone) return kNone;
  const bool done = rest_.empty() || peek() == 'E' || peek() == '.';
  if (templated && !whole) {
    rest_ = {};
  } else if (!done) {
    if (templated && type() == kNone) return kNone;
    const Index list = parameters(false);
    if (list == kNone) return kNone;
    if (!templated && !bare) result = add(Kind::join, {}, {result, text("("), list, text(")")});
  }
  // Behind a whole function it says nothing that a kernel could differ in.
  if (!behind.empty() && whole && !bare) result = add(Kind::join, {}, {result, text(" "), text(behind)});
  template_parameters_ = std::move(outer);
  return result;
}

Index ItaniumParser::name(bool& templated, std::string_view& behind) {
  const Depth deeper(depth_);
  if (!deeper.allowed) return kNone;
  if (eat("N")) return nested(templated, behind);
  if (eat("Z")) return local(templated, behind);
  Index result;
  if (peek() == 'S' && peek(1) != 't') {
    result = substitution();
    if (peek() != 'I') return kNone;
  } else {
    const bool standard = eat("St");
    result = unqualified();
    if (standard) result = add(Kind::scope, {}, {text("std"), result});
    if (peek() == 'I') remember(result);
  }
  if (result != kNone && peek() == 'I') {
    const Index list = template_args(true);
    templated = true;
    result = add(Kind::args, {}, {result, list});
  }
  return result;
}

Index ItaniumParser::nested(bool& templated, std::string_view& behind) {
  behind = qualifiers();
  if (peek() == 'R' || peek() == 'O') rest_.remove_prefix(1);
  Index result = kNone;
  bool last_is_substitution = false;
  while (!eat("E")) {
    if (rest_.empty()) return kNone;
    eat("L");
    templated = false;
    Index part = kNone;
    last_is_substitution = false;
    if (peek() == 'T') {
      if (result != kNone) return kNone;
      result = remember(template_parameter());
    } else if (peek() == 'I') {
      if (result == kNone) return kNone;
      const Index list = template_args(true);
      templated = true;
      result = remember(add(Kind::args, {}, {result, list}));
    } else if (peek() == 'D' && (peek(1) == 't' || peek(1) == 'T')) {
      if (result != kNone) return kNone;
      result = remember(type_named_d());
    } else if (peek() == 'S' && result == kNone) {
      result = eat("St") ? text("std") : substitution();
      last_is_substitution = true;
    } else {
      if ((peek() == 'C' || (peek() == 'D' && peek(1) >= '0' && peek(1) <= '5')) && result != kNone) {
        const bool destructor = peek() == 'D';
        rest_.remove_prefix(std::min<std::size_t>(2, rest_.size()));
        part = last_component(result, destructor);
      } else {
        part = unqualified();
      }
      result = remember(result == kNone ? part : add(Kind::scope, {}, {result, part}));
    }
    if (result == kNone) return kNone;
    while (eat("M")) {
    }
  }
  if (result == kNone) return kNone;
  // The whole name is remembered by the type around it, if there is one.
  if (!last_is_substitution && !substitutions_.empty()) substitutions_.pop_back();
  return result;
}

Index ItaniumParser::last_component(Index index, bool destructor) {
  while (nodes_[index].kind == Kind::scope || nodes_[index].kind == Kind::args)
    index = nodes_[index].children[nodes_[index].kind == Kind::scope ? 1 : 0];
  std::string_view words = nodes_[index].text;
  if (const std::size_t colons = words.rfind("::"); colons != std::string_view::npos)
    words.remove_prefix(colons + 2);
  return destructor ? own("~" + std::string(words)) : text(words);
}

/// What is behind the entity's parameters is handed to the encoding around it, which has yet to read these.
Index ItaniumParser::local(bool& templated, std::string_view& behind) {
  const Index function = encoding(true);
  if (function == kNone || !eat("E")) return kNone;
  if (eat("s")) {
    discriminator();
    return add(Kind::scope, {}, {function, text("{string}")});
  }
  if (eat("d")) {
    std::string_view digits;
    number(digits);
    if (!eat("_")) return kNone;
  }
  templated = false;
  behind = {};
  const Index entity = name(templated, behind);
  discriminator();
  return add(Kind::scope, {}, {function, entity});
}

Index ItaniumParser::unqualified() {
  eat("L");
  const char first = peek();
  if (first == 'U') return tags(unnamed_type());
  if (std::isdigit(static_cast<unsigned char>(first))) return tags(source_name());
  if (first >= 'a' && first <= 'z') return tags(operator_name());
  return kNone;
}

Index ItaniumParser::tags(Index base) {
  while (base != kNone && eat("B")) {
    const Index tag = source_name();
    base = add(Kind::join, {}, {base, text("[abi:"), tag, text("]")});
  }
  return base;
}

Index ItaniumParser::source_name() {
  std::string_view digits;
  if (!number(digits) || digits.size() > 7) return kNone;
  std::size_t length = 0;
  for (const char digit : digits) length = length * 10 + static_cast<std::size_t>(digit - '0');
  if (length == 0 || length > rest_.size()) return kNone;
  const std::string_view id = rest_.substr(0, length);
  rest_.remove_prefix(length);
  // NOTES: what follows is a hash of the file's name and path: it says nothing about the kernel.
  if (id.starts_with("_GLOBAL__N") || id.starts_with("_NV_ANON_NAMESPACE"))
    return text("(anonymous namespace)");
  // nvcc's scope for what is static at namespace level, which the source does not have.
  if (id.starts_with("_INTERNAL_")) return text("");
  return text(id);
}

Index ItaniumParser::operator_name() {
  if (eat("cv")) return add(Kind::join, {}, {text("operator "), type()});
  if (eat("li")) return add(Kind::join, {}, {text("operator\"\""), source_name()});
  for (const auto& [code, sign] : kOperators)
    if (eat(code)) return text(sign);
  return kNone;
}

Index ItaniumParser::unnamed_type() {
  const bool lambda = eat("Ul");
  if (!lambda && !eat("Ut")) return kNone;
  Index list = kNone;
  if (lambda) {
    ++lambda_;
    list = parameters(true);
    --lambda_;
    if (list == kNone || !eat("E")) return kNone;
  }
  std::string_view digits;
  std::uint64_t ordinal = 1;
  if (number(digits)) {
    if (digits.size() > 9) return kNone;
    ordinal = 0;
    for (const char digit : digits) ordinal = ordinal * 10 + static_cast<std::uint64_t>(digit - '0');
    ordinal += 2;
  }
  if (!eat("_")) return kNone;
  const Index number_of = own("#" + std::to_string(ordinal) + "}");
  if (!lambda) return add(Kind::join, {}, {text("{unnamed type"), number_of});
  return add(Kind::join, {}, {text("{lambda("), list, text(")"), number_of});
}

Index ItaniumParser::substitution() {
  if (!eat("S")) return kNone;
  static constexpr std::pair<char, std::string_view> kStandard[] = {
      {'a', "std::allocator"},
      {'b', "std::basic_string"},
      {'s', "std::string"},
      {'i', "std::basic_istream<char, std::char_traits<char>>"},
      {'o', "std::basic_ostream<char, std::char_traits<char>>"},
      {'d', "std::basic_iostream<char, std::char_traits<char>>"}};
  for (const auto& [letter, words] : kStandard)
    if (peek() == letter) {
      rest_.remove_prefix(1);
      const Index tagged = tags(text(words));
      if (tagged != kNone && nodes_[tagged].kind != Kind::text) remember(tagged);
      return tagged;
    }
  std::uint64_t which;
  if (!sequence_id(which) || which >= substitutions_.size()) return kNone;
  return substitutions_[which];
}

Index ItaniumParser::template_parameter() {
  if (!eat("T")) return kNone;
  if (peek() == 'L') {  // a parameter of an enclosing level
    std::string_view level;
    rest_.remove_prefix(1);
    if (!number(level) || !eat("_")) return kNone;
  }
  std::string_view digits;
  std::uint64_t which = 0;
  if (number(digits)) {
    if (digits.size() > 6) return kNone;
    for (const char digit : digits) which = which * 10 + static_cast<std::uint64_t>(digit - '0');
    ++which;
  }
  if (!eat("_")) return kNone;
  if (lambda_ > 0) return own("auto:" + std::to_string(which + 1));
  if (which < template_parameters_.size()) return template_parameters_[which];
  return own("T" + std::to_string(which + 1));
}

Index ItaniumParser::template_args(bool tag) {
  const Depth deeper(depth_);
  if (!deeper.allowed || !eat("I")) return kNone;
  std::vector<Index> list;
  while (!eat("E")) {
    const Index arg = template_arg();
    if (arg == kNone) return kNone;
    list.push_back(arg);
  }
  if (tag) template_parameters_ = list;
  return add(Kind::list, {}, std::move(list));
}

Index ItaniumParser::template_arg() {
  const Depth deeper(depth_);
  if (!deeper.allowed) return kNone;
  if (eat("X")) {
    const Index result = expression();
    return eat("E") ? result : kNone;
  }
  if (peek() == 'L') return literal();
  if (eat("J")) {
    std::vector<Index> list;
    while (!eat("E")) {
      const Index arg = template_arg();
      if (arg == kNone) return kNone;
      list.push_back(arg);
    }
    return add(Kind::pack, {}, std::move(list));
  }
  return type();
}

std::optional<std::string> demangle(std::string_view mangled) {
  if (mangled.starts_with("__Z")) mangled.remove_prefix(1);
  if (!mangled.starts_with("_Z")) return std::nullopt;
  mangled.remove_prefix(2);
  ItaniumParser parser(mangled);
  const Index root = parser.encoding(false);
  if (root == ItaniumParser::kNone || !parser.at_end()) return std::nullopt;
  std::string text = parser.print(root, (std::size_t{1} << 16) + 16 * mangled.size());
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace isomer::lab
