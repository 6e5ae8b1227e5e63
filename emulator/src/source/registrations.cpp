// What a rewritten source says of itself when it is loaded: its kernels and its device variables.
#include <map>

#include "source/rewrite.hpp"

namespace isomer::emulator::source {

std::string registrations(const Source& s, const std::vector<std::string>& instantiate,
                          std::vector<std::string>& kernels) {
  std::string out = "\n";
  std::map<std::string, int> definitions;
  for (const Function& f : s.outline.functions) {
    if (f.global && f.definition && !f.member) ++definitions[f.scope + f.name];
  }
  int serial = 0;
  const auto& t = s.text.tokens;
  for (const Function& f : s.outline.functions) {
    if (!f.global || !f.definition || f.member) continue;
    const std::string full = f.scope + f.name;
    const std::string where =
        quoted(s.text.files[t[f.name_at].file]) + ", " + std::to_string(t[f.name_at].line);
    kernels.push_back(full);
    if (!f.is_template && definitions[full] == 1) {
      out += "static ::isomer::emulator::KernelRegistration<" + address_of(s, f) + "> isomer_kernel_" +
             std::to_string(serial++) + "(" + quoted(full) + ", " + where + ");\n";
      continue;
    }
    // A template registers what its text says of its parameters: which are pointers to const.
    std::string kinds;
    std::size_t begin = f.parameters + 1;
    const std::size_t close = closing(t, f.parameters);
    int depth = 0;
    for (std::size_t i = begin; i <= close; ++i) {
      if (t[i].is("(") || t[i].is("<") || t[i].is("[")) ++depth;
      if ((t[i].is(")") && i != close) || t[i].is(">") || t[i].is("]")) --depth;
      if ((i == close || (t[i].is(",") && depth == 0)) && i > begin) {
        bool pointer = false, constant = false;
        for (std::size_t k = begin; k < i; ++k) {
          if (t[k].is("const") && !pointer) constant = true;
          if (t[k].is("*")) pointer = true;
        }
        kinds += !pointer ? 'v' : constant ? 'c' : 'p';
        begin = i + 1;
      }
    }
    out += "static ::isomer::emulator::TemplateRegistration isomer_kernel_" + std::to_string(serial++) + "(" +
           quoted(full) + ", " + where + ", " + quoted(kinds) + ");\n";
  }
  for (const std::string& wanted : instantiate) {
    const std::string base = wanted.substr(0, wanted.find('<'));
    for (const Function& f : s.outline.functions) {
      const std::string full = f.scope + f.name;
      if (!f.global || !f.definition || (full != base && f.name != base)) continue;
      out += "static ::isomer::emulator::KernelRegistration<&::" + f.scope + f.name +
             (wanted.find('<') == std::string::npos ? std::string() : wanted.substr(wanted.find('<'))) +
             "> isomer_kernel_" + std::to_string(serial++) + "(" + quoted(wanted) + ", " +
             quoted(s.text.files[t[f.name_at].file]) + ", " + std::to_string(t[f.name_at].line) + ");\n";
      break;
    }
  }
  for (const Variable& v : s.outline.variables) {
    out += "static ::isomer::emulator::SymbolRegistration isomer_symbol_" + std::to_string(serial++) + "(" +
           quoted(v.scope + v.name) + ", ::" + v.scope + v.name + ", " + (v.constant ? "1" : "0") + ", " +
           (v.guarded ? "1" : "0") + ");\n";
  }
  return out;
}

}  // namespace isomer::emulator::source
