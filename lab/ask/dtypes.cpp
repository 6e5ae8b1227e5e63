#include "lab/ask/dtypes.hpp"

#include <algorithm>
#include <initializer_list>

namespace isomer::lab {

DType made_for(const Candidate& candidate, const Port& port) {
  for (const Entry& entry : candidate.entries())
    for (const Parameter& p : entry.parameters) {
      const int role = p.kind == Parameter::Kind::pointer ? port.role_of(p.name) : -1;
      if (role < 0 || p.element == DType::none || !port.roles[static_cast<std::size_t>(role)].returned)
        continue;
      if (!port.original->parameters[static_cast<std::size_t>(role)].field.empty()) return p.element;
    }
  return DType::none;
}

std::map<int, DType> roles_in_bytes(const Port& port) {
  std::map<int, DType> roles;
  const Value bytes = tensor_value("", DType::u8, {0});
  for (int role = 0; role < static_cast<int>(port.roles.size()); ++role)
    if (port.in_bytes(static_cast<std::size_t>(role), bytes) != DType::none) roles[role] = DType::u8;
  return roles;
}

void pass_in_bytes(const CallRequest& request, Form& form) {
  for (std::size_t i = 0; i < form.passings.size() && i < form.entry->parameters.size(); ++i) {
    Passing& passing = form.passings[i];
    const auto at = request.in_bytes.find(passing.role);
    if (passing.what != Passing::What::role || at == request.in_bytes.end()) continue;
    if (form.entry->parameters[i].kind != Parameter::Kind::pointer) passing.cast = at->second;
  }
}

std::vector<Dtypes> dtypes_of_untyped(const Port& port, const Form& form, const Dtypes& dtypes) {
  const auto says = [](const std::string& type, std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return type.find(word) != std::string::npos; });
  };
  std::vector<Dtypes> list;
  const auto add = [&](const std::string& field, DType dtype) {
    Dtypes other = dtypes;
    other[field] = dtype;
    if (other != dtypes && std::find(list.begin(), list.end(), other) == list.end()) list.push_back(other);
  };
  for (std::size_t i = 0; i < std::min(form.passings.size(), form.entry->parameters.size()); ++i) {
    const Passing& passing = form.passings[i];
    const Parameter& p = form.entry->parameters[i];
    if (passing.what != Passing::What::role || p.kind != Parameter::Kind::pointer) continue;
    if (passing.cast != DType::none || p.element != DType::none) continue;
    const std::string& field = port.original->parameters[static_cast<std::size_t>(passing.role)].field;
    if (field.empty()) continue;
    if (says(p.type, {"16", "short"})) {
      add(field, DType::bf16);
      add(field, DType::f16);
    } else if (says(p.type, {"void"})) {
      for (const auto& usual : port.original->usual)
        for (const auto& [name, dtype] : usual)
          if (name == field) add(field, dtype);
    }
  }
  return list;
}

}  // namespace isomer::lab
