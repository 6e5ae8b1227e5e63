#include "lab/ask/recorded/bound_parts.hpp"

#include "lab/ask/names/bare.hpp"

#include <algorithm>
#include <utility>

namespace isomer::lab {

bool takes_tensor(const Parameter& p) {
  return p.kind == Parameter::Kind::tensor || p.kind == Parameter::Kind::optional_tensor;
}

bool takes_number(const Parameter& p) {
  return p.kind == Parameter::Kind::integer || p.kind == Parameter::Kind::real ||
         p.kind == Parameter::Kind::boolean;
}

Passing of_role(std::size_t role) {
  Passing passing;
  passing.what = Passing::What::role;
  passing.role = static_cast<int>(role);
  return passing;
}

Passing of_place(std::size_t place) {
  Passing passing;
  passing.what = Passing::What::computed;
  passing.computed = static_cast<int>(place);
  return passing;
}

Finding adapted(const Entry& entry, Code code, std::string argument, std::string evidence, std::string fix) {
  Finding finding;
  finding.code = code;
  finding.argument = std::move(argument);
  finding.evidence = std::move(evidence);
  finding.fix = std::move(fix);
  finding.location = entry.place;
  return finding;
}

const Value* left_out(const Replayed& replayed, const Parameter& parameter) {
  const auto is_word = [](const Value& value) {
    return value.kind == Value::Kind::text || value.kind == Value::Kind::dtype;
  };
  for (const Value& value : replayed.left_out)
    if (!parameter.name.empty() && value.kind != Value::Kind::list &&
        (!is_word(value) || !takes_number(parameter)) && bare(value.name) == bare(parameter.name))
      return &value;
  return nullptr;
}

bool has_tensors(const Entry& entry) {
  return entry.form == Entry::Form::extension ||
         std::any_of(entry.parameters.begin(), entry.parameters.end(), takes_tensor);
}

Passing stand_in(const Parameter& parameter, const Replayed& replayed, std::size_t at, Bound& bound) {
  Passing passing;
  passing.what = Passing::What::constant;
  const std::string name = bare(parameter.name);
  if (const Value* value = left_out(replayed, parameter); value != nullptr) {
    passing.constant = value->kind == Value::Kind::real ? value->real : static_cast<double>(value->integer);
  } else if (parameter.kind == Parameter::Kind::real) {
    passing.constant = name.find("eps") != std::string::npos ? 1e-5 : 1;
  } else if (parameter.kind == Parameter::Kind::integer &&
             (name == "axis" || (name == "dim" && has_tensors(*bound.form.entry)))) {
    passing.constant = -1;
  } else if (parameter.kind == Parameter::Kind::integer) {
    passing.what = Passing::What::elements;
    passing.role = replayed.outputs.empty() ? 0 : replayed.outputs.front().role;
    bound.unsure.push_back(static_cast<int>(at));
  }
  return passing;
}

}  // namespace isomer::lab
