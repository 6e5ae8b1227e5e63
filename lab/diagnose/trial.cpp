#include "lab/diagnose/trial.hpp"

#include "core/codec.hpp"
#include "core/sentence.hpp"
#include "lab/diagnose/changed_answers.hpp"

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

template <class Visit>
void each_offset(const Tensor& tensor, Visit visit) {
  const std::int64_t count = tensor.numel();
  for (std::int64_t flat = 0; flat < count; ++flat) {
    std::int64_t offset = 0, index = flat;
    for (int d = tensor.rank - 1; d >= 0; --d) {
      offset += index % tensor.size(d) * tensor.stride(d);
      index /= tensor.size(d);
    }
    visit(flat, static_cast<std::byte*>(tensor.data) + offset * size_of(tensor.dtype));
  }
}

/// The same memory with trailing dimensions of size 1 dropped or added, and its axes reordered.
Tensor reshaped(Tensor tensor, int drop, bool inner, const std::vector<int>& axes) {
  for (; drop > 0 && tensor.rank > 0 && tensor.size(-1) == 1; --drop) --tensor.rank;
  for (; drop < 0 && tensor.rank < Tensor::kMaxRank; ++drop) {
    const int at = inner && tensor.rank > 0 ? tensor.rank - 1 : tensor.rank;
    // One step of the new dimension passes over all that lies inside it, as in PyTorch: a port may step by
    // it.
    const std::int64_t step = at < tensor.rank ? tensor.size(at) * tensor.stride(at) : 1;
    tensor = tensor.unsqueeze(at);
    tensor.strides[static_cast<std::size_t>(at)] = step;
  }
  if (axes.size() != static_cast<std::size_t>(tensor.rank)) return tensor;
  Tensor turned = tensor;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    turned.shape[i] = tensor.size(axes[i]);
    turned.strides[i] = tensor.stride(axes[i]);
  }
  return turned;
}

std::vector<int> inverse(const std::vector<int>& axes) {
  std::vector<int> back(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) back[static_cast<std::size_t>(axes[i])] = static_cast<int>(i);
  return back;
}

std::vector<std::int64_t> shape_of(const Tensor& tensor) {
  return {tensor.shape.begin(), tensor.shape.begin() + tensor.rank};
}

double number(const Value& value) {
  return value.kind == Value::Kind::real ? value.real : static_cast<double>(value.integer);
}

/// What a passing that is a number counts.
double counted(const Passing& passing, const std::vector<Value>& values) {
  const Value* source = passing.role >= 0 ? &values[static_cast<std::size_t>(passing.role)] : nullptr;
  if (passing.what == Passing::What::constant) return passing.constant;
  if (source == nullptr) return 0;
  if (!source->is_tensor()) return number(*source);
  const Tensor& tensor = source->tensor;
  const int dim = passing.dim < 0 ? passing.dim + tensor.rank : passing.dim;
  switch (passing.what) {
    case Passing::What::rows:
      return static_cast<double>(tensor.numel() /
                                 (tensor.rank > 0 ? std::max<std::int64_t>(tensor.size(-1), 1) : 1));
    case Passing::What::size: {
      const auto of = [&](int d) {
        return d >= 0 && d < tensor.rank ? static_cast<double>(tensor.size(d)) : 1;
      };
      return of(dim) * (passing.with == 0 ? 1 : of(passing.with + tensor.rank));
    }
    case Passing::What::scale_of_dot:
      return tensor.rank > 0 && tensor.size(-1) > 0 ? 1 / std::sqrt(static_cast<double>(tensor.size(-1))) : 1;
    case Passing::What::rank:
      return tensor.rank;
    case Passing::What::first:
      return tensor.empty() ? 0 : core::decode(tensor.dtype, static_cast<const std::byte*>(tensor.data));
    default:
      return static_cast<double>(tensor.numel());
  }
}

