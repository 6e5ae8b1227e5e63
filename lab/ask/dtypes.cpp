#include "lab/ask/dtypes.hpp"

#include "lab/ask/nearness.hpp"

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

namespace {

/// Whether all types that an argument may have are those of indices.
bool holds_indices(const Port& port, int role) {
  const int at = port.oracle->contract->index_of(port.roles[static_cast<std::size_t>(role)].argument);
  if (at < 0) return false;
  const auto& dtypes = port.oracle->contract->args[static_cast<std::size_t>(at)].dtypes;
  return std::all_of(dtypes.begin(), dtypes.end(),
                     [](DType dtype) { return dtype == DType::i32 || dtype == DType::i64; });
}

}  // namespace

std::vector<Dtypes> dtypes_of_untyped(const Port& port, const Form& form, const Dtypes& dtypes) {
  const auto says = [](const std::string& type, std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return type.find(word) != std::string::npos; });
  };
  std::vector<Dtypes> list;
  std::vector<std::string> open;  // fields of which no pointer says the type
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
      if (holds_indices(port, passing.role)) {
        add(field, DType::i32);
        add(field, DType::i64);
        continue;
      }
      for (const auto& usual : port.original->usual)
        for (const auto& [name, dtype] : usual)
          if (name == field) add(field, dtype);
      open.push_back(field);
    }
  }
  // All of them alike, usual or not: what the op does not take is not asked.
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    Dtypes alike = dtypes;
    for (const std::string& field : open) alike[field] = dtype;
    if (alike != dtypes && std::find(list.begin(), list.end(), alike) == list.end())
      list.push_back(std::move(alike));
  }
  return list;
}

Dtypes dtypes_of_pointers(const Port& port, const Form& form) {
  Dtypes dtypes;
  // Where an input and a result share a field, the input says it.
  for (const bool outputs : {true, false})
    for (const Passing& passing : form.passings) {
      if (passing.what != Passing::What::role || passing.cast == DType::none) continue;
      const oracle::Original::Parameter& parameter =
          port.original->parameters[static_cast<std::size_t>(passing.role)];
      if (!parameter.field.empty() && parameter.output == outputs) dtypes[parameter.field] = passing.cast;
    }
  return dtypes;
}

void try_untyped(const Candidate& candidate, const CallRequest& request, Called& called) {
  if (!called.trial.ok()) return;
  double before = share_right(*called.given, called.trial);
  if (before > 0.9) return;
  // A mask that it does not have makes little of any answer right.
  const Port asked = without_what_it_lacks(*called.port, called.form);
  const Dtypes pointers = dtypes_of_pointers(*called.port, called.form);
  std::vector<Dtypes> ways;
  for (Dtypes dtypes : dtypes_of_untyped(*called.port, called.form, called.dtypes)) {
    ways.push_back(dtypes);
    // A result that has a type may be of none that the op has for the usual inputs.
    for (const auto& [field, dtype] : pointers) dtypes[field] = dtype;
    if (dtypes != ways.back()) ways.insert(ways.end() - 1, dtypes);
  }
  for (const Dtypes& dtypes : ways) {
    std::shared_ptr<const Given> given;
    try {
      given = given_by_line(asked, asked.original->probes.front(), dtypes);
    } catch (const Error&) {  // the op does not take it
      continue;
    }
    Trial trial = try_call(candidate, called.form, *called.port, *given, request.settings);
    if (!trial.ok()) continue;
    // What is wrong in each shows by what it fills how wide its elements are.
    const double right = share_right(*given, trial);
    const bool fills =
        leaves_out(*called.given, called.trial) && !leaves_out(*given, trial) && right >= before;
    // Or by leaving its memory.
    const bool keeps =
        strays(called.trial) && !strays(trial) && !leaves_out(*given, trial) && right > before - 0.02;
    if (!fills && !keeps && right < before + 0.2) continue;
    before = right;
    called.dtypes = dtypes;
    called.given = given;
    called.trial = std::move(trial);
  }
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
