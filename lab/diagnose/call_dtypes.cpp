#include "lab/diagnose/call_dtypes.hpp"

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

}  // namespace isomer::lab
