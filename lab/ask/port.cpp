#include "lab/ask/port.hpp"

#include "core/sentence.hpp"
#include "lab/ask/trial.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace isomer::lab {
namespace {

using oracle::Original;

Port port_of(const oracle::Oracle& oracle, const Original& original) {
  Port port{.op = original.op,
            .functions = original.functions,
            .roles = {},
            .oracle = &oracle,
            .original = &original,
            .always = {}};
  for (const Original::Parameter& parameter : original.parameters)
    port.roles.push_back({.name = parameter.name,
                          .argument = parameter.argument,
                          .output = parameter.output,
                          .optional = parameter.optional,
                          .returned = parameter.returned,
                          .tensor = parameter.kind == Original::Kind::tensor});
  return port;
}

/// A tensor of a problem in a buffer of its own, strides kept.
Value value_of(const std::string& name, Tensor tensor) {
  std::int64_t last = tensor.empty() ? -1 : 0;
  for (int i = 0; i < tensor.rank && last >= 0; ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
  Value value = tensor_value(name, tensor.dtype, {last + 1});
  if (value.storage_bytes > 0) std::memcpy(value.storage.get(), tensor.data, value.storage_bytes);
  tensor.data = value.storage.get();
  value.tensor = tensor;
  return value;
}

Tensor with_axes(const Tensor& tensor, const std::vector<int>& axes) {
  if (axes.size() != static_cast<std::size_t>(tensor.rank)) return tensor;
  Tensor turned = tensor;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    turned.shape[i] = tensor.size(axes[i]);
    turned.strides[i] = tensor.stride(axes[i]);
  }
  return turned;
}

/// The tensor with its axes as the original has them: compact where it was, whatever its order.
Value in_order_of(const Original::Parameter& parameter, Value value) {
  if (parameter.axes.empty()) return value;
  const bool compact = value.tensor.is_contiguous();
  value.tensor = with_axes(value.tensor, parameter.axes);
  return compact && !value.tensor.is_contiguous() ? compact_copy(value) : value;
}

Tensor without_leading_ones(Tensor tensor) {
  while (tensor.rank > 1 && tensor.size(0) == 1) tensor = tensor.select(0, 0);
  return tensor;
}

Tensor with_leading_ones(const Tensor& tensor, int rank) {
  Tensor wide = tensor;
  const int more = rank - tensor.rank;
  wide.rank = rank;
  for (int i = rank - 1; i >= 0; --i) {
    wide.shape[static_cast<std::size_t>(i)] = i < more ? 1 : tensor.size(i - more);
    wide.strides[static_cast<std::size_t>(i)] = i < more ? 0 : tensor.stride(i - more);
  }
  return wide;
}

double number_of(const Value& value, double fallback) {
  switch (value.kind) {
    case Value::Kind::integer:
    case Value::Kind::boolean:
      return static_cast<double>(value.integer);
    case Value::Kind::real:
      return value.real;
    default:
      return fallback;
  }
}

std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The names that a parameter goes by, the spelling of case and underscores aside.
bool goes_by(const Original::Parameter& parameter, std::string_view name) {
  const std::string asked = plain(name);
  if (asked == plain(parameter.name) || asked == plain(parameter.argument)) return true;
  std::size_t at = 0;
  while (at < parameter.also.size()) {
    const std::size_t end = std::min(parameter.also.find(' ', at), parameter.also.size());
    if (asked == plain(std::string_view(parameter.also).substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::vector<Value> Port::values(const oracle::Problem& problem) const {
  std::vector<Value> values;
  const core::Call& call = problem.call();
  for (const Original::Parameter& parameter : original->parameters) {
    switch (parameter.kind) {
      case Original::Kind::tensor: {
        if (parameter.lent) {
          values.push_back(tensor_value(parameter.name, DType::f32, parameter.lent(call)));
          break;
        }
        const Tensor& tensor = call.tensor(call.contract->index_of(parameter.argument));
        values.push_back(tensor.defined() ? in_order_of(parameter, value_of(parameter.name, tensor))
                                          : Value());
        if (parameter.without >= 0 && values.back().is_tensor())
          values.back().tensor = values.back().tensor.select(parameter.without, 0);
        if (parameter.half >= 0 && values.back().is_tensor()) {
          const Tensor& whole = values.back().tensor;
          const std::int64_t length = whole.size(-1) / 2;
          values.back().tensor =
              whole.slice(whole.rank - 1, parameter.half * length, (parameter.half + 1) * length);
          values.back() = compact_copy(values.back());
        }
        if (original->drops_leading_ones && values.back().is_tensor())
          values.back().tensor = without_leading_ones(values.back().tensor);
        values.back().name = parameter.name;
        break;
      }
      case Original::Kind::integer:
        values.push_back(integer_value(
            parameter.name, static_cast<std::int64_t>(original->number(call, parameter.argument))));
        break;
      case Original::Kind::real:
        values.push_back(real_value(parameter.name, original->number(call, parameter.argument)));
        break;
      case Original::Kind::boolean:
        values.push_back(boolean_value(parameter.name, original->number(call, parameter.argument) != 0));
        break;
    }
  }
  return values;
}

std::shared_ptr<oracle::Problem> Port::problem(const std::vector<Value>& values, DType made,
                                               bool contents) const {
  // The values keep the memory that the problem's tensors lie in.
  std::shared_ptr<oracle::Problem> problem(new oracle::Problem(oracle::Case(*oracle->schema).with_seed(1)),
                                           [values](oracle::Problem* p) { delete p; });
  std::vector<Tensor> tensors(roles.size());
  std::vector<double> numbers(roles.size(), 0.0);
  for (std::size_t i = 0; i < roles.size(); ++i) {
    const Original::Parameter& parameter = original->parameters[i];
    numbers[i] = parameter.fallback;
    if (i >= values.size() || values[i].kind == Value::Kind::none) {
      if (parameter.returned || parameter.optional) continue;
      core::fail(ErrorCode::bad_argument, op, ": ", parameter.name, " is not given");
    }
    if (parameter.kind != Original::Kind::tensor) {
      if (values[i].is_tensor() || values[i].kind == Value::Kind::list)
        core::fail(ErrorCode::bad_argument, op, ": ", parameter.name, " is expected to be a number");
      numbers[i] = number_of(values[i], parameter.fallback);
      continue;
    }
    if (!values[i].is_tensor())
      core::fail(ErrorCode::bad_argument, op, ": ", parameter.name, " is expected to be a tensor");
    tensors[i] = by_contract(i, values[i].tensor);
  }
  original->bind(*problem, tensors, numbers, made);
  core::validate(problem->call(), Device{}, contents);
  return problem;
}

DType Port::in_bytes(std::size_t role, const Value& value) const {
  if (role >= roles.size() || !roles[role].tensor || !value.is_tensor()) return DType::none;
  if (value.tensor.dtype != DType::u8 && value.tensor.dtype != DType::i8) return DType::none;
  const int at = oracle->contract->index_of(roles[role].argument);
  if (at < 0) return DType::none;
  const auto& dtypes = oracle->contract->args[static_cast<std::size_t>(at)].dtypes;
  if (std::find(dtypes.begin(), dtypes.end(), value.tensor.dtype) != dtypes.end()) return DType::none;
  const auto fp8 = std::find_if(dtypes.begin(), dtypes.end(), [](DType dtype) { return is_fp8(dtype); });
  return fp8 == dtypes.end() ? DType::none : *fp8;
}

/// How many dimensions an argument has, by its own shape or the contract's first; 0 where that is left open.
static int rank_of(const core::Contract& contract, const Original::Parameter& parameter) {
  const int at = contract.index_of(parameter.argument);
  if (at < 0) return 0;
  const std::string& shape =
      parameter.shape.empty() ? contract.args[static_cast<std::size_t>(at)].shapes.front() : parameter.shape;
  if (shape.empty() || shape.find("...") != std::string::npos) return 0;
  return 1 + static_cast<int>(std::count(shape.begin(), shape.end(), ' '));
}

Tensor Port::by_contract(std::size_t role, const Tensor& tensor) const {
  if (const int without = original->parameters[role].without; without >= 0) {
    Tensor whole = tensor.unsqueeze(without);
    whole.strides[static_cast<std::size_t>(without)] =
        without + 1 < whole.rank ? whole.size(without + 1) * whole.stride(without + 1) : 1;
    return whole;
  }
  const std::vector<int>& axes = original->parameters[role].axes;
  std::vector<int> back(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) back[static_cast<std::size_t>(axes[i])] = static_cast<int>(i);
  const int rank =
      axes.empty() ? rank_of(*oracle->contract, original->parameters[role]) : static_cast<int>(axes.size());
  const bool shorter = original->drops_leading_ones && tensor.rank < rank;
  return with_axes(shorter ? with_leading_ones(tensor, rank) : tensor, back);
}

int Port::role_of(std::string_view name) const {
  if (original == nullptr) {  // of an op that is not known
    for (std::size_t i = 0; i < roles.size(); ++i)
      if (plain(roles[i].name) == plain(name)) return static_cast<int>(i);
    return -1;
  }
  const auto& list = original->parameters;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (plain(list[i].name) == plain(name)) return static_cast<int>(i);
  for (std::size_t i = 0; i < list.size(); ++i)
    if (goes_by(list[i], name)) return static_cast<int>(i);
  return -1;
}

int Port::role_of_argument(std::string_view argument) const {
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (roles[i].argument == argument) return static_cast<int>(i);
  return -1;
}

int Port::inputs() const {
  return static_cast<int>(
      std::count_if(roles.begin(), roles.end(), [](const Role& role) { return !role.returned; }));
}

std::vector<Value> Port::by_role(const std::vector<Value>& arguments,
                                 const std::vector<bool>& keyword) const {
  std::vector<Value> values(static_cast<std::size_t>(inputs()));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    int role = static_cast<int>(i);
    if (i < keyword.size() && keyword[i]) role = role_of(arguments[i].name);
    if (role < 0 || role >= inputs())
      core::fail(ErrorCode::bad_argument, op, ": ", functions.front(), " has no argument ",
                 arguments[i].name.empty() ? std::to_string(i) : "'" + arguments[i].name + "'");
    values[static_cast<std::size_t>(role)] = arguments[i];
    values[static_cast<std::size_t>(role)].name = roles[static_cast<std::size_t>(role)].name;
  }
  return values;
}

const std::vector<Port>& ports() {
  static const std::vector<Port> list = [] {
    std::vector<Port> all;
    for (const oracle::Oracle& oracle : oracle::oracles())
      for (const Original& original : oracle.originals) all.push_back(port_of(oracle, original));
    return all;
  }();
  return list;
}

const Port* find_port(std::string_view op_or_function) {
  for (const Port& port : ports())
    if (port.op == op_or_function ||
        std::find(port.functions.begin(), port.functions.end(), op_or_function) != port.functions.end())
      return &port;
  return nullptr;
}

}  // namespace isomer::lab
