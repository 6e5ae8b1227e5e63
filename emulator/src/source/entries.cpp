// The text behind a source that makes its functions and kernels callable by name from outside: the compiler
// deduces every signature, the text gives the names, the places and the defaults.
#include <map>
#include <set>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

struct Span {
  std::size_t begin, end;
};

// The parts of a parameter list, split at its own commas.
std::vector<Span> split_parameters(const std::vector<Token>& t, std::size_t open) {
  std::vector<Span> parts;
  const std::size_t close = closing(t, open);
  std::size_t begin = open + 1;
  int depth = 0;
  for (std::size_t i = begin; i <= close && i < t.size(); ++i) {
    if (t[i].is("(") || t[i].is("<") || t[i].is("[") || t[i].is("{")) ++depth;
    if ((t[i].is(")") && i != close) || t[i].is(">") || t[i].is("]") || t[i].is("}")) --depth;
    if (i == close || (t[i].is(",") && depth == 0)) {
      if (i > begin) parts.push_back({begin, i});
      begin = i + 1;
    }
  }
  return parts;
}

bool is_type_word(std::string_view word) {
  static const std::set<std::string_view> words = {
      "const",  "volatile", "unsigned", "signed", "long", "short",        "int",        "char",    "float",
      "double", "bool",     "void",     "struct", "enum", "__restrict__", "__restrict", "restrict"};
  return words.count(word) != 0;
}

// "at::Tensor K" gives type, tab, K, tab, default.
std::string described(const Source& s, Span p) {
  const auto& t = s.text.tokens;
  std::size_t assigned = p.end;
  for (std::size_t i = p.begin; i < p.end; ++i) {
    if (t[i].is("=")) {
      assigned = i;
      break;
    }
  }
  std::size_t name = assigned;
  for (std::size_t i = assigned; i-- > p.begin + 1;) {
    if (t[i].is("]") || t[i].is("[") || t[i].kind == Token::number) continue;  // an array parameter
    const bool qualified = t[i - 1].is("::");
    if (t[i].kind == Token::name && !is_type_word(t[i].text) && !qualified) name = i;
    break;
  }
  std::string type = s.written(p.begin, name < assigned ? name : assigned);
  for (const char* word : {"__restrict__", "__restrict"}) {
    if (const auto at = type.find(word); at != std::string::npos) type.erase(at, std::string(word).size());
  }
  while (!type.empty() && type.back() == ' ') type.pop_back();
  return type + '\t' + (name < assigned ? std::string(t[name].text) : "") + '\t' +
         (assigned < p.end ? s.written(assigned + 1, p.end) : "");
}

std::string parameter_text(const Source& s, const Function& f) {
  std::string all;
  for (const Span p : split_parameters(s.text.tokens, f.parameters)) all += described(s, p) + '\n';
  return all;
}

// As a C string literal that keeps tabs and line ends.
std::string literal(std::string_view text) {
  std::string q = "\"";
  for (char c : text) {
    if (c == '\n') {
      q += "\\n";
    } else if (c == '\t') {
      q += "\\t";
    } else {
      if (c == '"' || c == '\\') q += '\\';
      q += c;
    }
  }
  return q + '"';
}

// Template parameters that are types, in order; empty where one is something else and has no default.
std::vector<std::string> type_parameters(const Source& s, const Function& f) {
  const auto& t = s.text.tokens;
  std::vector<std::string> names;
  std::size_t i = f.begin;
  if (i + 1 >= t.size() || !t[i].is("template") || !t[i + 1].is("<")) return {};
  int depth = 1;
  bool is_type = false, has_default = false;
  std::string name;
  for (i += 2; i < t.size() && depth > 0; ++i) {
    if (t[i].is("<") || t[i].is("(")) ++depth;
    if (t[i].is(">") || t[i].is(")")) --depth;
    if ((t[i].is(",") && depth == 1) || depth == 0) {
      if (!is_type && !has_default) return {};
      if (is_type && !has_default) names.push_back(name);
      is_type = has_default = false;
      name.clear();
    } else if (t[i].is("typename") || t[i].is("class")) {
      is_type = true;
    } else if (t[i].is("=")) {
      has_default = true;
    } else if (t[i].kind == Token::name && !has_default) {
      name = t[i].text;
    }
  }
  return names;
}

bool is_callable_host_function(const Function& f) {
  return f.definition && !f.global && !f.is_template && !f.member && !f.device && f.name != "operator" &&
         f.name != "main" && f.name.rfind("isomer_emulator_", 0) != 0;
}

}  // namespace

std::string entries(const Source& s, const std::vector<std::string>& instantiate, bool flatten) {
  const auto& t = s.text.tokens;
  std::map<std::string, int> definitions;
  for (const Function& f : s.outline.functions) {
    if (f.definition && !f.member) ++definitions[f.scope + f.name];
  }
  std::string out;
  int serial = 0;
  const auto add = [&](const char* kind, const Function& f, const std::string& name, std::string address) {
    std::string parameters = parameter_text(s, f);
    if (Flattened flat = flatten ? flattened(s, f, serial) : Flattened(); !flat.definition.empty()) {
      out += flat.definition;
      address = flat.address;
      parameters = flat.parameters;
    }
    out += std::string("static ::isomer::emulator::") + kind + " isomer_entry_" + std::to_string(serial++) +
           "(" + address + ", " + quoted(name) + ", " + quoted(s.text.files[t[f.name_at].file]) + ", " +
           std::to_string(t[f.name_at].line) + ", " + literal(parameters) + ");\n";
  };
  for (const Function& f : s.outline.functions) {
    const std::string full = f.scope + f.name;
    if (definitions[full] != 1) continue;
    if (is_callable_host_function(f)) add("FunctionRegistration", f, full, address_of(s, f));
    if (!f.global || !f.definition || f.member) continue;
    if (!f.is_template) {
      add("KernelCallRegistration", f, full, address_of(s, f));
      continue;
    }
    const std::vector<std::string> types = type_parameters(s, f);
    if (types.empty()) continue;
    // Known without a type: whoever calls it finds out which element types its arguments bring.
    std::string list;
    for (const std::string& type : types) list += (list.empty() ? "" : ",") + type;
    out += "static ::isomer::emulator::TemplateCallRegistration isomer_entry_" + std::to_string(serial++) +
           "(" + quoted(full) + ", " + quoted(list) + ", " + quoted(s.text.files[t[f.name_at].file]) + ", " +
           std::to_string(t[f.name_at].line) + ", " + literal(parameter_text(s, f)) + ");\n";
    for (const std::string& wanted : instantiate) {
      if (wanted.substr(0, wanted.find('<')) == full)
        add("KernelCallRegistration", f, wanted, "&::" + wanted);
    }
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace isomer::emulator::source
