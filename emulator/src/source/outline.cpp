#include "source/outline.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace isomer::emulator::source {
namespace {

class Reader {
 public:
  explicit Reader(const Text& text) : t_(text.tokens) {}

  Outline run() {
    read_scope(0, t_.size(), "", false);
    return std::move(result_);
  }

 private:
  std::size_t angle_close(std::size_t open, std::size_t end) const {
    int depth = 0;
    for (std::size_t i = open; i < end; ++i) {
      if (t_[i].is("(") || t_[i].is("[") || t_[i].is("{")) {
        i = closing(t_, i);
        continue;
      }
      if (t_[i].is("<")) ++depth;
      if (t_[i].is(">") && --depth == 0) return i;
    }
    return end;
  }

  /// The name that a typedef, a using or an enumeration declares; that of its first value where it has none.
  std::string declared(std::size_t begin, std::size_t end) const {
    const bool alias = t_[begin].is("using");
    if (alias && t_[begin + 1].is("namespace")) return {};
    if (!alias && !t_[begin].is("typedef") && !t_[begin].is("enum")) return {};
    std::string name;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (t_[i].is("class") || t_[i].is("struct")) continue;
      if (t_[i].kind == Token::name) name = t_[i].text;
      const bool enumerates = t_[begin].is("enum");
      if (enumerates && (t_[i].is(":") || t_[i].is("{")) && !name.empty()) break;
      if (enumerates && t_[i].is("{") && i + 1 < end) return std::string(t_[i + 1].text);
      if ((alias && t_[i].is("=")) || t_[i].is("[")) break;
      if (!alias && t_[i].is("(") && i + 2 < end && t_[i + 1].is("*")) return std::string(t_[i + 2].text);
      if (t_[i].is("{") || t_[i].is("(")) i = closing(t_, i);
    }
    return name;
  }

  /// Of a specialisation with its arguments.
  std::string class_name_of(std::size_t begin, std::size_t end) const {
    std::string name;
    for (std::size_t i = begin; i < end && !t_[i].is(":"); ++i) {
      if (t_[i].is("(")) {
        i = closing(t_, i);
      } else if (t_[i].is("<") && !name.empty()) {
        const std::size_t close = angle_close(i, end);
        for (; i <= close && i < end; ++i) name += t_[i].text;
        break;
      } else if (t_[i].kind == Token::name && !t_[i].is("final")) {
        name = t_[i].text;
      }
    }
    return name;
  }

  void note(const std::string& type, const std::vector<std::string>& names, const std::string& scope,
            std::size_t begin, std::size_t end, std::size_t body) {
    if (!type.empty()) {
      result_.declarations.push_back({type, scope, begin, end, body});
    } else if (!names.empty()) {
      result_.declarations.push_back({names.front(), scope, begin, end, 0});
    }
  }

  // Reads declarations of a namespace or class between two tokens.
  void read_scope(std::size_t begin, std::size_t end, const std::string& scope, bool member) {
    std::size_t i = begin;
    while (i < end) i = read_declaration(i, end, scope, member);
  }

  std::size_t read_declaration(std::size_t begin, std::size_t end, const std::string& scope, bool member) {
    std::size_t i = begin;
    if (t_[i].is(";") || t_[i].is("}")) return i + 1;
    if (member && i + 1 < end && t_[i + 1].is(":") && t_[i].kind == Token::name) return i + 2;  // public:
    bool is_template = false;
    while (i + 1 < end && t_[i].is("template") && t_[i + 1].is("<")) {
      is_template = true;
      i = angle_close(i + 1, end) + 1;
      if (i < end && t_[i].is("requires")) {
        while (i < end && !t_[i].is(")")) ++i;
        ++i;
      }
    }
    const std::size_t start = i;
    if (i < end &&
        (t_[i].is("namespace") || (t_[i].is("inline") && i + 1 < end && t_[i + 1].is("namespace")))) {
      std::string name;
      while (i < end && !t_[i].is("{") && !t_[i].is(";")) {
        if ((t_[i].kind == Token::name && !t_[i].is("namespace") && !t_[i].is("inline")) || t_[i].is("::"))
          name += t_[i].text;
        ++i;
      }
      if (i >= end || t_[i].is(";")) return i + 1;  // an alias
      const std::size_t close = std::min(closing(t_, i), end);
      read_scope(i + 1, close, name.empty() ? scope : scope + name + "::", false);
      return close + 1;
    }
    if (i + 2 < end && t_[i].is("extern") && t_[i + 1].kind == Token::string && t_[i + 2].is("{")) {
      const std::size_t close = std::min(closing(t_, i + 2), end);
      read_scope(i + 3, close, scope, false);
      return close + 1;
    }
    return read_entity(begin, start, end, scope, member, is_template);
  }

