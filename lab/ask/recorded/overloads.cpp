#include "lab/ask/recorded/binding.hpp"

#include <vector>

namespace isomer::lab {
namespace {

using Kind = Parameter::Kind;

/// Whether the binding converts it: no list to a number, no number to a tensor.
bool takes(const Parameter& parameter, const Value& value) {
  const bool memory = parameter.kind == Kind::tensor || parameter.kind == Kind::optional_tensor ||
                      parameter.kind == Kind::pointer;
  if (parameter.kind == Kind::unknown) return true;
  switch (value.kind) {
    case Value::Kind::tensor:
      return memory;
    case Value::Kind::list:
      return parameter.kind == Kind::list;
    case Value::Kind::real:
      return parameter.kind == Kind::real;
    case Value::Kind::integer:
    case Value::Kind::boolean:
      return !memory && parameter.kind != Kind::list && parameter.kind != Kind::text;
    default:
      return true;
  }
}

bool takes_all(const Bound& bound, const Replayed& replayed) {
  for (std::size_t i = 0; i < bound.form.passings.size(); ++i) {
    const Passing& passing = bound.form.passings[i];
    if (passing.what == Passing::What::role &&
        !takes(bound.form.entry->parameters[i], replayed.values[static_cast<std::size_t>(passing.role)]))
      return false;
  }
  return true;
}

}  // namespace

const Entry& overload_for(const Candidate& candidate, const Entry& entry, const Replayed& replayed,
                          const CallSettings& settings) {
  std::vector<const Entry*> overloads;
  for (const Entry& each : candidate.entries())
    if (each.exported && each.name == entry.name && each.form == entry.form) overloads.push_back(&each);
  if (overloads.size() < 2) return entry;
  for (const Entry* each : overloads) {
    const Bound bound = bind_call(*each, replayed);
    if (!bound.findings.empty() || !takes_all(bound, replayed)) continue;
    Approach approach;
    approach.candidate = &candidate;
    approach.form = bound.form;
    approach.settings = settings;
    const CallOutcome outcome = replay_once(approach, replayed);
    const Answer::End end = outcome.answer.end;
    if (end != Answer::End::refused && end != Answer::End::not_callable) return *each;
  }
  return entry;
}

}  // namespace isomer::lab
