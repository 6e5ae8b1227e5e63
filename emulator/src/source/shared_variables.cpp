// `__shared__ float tile[32][33], sum;` → for each variable a typedef spelled like the declaration, a site
// that describes it, and a reference into the running block's memory. The declarators are never parsed: in a
// typedef they mean the same type.
#include <set>

#include "isomer/emulator/error.hpp"
#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

struct Statement {
  std::string specifiers_and_declarators;  // with `isomer_T_` before every name
  std::vector<std::string> names;
  bool dynamic = false;
  bool aligned = false;
};

Statement read(const Source& s, std::size_t begin, std::size_t end) {
  const auto& t = s.text.tokens;
  Statement r;
  bool named = false;  // the current declarator has its name
  std::vector<std::size_t> parts;
  std::set<std::size_t> name_tokens;
  int angles = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (t[i].is("__shared__") || t[i].is("__device__") || t[i].is("static") || t[i].is("inline")) continue;
    if (t[i].is("extern")) {
      r.dynamic = true;
      continue;
    }
    if ((t[i].is("alignas") || t[i].is("__attribute__")) && i + 1 < end && t[i + 1].is("(")) {
      r.aligned = true;
      i = closing(t, i + 1);
      continue;
    }
    if (t[i].is("<") && !named) ++angles;
    if (t[i].is(">") && !named) --angles;
    const bool opens = t[i].is("[") || t[i].is("{") || t[i].is("(");
    if (angles == 0 && !named) {
      const bool keyword = t[i].is("struct") || t[i].is("union") || t[i].is("class");
      const bool at_name =
          t[i].kind == Token::name && !keyword &&
          (i + 1 == end || t[i + 1].is("[") || t[i + 1].is(",") || t[i + 1].is(";") || t[i + 1].is("=") ||
           (t[i + 1].is(")") && t[i - 1].is("*")) ||
           (t[i + 1].is("{") && i > begin && (t[i - 1].kind == Token::name || t[i - 1].is(">")) &&
            !t[i - 1].is("struct") && !t[i - 1].is("union") && !t[i - 1].is("class")));
      if (at_name) {
        name_tokens.insert(i);
        r.names.emplace_back(t[i].text);
        named = true;
        parts.push_back(i);
        if (i + 1 < end && (t[i + 1].is("=") || t[i + 1].is("{"))) {
          throw Error(s.place(i) + ": shared variable " + r.names.back() +
                      " has an initialiser, which the device does not allow");
        }
        continue;
      }
    }
    if (angles == 0 && t[i].is(",")) named = false;
    if (opens && !(t[i].is("(") && !named)) {
      const std::size_t close = closing(t, i);
      for (std::size_t k = i; k <= close && k < end; ++k) parts.push_back(k);
      i = close;
      continue;
    }
    parts.push_back(i);
  }
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Token& part = t[parts[k]];
    // `<<` is two marks here and has to stay one.
    if (k == 0 || t[parts[k - 1]].end() != part.offset) r.specifiers_and_declarators += " ";
    if (name_tokens.count(parts[k])) r.specifiers_and_declarators += "isomer_T_";
    r.specifiers_and_declarators += part.text;
  }
  if (r.names.empty()) throw Error(s.place(begin) + ": a __shared__ declaration without a name");
  return r;
}

std::string site(const Source& s, const Statement& r, const std::string& name, std::size_t at) {
  return "static ::isomer::emulator::SharedSite isomer_S_" + name + "{" + quoted(name) + ", " +
         quoted(s.text.files[s.text.tokens[at].file]) + ", " + std::to_string(s.text.tokens[at].line) +
         ", sizeof(isomer_T_" + name + "), " + (r.aligned ? "1024" : "alignof(isomer_T_" + name + ")") +
         ", 0};";
}