  std::size_t read_entity(std::size_t begin, std::size_t start, std::size_t end, const std::string& scope,
                          bool member, bool is_template) {
    Function f;
    f.begin = begin;
    f.scope = scope;
    f.is_template = is_template;
    f.member = member;
    bool is_class = false, is_enum = false, constant = false, managed = false, is_shared = false,
         is_extern = false;
    bool assigned = false, is_using = t_[start].is("using") || t_[start].is("typedef") ||
                                      t_[start].is("friend") || t_[start].is("static_assert");
    std::vector<std::string> names;  // of variables
    std::string class_name;
    std::size_t class_end = 0;
    std::size_t specifier = start;
    bool has_initialiser = false;
    std::size_t i = start;
    for (; i < end; ++i) {
      const Token& t = t_[i];
      if (t.is(";")) break;
      if (t.is("__global__")) f.global = true;
      if (t.is("__device__") || t.is("__constant__") || t.is("__managed__")) specifier = i;
      if (t.is("__device__")) f.device = true;
      if (t.is("__host__")) f.host = true;
      if (t.is("constexpr") || t.is("consteval")) f.constant_expression = true;
      if (t.is("__constant__")) constant = true;
      if (t.is("__managed__")) managed = true;
      if (t.is("__shared__")) is_shared = true;
      if (t.is("extern")) is_extern = true;
      if ((t.is("class") || t.is("struct") || t.is("union")) && f.name.empty()) is_class = true;
      if (t.is("enum")) is_enum = true;
      if (t.is("=")) assigned = has_initialiser = true;
      if (t.is("__cluster_dims__") && i + 1 < end && t_[i + 1].is("(")) {
        const std::size_t close = closing(t_, i + 1);
        f.cluster_dims = {i + 2, close};
        i = close;
        continue;
      }
      if (t.is("__launch_bounds__") && i + 1 < end && t_[i + 1].is("(")) {
        const std::size_t close = closing(t_, i + 1);
        std::size_t last = i + 2;
        for (int depth = 0; last < close; ++last) {
          if (t_[last].is("(") || t_[last].is("<")) ++depth;
          if (t_[last].is(")") || t_[last].is(">")) --depth;
          if (t_[last].is(",") && depth == 0) break;
        }
        f.launch_bounds = {i + 2, last};
        i = close;
        continue;
      }
      if ((t.is("__attribute__") || t.is("alignas") || t.is("decltype") || t.is("noexcept") ||
           t.is("__declspec") || t.is("explicit")) &&
          i + 1 < end && t_[i + 1].is("(")) {
        const std::size_t close = closing(t_, i + 1);
        // What the vendors' own compilers make of __global__ and its like.
        for (std::size_t k = i + 2; t.is("__attribute__") && k < close; ++k) {
          f.global |= t_[k].is("global");
          f.device |= t_[k].is("device");
          f.host |= t_[k].is("host");
        }
        i = close;
        continue;
      }
      if (t.is("operator") && f.name.empty()) {
        f.name = "operator";
        f.name_at = i;
        while (i + 1 < end && !t_[i + 1].is("(")) ++i;
        if (i + 2 < end && t_[i + 2].is(")") && t_[i + 1].is("(") && t_[i].is("operator")) i += 2;
        if (i + 1 < end && t_[i + 1].is("(")) {
          f.parameters = i + 1;
          i = closing(t_, i + 1);
        }
        continue;
      }
      if (t.is("<") && i > start && t_[i - 1].kind == Token::name && !assigned) {
        const std::size_t named = i - 1;
        i = angle_close(i, end);
        // template <> void k<int>(…): a specialisation says its arguments behind its name.
        if (start == begin + 3 && f.name.empty() && i + 1 < end && t_[i + 1].is("(")) {
          f.name = std::string(t_[named].text);
          f.name_at = named;
          f.parameters = i + 1;
          i = closing(t_, i + 1);
        }
        continue;
      }
      if (t.is("[") || (t.is("(") && (assigned || !f.name.empty()))) {
        if (t.is("[") && t_[i - 1].kind == Token::name && !assigned) names.emplace_back(t_[i - 1].text);
        i = closing(t_, i);
        continue;
      }
      if (t.is("(")) {
        if (i > start && t_[i - 1].kind == Token::name) {
          f.name = std::string(t_[i - 1].text);
          f.name_at = i - 1;
          f.parameters = i;
          if (i >= start + 2 && t_[i - 2].is("::")) f.member = true;
        }
        i = closing(t_, i);
        continue;
      }
      if ((t.is(",") || t.is("=")) && f.name.empty() && t_[i - 1].kind == Token::name)
        names.emplace_back(t_[i - 1].text);
      if (t.is(",")) assigned = false;
      if (t.is("{")) {
        const std::size_t close = closing(t_, i);
        if (is_enum || is_using) {
          i = close;
          continue;
        }
        if (is_class && f.name.empty() && !assigned) {
          const std::string name = class_name_of(start, i);
          read_scope(i + 1, std::min(close, end), scope + name + "::", true);
          class_name = name;
          class_end = close;
          i = close;  // a variable may follow
          is_class = false;
          continue;
        }
        if (!f.name.empty() && !assigned) {
          // A constructor's initialisers may have braces of their own; the body is followed by no comma or
          // brace.
          if (close + 1 < end && (t_[close + 1].is(",") || t_[close + 1].is("{"))) {
            i = close;
            continue;
          }
          f.definition = true;
          f.body = i;
          f.end = close;
          result_.functions.push_back(f);
          return close + 1;
        }
        if (t_[i - 1].kind == Token::name && !assigned) names.emplace_back(t_[i - 1].text);
        has_initialiser = true;
        i = close;
        continue;
      }
      if (t.is("}")) return i;  // the scope ends here
    }
    if (i > start && t_[i - 1].kind == Token::name && f.name.empty()) names.emplace_back(t_[i - 1].text);
    if (i < end && t_[i].is(";")) {
      if (is_using || is_enum) class_name = declared(start, i);
      if (f.name.empty() || is_using) note(class_name, names, scope, begin, i, class_end);
    }
    if (is_shared && f.name.empty()) {
      result_.shared.push_back({start, i, scope});
    } else if (!f.name.empty() && !is_using) {
      f.end = i;
      result_.functions.push_back(f);
    } else if ((f.device || constant || managed) && !is_extern && !member && !is_template) {
      for (const std::string& n : names) {
        if (std::none_of(result_.variables.begin(), result_.variables.end(),
                         [&](const Variable& v) { return v.name == n && v.scope == scope; })) {
          result_.variables.push_back({n, scope, constant, may_move(start, i),
                                       !has_initialiser && of_the_language(start, i), start, specifier});
        }
      }
    }
    return i + 1;
  }

