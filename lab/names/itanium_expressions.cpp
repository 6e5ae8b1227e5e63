// Literals and expressions of the grammar. A literal keeps its type where the language would: true, 8u,
// (ns::Enum)1.
#include "lab/names/itanium_depth.hpp"
#include "lab/names/itanium_parser.hpp"

#include <string>
#include <utility>

namespace isomer::lab {
namespace {

struct Operator {
  std::string_view code;
  int operands;
  std::string_view sign;
};

constexpr Operator kExpressionOperators[] = {
    {"ps", 1, "+"},   {"ng", 1, "-"}, {"ad", 1, "&"},  {"de", 1, "*"},  {"co", 1, "~"},  {"nt", 1, "!"},
    {"pl", 2, "+"},   {"mi", 2, "-"}, {"ml", 2, "*"},  {"dv", 2, "/"},  {"rm", 2, "%"},  {"an", 2, "&"},
    {"or", 2, "|"},   {"eo", 2, "^"}, {"ls", 2, "<<"}, {"rs", 2, ">>"}, {"eq", 2, "=="}, {"ne", 2, "!="},
    {"lt", 2, "<"},   {"gt", 2, ">"}, {"le", 2, "<="}, {"ge", 2, ">="}, {"aa", 2, "&&"}, {"oo", 2, "||"},
    {"ss", 2, "<=>"}, {"cm", 2, ","}, {"aS", 2, "="}};

}  // namespace

using Index = ItaniumParser::Index;

Index ItaniumParser::literal() {
  const Depth deeper(depth_);
  if (!deeper.allowed || !eat("L")) return kNone;
  if (eat("_Z") || eat("Z")) {
    const Index entity = encoding(true, true);
    return eat("E") ? entity : kNone;
  }
  if (eat("b0E")) return text("false");
  if (eat("b1E")) return text("true");
  if (eat("DnE") || eat("Dn0E")) return text("nullptr");
  static constexpr std::pair<char, std::string_view> kSuffixes[] = {{'i', ""},   {'j', "u"},  {'l', "l"},
                                                                    {'m', "ul"}, {'x', "ll"}, {'y', "ull"}};
  std::string_view suffix;
  Index cast = kNone;
  bool bare = false;
  for (const auto& [letter, words] : kSuffixes)
    if (peek() == letter) {
      bare = true;
      suffix = words;
      rest_.remove_prefix(1);
      break;
    }
  if (!bare && (cast = type()) == kNone) return kNone;
  std::string value = eat("n") ? "-" : "";
  // Floating-point values are hexadecimal digits of their bits.
  while (!rest_.empty() && peek() != 'E') {
    value += peek();
    rest_.remove_prefix(1);
  }
  if (!eat("E")) return kNone;
  if (bare) return own(value + std::string(suffix));
  return add(Kind::join, {}, {text("("), cast, text(")"), own(value)});
}

Index ItaniumParser::expressions_until_e() {
  std::vector<Index> list;
  while (!eat("E")) {
    const Index each = expression();
    if (each == kNone) return kNone;
    list.push_back(each);
  }
  return add(Kind::list, {}, std::move(list));
}

Index ItaniumParser::scope_resolution() {
  // sr <type> <name>, and srN <type> <level>+ E <name>
  const bool levels = eat("N");
  Index result = type();
  while (levels && result != kNone && !eat("E")) {
    Index part = source_name();
    if (part != kNone && peek() == 'I') part = add(Kind::args, {}, {part, template_args(false)});
    result = add(Kind::scope, {}, {result, part});
  }
  eat("on");
  Index last = unqualified();
  if (last != kNone && peek() == 'I') last = add(Kind::args, {}, {last, template_args(false)});
  return add(Kind::scope, {}, {result, last});
}

Index ItaniumParser::expression() {
  const Depth deeper(depth_);
  if (!deeper.allowed || rest_.empty()) return kNone;
  if (peek() == 'L') return literal();
  if (peek() == 'T') return template_parameter();
  if (eat("fpT")) return text("this");
  if (rest_.starts_with("fp") || rest_.starts_with("fL")) {
    const bool level = peek(1) == 'L';
    rest_.remove_prefix(2);
    std::string_view digits;
    if (level && (!number(digits) || !eat("p"))) return kNone;
    qualifiers();
    number(digits);
    std::string_view at = digits;
    return eat("_") ? add(Kind::join, {}, {text("{parm#"), text(at), text("}")}) : kNone;
  }
  if (eat("sr")) return scope_resolution();
  if (eat("st")) return add(Kind::join, {}, {text("sizeof("), type(), text(")")});
  if (eat("sz")) return add(Kind::join, {}, {text("sizeof("), expression(), text(")")});
  if (eat("at")) return add(Kind::join, {}, {text("alignof("), type(), text(")")});
  if (eat("sZ")) return add(Kind::join, {}, {text("sizeof...("), template_parameter(), text(")")});
  if (eat("sp")) return expression();
  if (eat("cl")) {
    const Index callee = expression();
    if (callee == kNone) return kNone;
    return add(Kind::join, {}, {callee, text("("), expressions_until_e(), text(")")});
  }
  if (eat("cv")) {
    const Index to = type();
    if (to == kNone) return kNone;
    const Index of = eat("_") ? expressions_until_e() : expression();
    return add(Kind::join, {}, {text("("), to, text(")("), of, text(")")});
  }
  if (eat("tl")) {
    const Index of = type();
    if (of == kNone) return kNone;
    return add(Kind::join, {}, {of, text("{"), expressions_until_e(), text("}")});
  }
  if (eat("il")) return add(Kind::join, {}, {text("{"), expressions_until_e(), text("}")});
  if (eat("dt") || eat("pt")) {
    const Index object = expression();
    if (object == kNone) return kNone;
    Index member = unqualified();
    if (member != kNone && peek() == 'I') member = add(Kind::args, {}, {member, template_args(false)});
    return add(Kind::join, {}, {object, text("."), member});
  }
  if (eat("qu")) {
    const Index condition = expression();
    const Index yes = condition == kNone ? kNone : expression();
    const Index no = yes == kNone ? kNone : expression();
    return add(Kind::join, {}, {text("("), condition, text("?"), yes, text(":"), no, text(")")});
  }
  if (eat("on")) {
    Index of = operator_name();
    if (of != kNone && peek() == 'I') of = add(Kind::args, {}, {of, template_args(false)});
    return of;
  }
  if (rest_.starts_with("adL")) {  // the address of a function: &f
    rest_.remove_prefix(2);
    return add(Kind::join, {}, {text("&"), literal()});
  }
  for (const Operator& each : kExpressionOperators) {
    if (!eat(each.code)) continue;
    const Index left = expression();
    if (left == kNone) return kNone;
    if (each.operands == 1) return add(Kind::join, {}, {text(each.sign), text("("), left, text(")")});
    const Index right = expression();
    return add(Kind::join, {}, {text("(("), left, text(")"), text(each.sign), text("("), right, text("))")});
  }
  if (peek() >= '0' && peek() <= '9') {
    Index named = source_name();
    if (named != kNone && peek() == 'I') named = add(Kind::args, {}, {named, template_args(false)});
    return named;
  }
  return kNone;
}

}  // namespace isomer::lab
