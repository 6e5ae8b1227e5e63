// Types of the grammar, and how a node is written down.
#include "lab/names/itanium_depth.hpp"
#include "lab/names/itanium_parser.hpp"

#include <cctype>
#include <utility>

namespace isomer::lab {

using Index = ItaniumParser::Index;

std::string_view ItaniumParser::qualifiers() {
  bool r = false, v = false, k = false;
  r = eat("r");
  v = eat("V");
  k = eat("K");
  static constexpr std::string_view kWords[] = {"",
                                                "const",
                                                "volatile",
                                                "const volatile",
                                                "__restrict__",
                                                "const __restrict__",
                                                "volatile __restrict__",
                                                "const volatile __restrict__"};
  return kWords[(k ? 1 : 0) + (v ? 2 : 0) + (r ? 4 : 0)];
}

Index ItaniumParser::parameters(bool in_braces) {
  std::vector<Index> list;
  if (eat("v")) return add(Kind::list, {});
  while (!rest_.empty() && peek() != 'E' && peek() != '.') {
    if (in_braces && (rest_.starts_with("RE") || rest_.starts_with("OE"))) break;
    const Index each = type();
    if (each == kNone) return kNone;
    list.push_back(each);
  }
  return add(Kind::list, {}, std::move(list));
}

Index ItaniumParser::function_type(std::string_view behind) {
  if (eat("Do")) {  // noexcept is part of the type, not of what tells kernels apart
  } else if (eat("DO")) {
    if (expression() == kNone || !eat("E")) return kNone;
  }
  if (!eat("F")) return kNone;
  eat("Y");
  const Index returned = type();
  if (returned == kNone) return kNone;
  const Index list = parameters(true);
  if (list == kNone) return kNone;
  if (peek() == 'R' || peek() == 'O') rest_.remove_prefix(1);
  if (!eat("E")) return kNone;
  return add(Kind::function, behind, {returned, list});
}

Index ItaniumParser::type() {
  const Depth deeper(depth_);
  if (!deeper.allowed || rest_.empty()) return kNone;
  static constexpr std::string_view kBuiltin[26] = {"signed char",
                                                    "bool",
                                                    "char",
                                                    "double",
                                                    "long double",
                                                    "float",
                                                    "__float128",
                                                    "unsigned char",
                                                    "int",
                                                    "unsigned int",
                                                    "",
                                                    "long",
                                                    "unsigned long",
                                                    "__int128",
                                                    "unsigned __int128",
                                                    "",
                                                    "",
                                                    "",
                                                    "short",
                                                    "unsigned short",
                                                    "",
                                                    "void",
                                                    "wchar_t",
                                                    "long long",
                                                    "unsigned long long",
                                                    "..."};
  const char first = peek();
  if (first >= 'a' && first <= 'z' && first != 'r' && first != 'u') {
    const std::string_view words = kBuiltin[first - 'a'];
    if (words.empty()) return kNone;
    rest_.remove_prefix(1);
    return text(words);
  }
  switch (first) {
    case 'u': {
      rest_.remove_prefix(1);
      const Index vendor = source_name();
      if (vendor != kNone && peek() == 'I')
        return remember(add(Kind::args, {}, {vendor, template_args(false)}));
      return remember(vendor);
    }
    case 'r':
    case 'V':
    case 'K': {
      const std::string_view words = qualifiers();
      if (peek() == 'F') return remember(function_type(words));
      return remember(add(Kind::qualified, words, {type()}));
    }
    case 'U': {
      rest_.remove_prefix(1);
      const Index vendor = source_name();
      if (vendor != kNone && peek() == 'I' && template_args(false) == kNone) return kNone;
      return remember(add(Kind::join, {}, {type(), text(" "), vendor}));
    }
    case 'P':
      rest_.remove_prefix(1);
      return remember(add(Kind::pointer, "*", {type()}));
    case 'R':
      rest_.remove_prefix(1);
      return remember(add(Kind::pointer, "&", {type()}));
    case 'O':
      rest_.remove_prefix(1);
      return remember(add(Kind::pointer, "&&", {type()}));
    case 'C':
      rest_.remove_prefix(1);
      return remember(add(Kind::qualified, "_Complex", {type()}));
    case 'G':
      rest_.remove_prefix(1);
      return remember(add(Kind::qualified, "_Imaginary", {type()}));
    case 'F':
      return remember(function_type({}));
    case 'M': {
      rest_.remove_prefix(1);
      const Index owner = type();
      return remember(add(Kind::member, {}, {owner, owner == kNone ? kNone : type()}));
    }
    case 'A': {
      rest_.remove_prefix(1);
      std::string_view digits;
      Index bound = number(digits) ? text(digits) : peek() == '_' ? text("") : expression();
      if (bound == kNone || !eat("_")) return kNone;
      return remember(add(Kind::array, {}, {type(), bound}));
    }
    case 'T': {
      if (peek(1) == 's' || peek(1) == 'u' || peek(1) == 'e') {
        rest_.remove_prefix(2);
        break;
      }
      const Index parameter = remember(template_parameter());
      if (parameter == kNone || peek() != 'I') return parameter;
      return remember(add(Kind::args, {}, {parameter, template_args(false)}));
    }
    case 'D':
      return type_named_d();
    case 'S': {
      if (peek(1) == 't') break;
      const Index known = substitution();
      if (known == kNone || peek() != 'I') return known;
      return remember(add(Kind::args, {}, {known, template_args(false)}));
    }
    default:
      break;
  }
  // A class or an enumeration. Its arguments are its own: they are not what T_ stands for outside of it.
  std::vector<Index> outer = template_parameters_;
  bool templated = false;
  std::string_view behind;
  const Index named = name(templated, behind);
  template_parameters_ = std::move(outer);
  return remember(named);
}

Index ItaniumParser::type_named_d() {
  static constexpr std::pair<std::string_view, std::string_view> kBuiltin[] = {{"Dd", "decimal64"},
                                                                               {"De", "decimal128"},
                                                                               {"Df", "decimal32"},
                                                                               {"Dh", "half"},
                                                                               {"Di", "char32_t"},
                                                                               {"Ds", "char16_t"},
                                                                               {"Du", "char8_t"},
                                                                               {"Da", "auto"},
                                                                               {"Dc", "decltype(auto)"},
                                                                               {"Dn", "std::nullptr_t"},
                                                                               {"DF16b", "std::bfloat16_t"},
                                                                               {"DF16_", "_Float16"},
                                                                               {"DF32_", "_Float32"},
                                                                               {"DF64_", "_Float64"},
                                                                               {"DF128_", "_Float128"}};
  for (const auto& [code, words] : kBuiltin)
    if (eat(code)) return text(words);
  if (eat("Dp")) return remember(add(Kind::join, {}, {type()}));
  if (eat("Dt") || eat("DT")) {
    const Index inner = expression();
    if (!eat("E")) return kNone;
    return remember(add(Kind::join, {}, {text("decltype("), inner, text(")")}));
  }
  if (eat("Dv")) {
    std::string_view digits;
    const Index bound = number(digits) ? text(digits) : kNone;
    if (!eat("_")) return kNone;
    return remember(add(Kind::join, {}, {type(), text(" __vector("), bound, text(")")}));
  }
  if (rest_.starts_with("Do") || rest_.starts_with("DO")) return remember(function_type({}));
  return kNone;
}

/// Writes nodes with a limit: a name that abbreviates may print exponentially longer than it is.
struct ItaniumParser::Printer {
  const ItaniumParser& parser;
  std::size_t limit;
  std::string out;
  int depth = 0;
  std::size_t steps = 0;