/// Where the attributes that stand in front of a token begin, as in __attribute__((aligned(16))) __shared__.
std::size_t before_attributes(const std::vector<Token>& t, std::size_t at) {
  while (at > 2 && t[at - 1].is(")")) {
    std::size_t open = at - 1;
    int depth = 0;
    for (; open > 0; --open) {
      depth += t[open].is(")") - t[open].is("(");
      if (depth == 0) break;
    }
    if (open == 0 || !t[open - 1].is("__attribute__")) break;
    at = open - 1;
  }
  return at;
}

}  // namespace

void rewrite_shared(Source& s) {
  const auto& t = s.text.tokens;
  std::set<std::size_t> global_tokens;
  for (const GlobalShared& g : s.outline.shared) {
    const Statement r = read(s, g.begin, g.end);
    std::string out = "typedef" + r.specifiers_and_declarators + ";";
    for (const std::string& name : r.names) {
      if (!r.dynamic) out += " " + site(s, r, name, g.begin);
      const std::string access =
          r.dynamic ? "(::isomer::emulator::dynamic_shared<isomer_T_" + name + ">())"
                    : "(::isomer::emulator::shared_variable<isomer_T_" + name + ">(isomer_S_" + name + "))";
      // From here on the name means the block's memory, except where a function declares its own.
      for (const Function& f : s.outline.functions) {
        if (!f.definition || f.body < g.end) continue;
        bool hidden = false;
        for (std::size_t i = f.parameters; i < f.body; ++i) hidden |= t[i].is(name);
        for (std::size_t i = f.body; i < f.end && !hidden; ++i) {
          if (!t[i].is(name) || t[i - 1].is(".") || t[i - 1].is("->") || t[i - 1].is("::")) continue;
          const Token& before = t[i - 1];
          const bool declares = (before.kind == Token::name && !before.is("return") && !before.is("sizeof") &&
                                 !before.is("else")) ||
                                ((before.is("*") || before.is("&")) && t[i + 1].is("="));
          if (declares) {
            hidden = true;
            break;
          }
          s.edits.replace(t[i].offset, t[i].text.size(), access);
        }
      }
    }
    s.edits.replace(t[g.begin].offset, t[g.end].end() - t[g.begin].offset, out + s.lines(g.begin, g.end));
    for (std::size_t i = g.begin; i <= g.end; ++i) global_tokens.insert(i);
  }
  // Of a parameter it says where the pointer leads, which the compilers let pass.
  for (const Function& f : s.outline.functions) {
    for (std::size_t i = f.parameters; i > 0 && i < closing(t, f.parameters); ++i) {
      if (!t[i].is("__shared__") || !global_tokens.insert(i).second) continue;
      s.edits.remove(t[i]);
    }
  }
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (!t[i].is("__shared__") || global_tokens.count(i)) continue;
    std::size_t begin = before_attributes(t, i);
    while (begin > 0 && !t[begin - 1].is(";") && !t[begin - 1].is("{") && !t[begin - 1].is("}") &&
           !t[begin - 1].is(":") && !(t[begin - 1].is(")") && begin >= 2 && !t[begin].is("__shared__"))) {
      --begin;
    }
    std::size_t end = i;
    while (end < t.size() && !t[end].is(";")) {
      if (t[end].is("(") || t[end].is("[") || t[end].is("{")) end = closing(t, end);
      if (end < t.size()) ++end;
    }
    if (end >= t.size()) throw Error(s.place(i) + ": a __shared__ declaration without an end");
    const Statement r = read(s, begin, end);
    std::string out = "typedef" + r.specifiers_and_declarators + ";";
    for (const std::string& name : r.names) {
      // Not auto: inside of a template the name's own members need to be known where it is used.
      if (r.dynamic) {
        out += " isomer_T_" + name + "& " + name + " = ::isomer::emulator::dynamic_shared<isomer_T_" + name +
               ">();";
      } else {
        out += " " + site(s, r, name, i) + " isomer_T_" + name + "& " + name +
               " = ::isomer::emulator::shared_variable<isomer_T_" + name + ">(isomer_S_" + name + ");";
      }
    }
    s.edits.replace(t[begin].offset, t[end].end() - t[begin].offset, out + s.lines(begin, end));
    i = end;
  }
}

}  // namespace isomer::emulator::source
