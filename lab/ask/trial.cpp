#include "lab/ask/trial.hpp"

#include "core/codec.hpp"
#include "core/sentence.hpp"
#include "lab/ask/passed_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace isomer::lab {
namespace {

std::size_t outputs_index(const oracle::Expected& expected, std::string_view argument) {
  for (std::size_t i = 0; i < expected.tensors.size(); ++i)
    if (expected.tensors[i].name == argument) return i;
  return expected.tensors.size();
}

std::shared_ptr<Given> finish(const Port& port, std::string line,
                              std::shared_ptr<const oracle::Problem> problem, std::vector<Value> values) {
  oracle::Expected plain(problem->call());
  port.oracle->reference(problem->call(), {}, plain);
  auto given = std::make_shared<Given>(
      Given{std::move(line), std::move(problem), std::move(values), std::move(plain), {}, {}, {}});
  if (port.original->open)
    given->open = port.original->open(given->problem->call(), given->plain);
  else
    for (const oracle::ExpectedTensor& tensor : given->plain.tensors)
      given->open.emplace_back(tensor.value.size());
  return given;
}

std::vector<int> inverse(const std::vector<int>& axes) {
  std::vector<int> back(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) back[static_cast<std::size_t>(axes[i])] = static_cast<int>(i);
  return back;
}

/// A C function says no with the number that it returns, unless it did what was asked: then that is a count.
void refuse_by_status(const Entry& entry, const std::vector<Value>& before, Answer& answer) {
  if (entry.exported || entry.returned_tensors || !answer.ok()) return;
  if (answer.returned.size() != 1 || answer.returned[0].kind != Value::Kind::integer) return;
  if (answer.returned[0].integer == 0) return;
  for (std::size_t i = 0; i < before.size() && i < answer.arguments.size(); ++i)
    if (before[i].is_tensor() && before[i].storage_bytes == answer.arguments[i].storage_bytes &&
        std::memcmp(before[i].storage.get(), answer.arguments[i].storage.get(), before[i].storage_bytes) != 0)
      return;
  answer.end = Answer::End::refused;
  answer.message = core::say(entry.name, " returned ", answer.returned[0].integer);
}

/// What a candidate left in a tensor, as the original would have it.
void take(const Passing& passing, const Port& port, const Value& value, const Value& before,
          const oracle::ExpectedTensor& want, std::size_t at, Trial& trial) {
  if (!value.is_tensor()) {
    trial.misfit = core::say(want.name, ": no tensor was returned");
    return;
  }
  Tensor got = value.tensor;
  if (same_bytes(got.dtype, want.dtype)) got.dtype = want.dtype;
  if (!passing.axes.empty()) got = reshaped(got, 0, false, inverse(passing.axes));
  got = port.by_contract(static_cast<std::size_t>(passing.role), got);
  if (got.numel() != static_cast<std::int64_t>(want.value.size())) {
    trial.misfit = core::say(want.name, ": ", value.tensor.describe(), " came back, expected ",
                             want.value.size(), " elements");
    return;
  }
  const Tensor* old = before.is_tensor() ? &before.tensor : nullptr;
  const auto size = static_cast<std::size_t>(size_of(got.dtype));
  each_offset(got, [&](std::int64_t flat, const std::byte* element) {
    const auto i = static_cast<std::size_t>(flat);
    trial.outputs[at][i] = core::round_to(want.dtype, core::decode(got.dtype, element));
    const auto offset = element - static_cast<const std::byte*>(value.tensor.data);
    if (old != nullptr)
      trial.untouched[at][i] =
          std::memcmp(static_cast<const std::byte*>(old->data) + offset, element, size) == 0;
    else
      trial.untouched[at][i] =
          std::all_of(element, element + size, [](std::byte b) { return b == std::byte{0xff}; });
  });
}

}  // namespace

std::shared_ptr<Given> given_by_line(const Port& port, const std::string& line, const Dtypes& dtypes) {
  const bool named = oracle::op_of(line) == port.op;
  oracle::Case c = oracle::Case::parse(*port.oracle->schema, named ? line.substr(port.op.size()) : line);
  for (const auto& [field, dtype] : dtypes) c.set(field, name_of(dtype));
  for (const oracle::Field& field : port.oracle->schema->fields)
    if (std::find(port.left_off.begin(), port.left_off.end(), field.name) != port.left_off.end())
      c.set(field.name, field.kind == oracle::Field::Kind::flag ? "0" : field.fallback);
  for (const std::string& flag : port.always) c.set(flag, "1");
  if (c.seed() == 0) c = c.with_seed(20240607);
  auto problem = std::make_shared<oracle::Problem>(c);
  port.oracle->make(c, *problem);
  core::validate(problem->call(), Device{}, true);
  std::vector<Value> values = port.values(*problem);
  // On the values' own memory, so that what is poisoned and passed is what the reference sees.
  std::shared_ptr<oracle::Problem> own = port.problem(values);
  std::shared_ptr<Given> given = finish(port, c.line(), own, std::move(values));
  given->made = true;
  return given;
}

std::shared_ptr<Given> given_by_values(const Port& port, const std::string& origin,
                                       const std::vector<Value>& values, DType made) {
  std::vector<Value> copies;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const DType asked = port.in_bytes(i, values[i]);
    copies.push_back(asked == DType::none ? deep_copy(values[i]) : cast_to(values[i], asked));
  }
  const std::shared_ptr<oracle::Problem> problem = port.problem(copies, made);
  return finish(port, origin, problem, port.values(*problem));
}