  bool spent() const { return out.size() > limit || depth > 2048 || steps > 64 * limit; }

  void word(std::string_view words) {
    if (words.empty()) return;
    if (!out.empty() && (std::isalnum(static_cast<unsigned char>(words.front())) || words.front() == '_') &&
        out.back() != ' ' && out.back() != '(' && out.back() != '<' && out.back() != ':')
      out += ' ';
    out += words;
  }

  /// What stands before the declared name: for a pointer to a function that is "R (*".
  void before(Index index) {
    ++depth, ++steps;
    if (!spent()) {
      const Node& node = parser.nodes_[index];
      switch (node.kind) {
        case Kind::pointer:
          before(node.children[0]);
          if (declarator(node.children[0])) out += '(';
          out += node.text;
          break;
        case Kind::member:
          before(node.children[1]);
          if (declarator(node.children[1])) out += '(';
          word({});
          if (!out.empty() && out.back() != '(') out += ' ';
          whole(node.children[0]);
          out += "::*";
          break;
        case Kind::qualified:
          before(node.children[0]);
          word(node.text);
          break;
        case Kind::function:
          before(node.children[0]);
          break;
        case Kind::array:
          before(node.children[0]);
          break;
        default:
          plain(node);
          break;
      }
    }
    --depth;
  }

  void after(Index index) {
    ++depth, ++steps;
    if (!spent()) {
      const Node& node = parser.nodes_[index];
      switch (node.kind) {
        case Kind::pointer:
          if (declarator(node.children[0])) out += ')';
          after(node.children[0]);
          break;
        case Kind::member:
          if (declarator(node.children[1])) out += ')';
          after(node.children[1]);
          break;
        case Kind::qualified:
          after(node.children[0]);
          break;
        case Kind::function:
          out += '(';
          whole(node.children[1]);
          out += ')';
          word(node.text);
          after(node.children[0]);
          break;
        case Kind::array:
          out += '[';
          whole(node.children[1]);
          out += ']';
          after(node.children[0]);
          break;
        default:
          break;
      }
    }
    --depth;
  }

  void whole(Index index) {
    before(index);
    after(index);
  }

  bool declarator(Index index) const {
    const Kind kind = parser.nodes_[index].kind;
    return kind == Kind::function || kind == Kind::array;
  }

  void plain(const Node& node) {
    switch (node.kind) {
      case Kind::text:
        out += node.text;
        break;
      case Kind::scope:
        if (const Node& outer = parser.nodes_[node.children[0]];
            outer.kind != Kind::text || !outer.text.empty()) {
          whole(node.children[0]);
          out += "::";
        }
        whole(node.children[1]);
        break;
      case Kind::args:
        whole(node.children[0]);
        if (out.ends_with("operator<") || out.ends_with("operator<<")) out += ' ';
        out += '<';
        whole(node.children[1]);
        out += '>';
        break;
      case Kind::list:
      case Kind::pack: {
        bool first = true;
        for (const Index child : node.children) {
          const Node& each = parser.nodes_[child];
          // An empty pack leaves no comma behind.
          if (each.kind == Kind::pack && each.children.empty()) continue;
          if (!first) out += ", ";
          first = false;
          whole(child);
        }
        break;
      }
      default:
        for (const Index child : node.children) whole(child);
        break;
    }
  }
};

std::string ItaniumParser::print(Index index, std::size_t limit) {
  Printer printer{*this, limit, {}};
  printer.whole(index);
  return printer.spent() ? std::string() : std::move(printer.out);
}

}  // namespace isomer::lab
