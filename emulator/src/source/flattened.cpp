// A struct that a function or kernel takes by value, as its fields: `launch(Params p)` can then be called by
// whoever knows x, y and n. Only plain structs, of which every field has a name that nothing else has.
#include <algorithm>
#include <map>
#include <set>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

struct Field {
  std::string type, name;
};

/// The fields of `struct name { … }`, whose brace is at `open`; none where it is more than a list of them.
std::vector<Field> fields_of(const Source& s, std::size_t open) {
  const auto& t = s.text.tokens;
  const std::size_t close = closing(t, open);
  std::vector<Field> fields;
  for (std::size_t i = open + 1; i < close;) {
    std::size_t end = i;
    while (end < close && !t[end].is(";")) {
      // Functions, arrays, bits, nested types, templates, initialisers: no plain list.
      for (const char* other : {"(", "[", "{", ":", "<", "=", "&", "static", "operator", "using", "typedef"})
        if (t[end].is(other)) return {};
      ++end;
    }
    if (end == i) {
      ++i;
      continue;
    }
    std::size_t name = i;
    while (name + 1 < end && !t[name + 1].is(",")) ++name;
    std::size_t base = name;  // one past the type without its stars
    while (base > i && (t[base - 1].is("*") || t[base - 1].is("__restrict__") ||
                        t[base - 1].is("__restrict") || (t[base - 1].is("const") && base > i + 1)))
      --base;
    if (base == i) return {};
    const std::string type = s.written(i, base);
    for (std::size_t begin = base; begin < end;) {
      std::size_t last = begin;
      while (last < end && !t[last].is(",")) ++last;
      if (last == begin || t[last - 1].kind != Token::name) return {};
      Field field{type, std::string(t[last - 1].text)};
      for (std::size_t k = begin; k + 1 < last; ++k) {
        if (t[k].is("*"))
          field.type += "*";
        else if (!t[k].is("__restrict__") && !t[k].is("__restrict") && !t[k].is("const"))
          return {};
      }
      fields.push_back(std::move(field));
      begin = last + 1;
    }
    i = end + 1;
  }
  return fields;
}

/// The brace of the struct of that name; 0 where there is none, or more than one.
std::size_t struct_named(const Source& s, std::string_view name) {
  const auto& t = s.text.tokens;
  std::size_t found = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (!t[i].is("struct") || (i > 0 && (t[i - 1].is(">") || t[i - 1].is(",") || t[i - 1].is("enum"))))
      continue;
    std::size_t open = i + 1;
    while (open < t.size() && !t[open].is("{") && !t[open].is(";") && !t[open].is(":") && !t[open].is("*")) {
      if (t[open].is("(")) open = closing(t, open);
      ++open;
    }
    if (open >= t.size() || !t[open].is("{")) continue;
    const std::size_t close = closing(t, open);
    const bool own = t[open - 1].is(name) && open - 1 > i;
    const bool alias = i > 0 && t[i - 1].is("typedef") && close + 1 < t.size() && t[close + 1].is(name);
    if (!own && !alias) continue;
    if (found != 0) return 0;
    found = open;
  }
  return found;
}

}  // namespace

Flattened flattened(const Source& s, const Function& f, int serial) {
  const auto& t = s.text.tokens;
  const std::size_t close = closing(t, f.parameters);
  std::set<std::string> names;
  std::string parameters, arguments, described;
  bool any = false;
  const auto take = [&](const std::string& declared, const std::string& type, const std::string& name) {
    parameters += (parameters.empty() ? "" : ", ") + declared;
    described += type + '\t' + name + "\t\n";
    return names.insert(name).second;
  };
  for (std::size_t i = f.parameters + 1; i < close;) {
    std::size_t end = i;
    for (int depth = 0; end < close && !(t[end].is(",") && depth == 0); ++end) {
      depth += t[end].is("(") || t[end].is("<") || t[end].is("[");
      depth -= t[end].is(")") || t[end].is(">") || t[end].is("]");
      if (t[end].is("=")) return {};
    }
    if (end < i + 2 || t[end - 1].kind != Token::name) return {};
    const std::string name(t[end - 1].text);
    // "const Params&", "struct Params": one name in it.
    std::string type;  // as written, "port::Params"
    std::string_view last;
    int types = 0;
    bool other = false;
    for (std::size_t k = i; k + 1 < end; ++k) {
      if (t[k].is("const") || t[k].is("struct") || t[k].is("&") || t[k].is("__grid_constant__")) continue;
      const bool joins = t[k].is("::");
      other |= !joins && t[k].kind != Token::name;
      types += !joins && !(k > i && t[k - 1].is("::"));
      type += t[k].text;
      last = t[k].text;
    }
    const std::size_t open = types == 1 && !other ? struct_named(s, last) : 0;
    const std::vector<Field> fields = open != 0 ? fields_of(s, open) : std::vector<Field>();
    arguments += arguments.empty() ? "" : ", ";
    if (fields.empty()) {
      if (!take(s.written(i, end), s.written(i, end - 1), name)) return {};
      arguments += name;
    } else {
      any = true;
      std::string values;
      for (const Field& field : fields) {
        if (!take("decltype(" + type + "::" + field.name + ") " + field.name, field.type, field.name))
          return {};
        values += (values.empty() ? "" : ", ") + field.name;
      }
      arguments += type + "{" + values + "}";
    }
    i = end + 1;
  }
  if (!any) return {};
  Flattened flat;
  const std::string own = "isomer_flattened_" + std::to_string(serial);
  const std::string space = f.scope.empty() ? "" : f.scope.substr(0, f.scope.size() - 2);
  flat.definition = (space.empty() ? "" : "namespace " + space + " { ") + "static auto " + own + "(" +
                    parameters + ") { return " + f.name + "(" + arguments + "); }" +
                    (space.empty() ? "" : " }") + "\n";
  flat.address = "&::" + f.scope + own;
  flat.parameters = described;
  return flat;
}

}  // namespace isomer::emulator::source