bool holds_a_result(const Form& form, std::size_t parameter) {
  return std::any_of(form.in_place.begin(), form.in_place.end(),
                     [&](const auto& each) { return each.second == static_cast<int>(parameter); });
}

bool Form::takes(int role) const {
  return std::any_of(passings.begin(), passings.end(), [&](const Passing& passing) {
    return passing.what == Passing::What::role && passing.role == role;
  });
}

Port without_what_it_lacks(const Port& port, const Form& form) {
  Port narrowed = port;
  for (std::size_t role = 0; role < port.roles.size(); ++role)
    if (port.roles[role].optional && !port.roles[role].tensor && !form.takes(static_cast<int>(role)))
      narrowed.left_off.push_back(port.roles[role].argument);
  return narrowed;
}

void take_outputs(const Form& form, const Port& port, const Given& given, const std::vector<Value>& before,
                  Trial& trial) {
  for (const oracle::ExpectedTensor& want : given.plain.tensors) {
    trial.outputs.emplace_back(want.value.size());
    trial.untouched.emplace_back(want.value.size());
  }
  if (!trial.answer.ok()) return;
  std::vector<bool> taken(given.plain.tensors.size());
  for (std::size_t i = 0; i < form.passings.size(); ++i) {
    const Passing& passing = form.passings[i];
    if (passing.what != Passing::What::role) continue;
    const Port::Role& role = port.roles[static_cast<std::size_t>(passing.role)];
    if (!role.output) continue;
    const std::size_t at = outputs_index(given.plain, role.argument);
    if (at == taken.size() || i >= trial.answer.arguments.size()) continue;
    take(passing, port, trial.answer.arguments[i], i < before.size() ? before[i] : Value(),
         given.plain.tensors[at], at, trial);
    taken[at] = true;
  }
  for (std::size_t i = 0; i < form.returned.size() && i < trial.answer.returned.size(); ++i) {
    const std::size_t at =
        outputs_index(given.plain, port.roles[static_cast<std::size_t>(form.returned[i])].argument);
    if (at == taken.size() || taken[at]) continue;
    Passing as_returned;
    as_returned.role = form.returned[i];
    for (const Passing& passing : form.passings)  // axes of what is returned follow the first input's
      if (!passing.axes.empty() && passing.what == Passing::What::role) {
        as_returned.axes = passing.axes;
        break;
      }
    take(as_returned, port, trial.answer.returned[i], Value(), given.plain.tensors[at], at, trial);
    taken[at] = true;
  }
  for (std::size_t at = 0; at < taken.size() && trial.misfit.empty(); ++at)
    if (!taken[at])
      trial.misfit = core::say(given.plain.tensors[at].name, ": the call neither takes nor returns it");
}

Trial try_call(const Candidate& candidate, const Form& form, const Port& port, const Given& given,
               const CallSettings& asked, std::uint8_t poison) {
  const CallSettings settings = with_launch_of(form, given.values, asked);
  const bool nothing = form.launch != nullptr && std::find(std::begin(settings.grid), std::end(settings.grid),
                                                           0u) != std::end(settings.grid);
  std::vector<Value> arguments = passed(form, given.values);
  for (std::size_t i = 0; i < form.passings.size(); ++i)
    if (form.passings[i].what == Passing::What::role && arguments[i].is_tensor() &&
        port.roles[static_cast<std::size_t>(form.passings[i].role)].output)
      std::memset(arguments[i].storage.get(), form.cleared ? 0 : poison, arguments[i].storage_bytes);
  std::vector<Value> before;
  for (const Value& argument : arguments) before.push_back(deep_copy(argument));
  Trial trial;
  // Who launches a kernel leaves it alone where there is nothing to do.
  if (std::string why = cannot_count(form, given.values); !why.empty()) {
    trial.answer.end = Answer::End::refused;
    trial.answer.message = std::move(why);
  } else if (nothing)
    trial.answer.arguments = arguments;
  else
    trial.answer = candidate.call(*form.entry, arguments, settings);
  for (Seen& seen : trial.answer.seen)
    for (std::size_t i = 0; i < form.passings.size(); ++i)
      if (form.passings[i].what == Passing::What::role && arguments[i].name == seen.buffer &&
          !seen.buffer.empty())
        seen.role = form.passings[i].role;
  refuse_by_status(*form.entry, before, trial.answer);
  take_outputs(form, port, given, before, trial);
  return trial;
}

bool holds(const oracle::ExpectedTensor& expected, std::size_t i, double got) {
  const double want = expected.value[i];
  for (const auto* list : {&expected.others, &expected.nearby})
    if (const auto at = list->find(i); at != list->end())
      if (std::any_of(at->second.begin(), at->second.end(),
                      [&](double other) { return other == got || (std::isnan(other) && std::isnan(got)); }))
        return true;
  if (std::isnan(want)) return std::isnan(got);
  if (std::isnan(got)) return false;
  if (got == want) return true;
  if (std::isinf(got)) {
    const double reach = std::copysign(std::fabs(want) + expected.bound[i], want);
    return std::signbit(got) == std::signbit(want) && std::isinf(core::round_to(expected.dtype, reach));
  }
  return std::fabs(got - want) <= expected.bound[i];
}

}  // namespace isomer::lab
