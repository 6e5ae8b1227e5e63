#include "lab/ask/names/bare.hpp"
#include "lab/ask/names/dtype_names.hpp"
#include "lab/ask/recorded/bound_parts.hpp"

#include <algorithm>
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

/// Whether two functions are one by all but the type of the elements, as argmax_f32 and argmax_f16 are.
bool are_twins(const Entry& one, const Entry& other) {
  const DtypeName a = dtype_name(one.name), b = dtype_name(other.name);
  return one.form == other.form && one.linkage == other.linkage && a.stem == b.stem && a.dtype != b.dtype &&
         std::equal(one.parameters.begin(), one.parameters.end(), other.parameters.begin(),
                    other.parameters.end(), [](const Parameter& p, const Parameter& q) {
                      // A number is of the elements' type, too.
                      const bool numbers = takes_number(p) && takes_number(q);
                      return p.name == q.name && (p.kind == q.kind || numbers);
                    });
}

/// How many of a call's tensors are of another type than the function says, by its pointers or by its name.
int other_types(const Entry& entry, const Replayed& replayed) {
  const Bound bound = bind_call(entry, replayed);
  const DType said = dtype_name(entry.name).dtype;
  int count = 0;
  bool untyped = false;
  for (std::size_t i = 0; i < bound.form.passings.size(); ++i) {
    const Passing& passing = bound.form.passings[i];
    const Parameter& parameter = entry.parameters[i];
    if (passing.what != Passing::What::role || parameter.kind != Parameter::Kind::pointer) continue;
    const Value& value = replayed.values[static_cast<std::size_t>(passing.role)];
    if (!value.is_tensor()) continue;
    if (parameter.element != DType::none) {
      count += value.tensor.dtype != parameter.element;
    } else if (!untyped) {
      untyped = true;  // the first memory of any type is what the name speaks of
      count += said != DType::none && value.tensor.dtype != said;
    }
  }
  return count;
}

/// Whether a function over raw memory has a parameter of the right kind for each tensor of the callers', and
/// something for each of its pointers.
bool fits_call(const Entry& entry, const Replayed& replayed) {
  const Bound bound = bind_call(entry, replayed);
  if (!takes_all(bound, replayed)) return false;
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r)
    if (replayed.roles[r].tensor && !bound.form.takes(static_cast<int>(r))) return false;
  for (std::size_t p = 0; p < bound.form.passings.size(); ++p)
    if (entry.parameters[p].kind == Kind::pointer && entry.parameters[p].is_const &&
        bound.form.passings[p].what == Passing::What::none)
      return false;
  return true;
}

/// Where a call has a tensor in the place of a number, the one function beside this for which it has all, as
/// pow_tensor_tensor is beside pow_tensor_scalar: of `pow` both are.
const Entry& variant_for(const Candidate& candidate, const Entry& entry, const Replayed& replayed) {
  const std::string label = bare(replayed.call->function);
  const auto is_of_label = [&](const Entry& each) {
    return each.form == Entry::Form::function && each.linkage == Linkage::c && !each.called_inside &&
           !has_tensors(each) && bare(each.name).find(label) != std::string::npos;
  };
  if (!is_of_label(entry) || bare(entry.name) == label || fits_call(entry, replayed)) return entry;
  const Entry* found = nullptr;
  for (const Entry& each : candidate.entries()) {
    if (&each == &entry || !is_of_label(each) || !fits_call(each, replayed)) continue;
    if (found != nullptr) return entry;
    found = &each;
  }
  return found == nullptr ? entry : *found;
}

}  // namespace

std::vector<const Entry*> dtype_twins(const Candidate& candidate, const Entry& entry) {
  std::vector<const Entry*> twins;
  if (entry.form == Entry::Form::extension) return twins;
  for (const Entry& each : candidate.entries())
    if (&each == &entry || are_twins(entry, each)) twins.push_back(&each);
  return twins;
}

const Entry& twin_for(const Candidate& candidate, const Entry& entry, const Replayed& replayed) {
  const std::vector<const Entry*> twins = dtype_twins(candidate, entry);
  const Entry* best = &entry;
  int least = twins.size() < 2 ? 0 : other_types(entry, replayed);
  for (const Entry* each : twins)
    if (const int other = least == 0 ? 0 : other_types(*each, replayed); other < least) {
      least = other;
      best = each;
    }
  return *best;
}

const Entry& overload_for(const Candidate& candidate, const Entry& entry, const Replayed& replayed,
                          const CallSettings& settings) {
  std::vector<const Entry*> overloads;
  for (const Entry& each : candidate.entries())
    if (each.exported && each.name == entry.name && each.form == entry.form) overloads.push_back(&each);
  if (overloads.size() < 2) {
    const Entry& variant = variant_for(candidate, entry, replayed);
    return &variant == &entry ? twin_for(candidate, entry, replayed) : variant;
  }
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