  /// Whether a section may be named for what is declared here: nothing of a constant's kind, whose section
  /// cannot be written, and nothing that several sources may define.
  bool may_move(std::size_t begin, std::size_t end) const {
    bool constant = false;
    for (std::size_t i = begin; i < end && !t_[i].is("=") && !t_[i].is("{"); ++i) {
      if (t_[i].is("inline") || t_[i].is("constexpr") || t_[i].is("(") || t_[i].is("thread_local"))
        return false;
      if (t_[i].is("const")) constant = true;
      if (t_[i].is("*")) constant = false;
    }
    return !constant;
  }
  bool of_the_language(std::size_t begin, std::size_t end) const {
    static const std::set<std::string_view> types = {
        "int",     "unsigned", "signed",  "char",       "short",        "long",       "float",
        "double",  "bool",     "size_t",  "int8_t",     "uint8_t",      "int16_t",    "uint16_t",
        "int32_t", "uint32_t", "int64_t", "uint64_t",   "float2",       "float3",     "float4",
        "int2",    "int3",     "int4",    "uint2",      "uint4",        "double2",    "uchar4",
        "uint",    "volatile", "static",  "__device__", "__constant__", "__managed__"};
    std::size_t names = 0, known = 0;
    for (std::size_t i = begin; i < end && !t_[i].is("["); ++i) {
      if (t_[i].is("*")) return true;
      names += t_[i].kind == Token::name;
      known += types.count(t_[i].text);
    }
    return known > 0 && names == known + 1;
  }

  const std::vector<Token>& t_;
  Outline result_;
};

}  // namespace

std::size_t closing(const std::vector<Token>& tokens, std::size_t open) {
  const std::string_view opener = tokens[open].text;
  const std::string_view closer = opener == "(" ? ")" : opener == "[" ? "]" : "}";
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::mark) continue;
    if (tokens[i].is(opener)) ++depth;
    if (tokens[i].is(closer) && --depth == 0) return i;
  }
  return tokens.size();
}

Outline outline(const Text& text) { return Reader(text).run(); }

}  // namespace isomer::emulator::source