/// A copy with one dimension more, along which the elements repeat.
Value with_dimension(const Value& value, int at, std::int64_t length) {
  Tensor view = value.tensor;
  for (int d = view.rank; d > at; --d) {
    view.shape[static_cast<std::size_t>(d)] = view.shape[static_cast<std::size_t>(d) - 1];
    view.strides[static_cast<std::size_t>(d)] = view.strides[static_cast<std::size_t>(d) - 1];
  }
  view.shape[static_cast<std::size_t>(at)] = length;
  view.strides[static_cast<std::size_t>(at)] = 0;
  ++view.rank;
  Value longer = value;
  longer.tensor = view;
  return compact_copy(longer);
}

/// A number as a tensor without dimensions, as frameworks make one.
Value boxed(const Passing& passing, const Value& value) {
  const bool real = value.kind == Value::Kind::real;
  const DType dtype = passing.cast != DType::none ? passing.cast : real ? DType::f32 : DType::i64;
  Value box = tensor_value(value.name, dtype, {});
  core::encode(dtype, number(value), static_cast<std::byte*>(box.storage.get()));
  return box;
}

/// A copy of which the last two dimensions lie column by column.
Value in_columns(const Value& value, std::int64_t multiple) {
  Tensor tensor = value.tensor;
  const auto row = static_cast<std::size_t>(tensor.rank - 2), column = row + 1;
  const std::int64_t length = (tensor.shape[row] + multiple - 1) / multiple * multiple;
  std::int64_t stride = 1;
  tensor.strides[row] = stride;
  tensor.strides[column] = stride = std::max<std::int64_t>(length, 1);
  stride *= tensor.shape[column];
  for (std::size_t d = row; d-- > 0; stride *= tensor.shape[d]) tensor.strides[d] = stride;
  Value copy = tensor_value(value.name, tensor.dtype, {stride});
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype));
  tensor.data = copy.storage.get();
  std::vector<const std::byte*> elements;
  each_offset(value.tensor, [&](std::int64_t, const std::byte* element) { elements.push_back(element); });
  each_offset(tensor, [&](std::int64_t flat, const std::byte* element) {
    std::memcpy(const_cast<std::byte*>(element), elements[static_cast<std::size_t>(flat)], size);
  });
  copy.tensor = tensor;
  copy.boolean = value.boolean;
  return copy;
}

Value pass_tensor(const Passing& passing, const Value& original, const std::vector<Value>& values) {
  if (!original.is_tensor()) return original;
  Value value = deep_copy(original);
  if (passing.longer != nullptr && value.tensor.rank < Tensor::kMaxRank)
    value = with_dimension(
        value, std::min(passing.inserted, value.tensor.rank),
        std::max<std::int64_t>(1, static_cast<std::int64_t>(counted(*passing.longer, values))));
  value.tensor = reshaped(value.tensor, passing.drop, passing.inner, passing.axes);
  if (passing.cast != DType::none && passing.cast != value.tensor.dtype) value = cast_to(value, passing.cast);
  if ((passing.compact || !passing.axes.empty()) && !value.tensor.is_contiguous())
    value = compact_copy(value);
  if (passing.columns > 0 && value.tensor.rank >= 2) value = in_columns(value, passing.columns);
  return value;
}

/// A role's tensor as the form passes it, which may be a copy with other strides.
Value as_passed(const Form& form, int role, const Value& source, const std::vector<Value>& values) {
  Passing passing;
  for (const Passing& each : form.passings)
    if (each.what == Passing::What::role && each.role == role) passing = each;
  return pass_tensor(passing, source, values);
}

