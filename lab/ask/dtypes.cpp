#include "lab/ask/dtypes.hpp"

#include <fmt/format.h>

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
    const bool of_bytes = p.type.find("char") != std::string::npos;
    if (passing.cast != DType::none || (p.element != DType::none && !of_bytes)) continue;
    const std::string& field = port.original->parameters[static_cast<std::size_t>(passing.role)].field;
    if (field.empty()) continue;
    if (says(p.type, {"16", "short"})) {
      add(field, DType::bf16);
      add(field, DType::f16);
    } else if (says(p.type, {"void", "char", "byte"})) {
      for (const auto& usual : port.original->usual)
        for (const auto& [name, dtype] : usual)
          if (name == field) add(field, dtype);
    }
  }
  return list;
}

Dtypes dtypes_of_inputs(const Port& port, Dtypes dtypes) {
  std::erase_if(dtypes, [&](const auto& each) {
    return std::none_of(port.original->parameters.begin(), port.original->parameters.end(),
                        [&](const auto& of) { return !of.output && !of.returned && of.field == each.first; });
  });
  return dtypes;
}

void tell_result_dtypes(Called& called) {
  const auto tell = [&](int role, DType got, const SourcePlace& place) {
    const Value& want = called.given->values[static_cast<std::size_t>(role)];
    if (!want.is_tensor() || got == DType::none || want.tensor.dtype == got ||
        same_bytes(want.tensor.dtype, got))
      return;
    Finding finding;
    finding.code = Code::result_dtype;
    finding.argument = called.port->roles[static_cast<std::size_t>(role)].name;
    finding.evidence =
        fmt::format("{} comes as {} where the op has {}: its numbers are judged as rounded to {}",
                    finding.argument, name_of(got), name_of(want.tensor.dtype), name_of(want.tensor.dtype));
    finding.location = place;
    finding.fix = fmt::format("return {}", name_of(want.tensor.dtype));
    called.findings.push_back(std::move(finding));
  };
  // What was cast for a refusal is told as that.
  const std::vector<Parameter>& parameters = called.form.entry->parameters;
  for (std::size_t i = 0; i < called.form.passings.size() && i < parameters.size(); ++i) {
    const Passing& passing = called.form.passings[i];
    if (passing.what == Passing::What::role && parameters[i].element == passing.cast &&
        called.port->roles[static_cast<std::size_t>(passing.role)].output)
      tell(passing.role, passing.cast, called.form.entry->place);
  }
  const std::vector<Value>& values = called.trial.answer.returned;
  for (std::size_t i = 0; i < called.form.returned.size() && i < values.size(); ++i)
    if (values[i].is_tensor())
      tell(called.form.returned[i], values[i].tensor.dtype, called.form.entry->place);
}

}  // namespace isomer::lab