/// Sizes or strides in an array: on the host, where a function reads them; of a kernel, where kernels read.
Value array_of(const Form& form, const Passing& passing, const Value& source,
               const std::vector<Value>& values, const Parameter* parameter) {
  Value array;
  array.kind = Value::Kind::list;
  if (source.is_tensor()) {
    const Value given = as_passed(form, passing.role, source, values);
    const auto& numbers = passing.what == Passing::What::sizes ? given.tensor.shape : given.tensor.strides;
    for (int d = 0; d < given.tensor.rank; ++d)
      array.items.push_back(integer_value("", numbers[static_cast<std::size_t>(d)]));
  }
  if (form.entry->form != Entry::Form::kernel || parameter == nullptr) return array;
  Value memory = tensor_value("", parameter->element, {static_cast<std::int64_t>(array.items.size())});
  const auto size = static_cast<std::size_t>(size_of(parameter->element));
  for (std::size_t i = 0; i < array.items.size(); ++i)
    core::encode(parameter->element, static_cast<double>(array.items[i].integer),
                 static_cast<std::byte*>(memory.storage.get()) + i * size);
  return memory;
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

oracle::Expected Given::varied(const oracle::Oracle& oracle, const oracle::Variations& variations) const {
  oracle::Expected expected(problem->call());
  oracle.reference(problem->call(), variations, expected);
  apply_changes(variations, expected);
  return expected;
}

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
  return finish(port, c.line(), own, std::move(values));
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

Value compact_copy(const Value& value) {
  Value copy = tensor_value(value.name, value.tensor.dtype, shape_of(value.tensor));
  copy.boolean = value.boolean;
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
  each_offset(value.tensor, [&](std::int64_t flat, const std::byte* element) {
    std::memcpy(static_cast<std::byte*>(copy.storage.get()) + static_cast<std::size_t>(flat) * size, element,
                size);
  });
  return copy;
}

bool same_bytes(DType one, DType other) {
  const auto bytes = [](DType dtype) { return dtype == DType::u8 || dtype == DType::i8; };
  return (is_fp8(one) && bytes(other)) || (bytes(one) && is_fp8(other));
}

Value cast_to(const Value& value, DType dtype) {
  if (same_bytes(value.tensor.dtype, dtype)) {
    Value copy = deep_copy(value);
    copy.tensor.dtype = dtype;
    return copy;
  }
  // The whole storage, gaps between strided elements included.
  const auto from = static_cast<std::size_t>(size_of(value.tensor.dtype));
  const auto to = static_cast<std::size_t>(size_of(dtype));
  const std::size_t count = value.storage_bytes / from;
  Value copy = tensor_value(value.name, dtype, {static_cast<std::int64_t>(count)});
  for (std::size_t i = 0; i < count; ++i)
    core::encode(
        dtype,
        core::decode(value.tensor.dtype, static_cast<const std::byte*>(value.storage.get()) + i * from),
        static_cast<std::byte*>(copy.storage.get()) + i * to);
  copy.tensor = value.tensor;
  copy.tensor.dtype = dtype;
  copy.storage_offset = value.storage_offset / from * to;
  copy.tensor.data = static_cast<std::byte*>(copy.storage.get()) + copy.storage_offset;
  return copy;
}

std::vector<Value> passed(const Form& form, const std::vector<Value>& values) {
  std::vector<Value> list;
  for (std::size_t i = 0; i < form.passings.size(); ++i) {
    const Passing& passing = form.passings[i];
    const Parameter* parameter = i < form.entry->parameters.size() ? &form.entry->parameters[i] : nullptr;
    const std::string name = parameter != nullptr ? parameter->name : std::string();
    const auto as_number = [&](double n) {
      const bool real = parameter != nullptr && parameter->kind == Parameter::Kind::real;
      return real ? real_value(name, n) : integer_value(name, static_cast<std::int64_t>(n));
    };
    const Value* source = passing.role >= 0 ? &values[static_cast<std::size_t>(passing.role)] : nullptr;
    switch (passing.what) {
      case Passing::What::role:
        if (source->is_tensor()) {
          list.push_back(pass_tensor(passing, *source, values));
        } else if (passing.boxed && source->kind != Value::Kind::none) {
          list.push_back(boxed(passing, *source));
        } else if (parameter != nullptr &&
                   (parameter->kind == Parameter::Kind::real ||
                    parameter->kind == Parameter::Kind::integer) &&
                   source->kind != Value::Kind::none) {
          list.push_back(as_number(number(*source)));
        } else {
          list.push_back(*source);
        }
        break;
      case Passing::What::elements:
      case Passing::What::rows:
      case Passing::What::size:
      case Passing::What::scale_of_dot:
      case Passing::What::first:
      case Passing::What::rank:
      case Passing::What::constant:
        list.push_back(as_number(counted(passing, values)));
        break;
      case Passing::What::stride: {
        const Value tensor = as_passed(form, passing.role, *source, values);
        const int dim = passing.dim < 0 ? passing.dim + tensor.tensor.rank : passing.dim;
        list.push_back(as_number(
            dim >= 0 && dim < tensor.tensor.rank ? static_cast<double>(tensor.tensor.stride(dim)) : 1));
        break;
      }
      case Passing::What::sizes:
      case Passing::What::strides:
        list.push_back(array_of(form, passing, *source, values, parameter));
        break;
      case Passing::What::none:
        list.emplace_back();
        if (i < form.entry->parameters.size() && form.entry->parameters[i].has_default)
          list.back().kind = Value::Kind::omitted;
        break;
    }
    list.back().name = name;
  }
  return list;
}

std::string numbers_in_words(const Form& form, const std::vector<Value>& values) {
  std::string text;
  const std::vector<Value> given = passed(form, values);
  for (std::size_t i = 0; i < given.size() && i < form.entry->parameters.size(); ++i) {
    const Value& value = given[i];
    const Parameter& p = form.entry->parameters[i];
    const std::string name = p.name.empty() ? core::say("argument ", i + 1) : p.name;
    std::string number;
    if (value.kind == Value::Kind::integer)
      number = fmt::format("{}", value.integer);
    else if (value.kind == Value::Kind::real)
      number = fmt::format("{:.6g}", value.real);
    else if (value.kind == Value::Kind::boolean)
      number = value.integer != 0 ? "true" : "false";
    else
      continue;
    text += (text.empty() ? "" : ", ") + name + "=" + number;
  }
  return text;
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

std::array<std::int64_t, 3> extents(const std::array<LaunchForm::Axis, 3>& axes,
                                    const std::vector<Value>& values) {
  std::array<std::int64_t, 3> list{};
  for (std::size_t i = 0; i < 3; ++i)
    list[i] = axes[i].times *
              ((static_cast<std::int64_t>(counted(axes[i].count, values)) + axes[i].per - 1) / axes[i].per);
  return list;
}

CallSettings with_launch_of(const Form& form, const std::vector<Value>& values, const CallSettings& asked) {
  CallSettings settings = asked;
  if (form.launch == nullptr) return settings;
  const auto grid = extents(form.launch->grid, values), block = extents(form.launch->block, values);
  for (std::size_t i = 0; i < 3; ++i) {
    settings.grid[i] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(grid[i], 0, 0x7fffffff));
    settings.block[i] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(block[i], 1, 1024));
  }
  return settings;
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
      std::memset(arguments[i].storage.get(), poison, arguments[i].storage_bytes);
  std::vector<Value> before;
  for (const Value& argument : arguments) before.push_back(deep_copy(argument));
  Trial trial;
  // Who launches a kernel leaves it alone where there is nothing to do.
  if (nothing)
    trial.answer.arguments = arguments;
  else
    trial.answer = candidate.call(*form.entry, arguments, settings);
  refuse_by_status(*form.entry, before, trial.answer);
  take_outputs(form, port, given, before, trial);
  return trial;
}

bool holds(const oracle::ExpectedTensor& expected, std::size_t i, double got) {
  const double want = expected.value[i];
  for (const auto* list : {&expected.others, &expected.nearby})
    if (const auto at = list->find(i); at != list->end())
      if (std::find(at->second.begin(), at->second.end(), got) != at->second.end()) return true;
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
