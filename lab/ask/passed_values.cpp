#include "lab/ask/passed_values.hpp"

#include "core/codec.hpp"
#include "core/sentence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace isomer::lab {
namespace {

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
  if (passing.what == Passing::What::computed) {
    const auto place = static_cast<std::size_t>(passing.computed);
    return place < values.size() ? number(values[place]) : 0;
  }
  if (source == nullptr) return 0;
  if (!source->is_tensor()) return number(*source);
  const Tensor& tensor = source->tensor;
  const int dim = passing.dim < 0 ? passing.dim + tensor.rank : passing.dim;
  switch (passing.what) {
    case Passing::What::rows:
      return static_cast<double>(tensor.numel() /
                                 (tensor.rank > 0 ? std::max<std::int64_t>(tensor.size(-1), 1) : 1));
    case Passing::What::inner: {
      double product = 1;
      for (int d = dim; d < tensor.rank; ++d) product *= static_cast<double>(tensor.size(d));
      return product;
    }
    case Passing::What::size: {
      const auto of = [&](int d) {
        return d >= 0 && d < tensor.rank ? static_cast<double>(tensor.size(d)) : 1;
      };
      return of(dim) * (passing.with == 0 ? 1 : of(passing.with + tensor.rank)) - passing.less;
    }
    case Passing::What::keys_before: {
      const Tensor& queries = values[static_cast<std::size_t>(passing.less_role)].tensor;
      return static_cast<double>(tensor.size(passing.dim) - queries.size(passing.less_dim));
    }
    case Passing::What::ratio: {
      const Tensor& other = values[static_cast<std::size_t>(passing.less_role)].tensor;
      const std::int64_t by = other.size(passing.less_dim);
      return by == 0 ? 1 : static_cast<double>(tensor.size(passing.dim) / by);
    }
    case Passing::What::scale_of_dot:
      return tensor.rank > 0 && tensor.size(-1) > 0 ? 1 / std::sqrt(static_cast<double>(tensor.size(-1))) : 1;
    case Passing::What::rank:
      return tensor.rank;
    case Passing::What::bytes_of_element:
      return size_of(tensor.dtype);
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

/// The last dimension as two, if it is a multiple of the second.
Tensor with_last_split(Tensor tensor, std::int64_t inner) {
  if (tensor.rank == 0 || tensor.rank == Tensor::kMaxRank || tensor.size(-1) % inner != 0) return tensor;
  const auto last = static_cast<std::size_t>(tensor.rank++);
  tensor.shape[last] = inner;
  tensor.strides[last] = tensor.strides[last - 1];
  tensor.shape[last - 1] /= inner;
  tensor.strides[last - 1] *= inner;
  return tensor;
}

Value pass_tensor(const Passing& passing, const Value& original, const std::vector<Value>& values) {
  if (!original.is_tensor()) return original;
  Value value = deep_copy(original);
  if (passing.longer != nullptr && value.tensor.rank < Tensor::kMaxRank)
    value = with_dimension(
        value, std::min(passing.inserted, value.tensor.rank),
        std::max<std::int64_t>(1, static_cast<std::int64_t>(counted(*passing.longer, values))));
  if (passing.split > 0) value.tensor = with_last_split(value.tensor, passing.split);
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

/// Where a dimension of the op's tensor lies in what the form passes.
int where_it_lies(const Form& form, const Passing& of, int rank) {
  const int dim = of.dim < 0 ? of.dim + rank : of.dim;
  for (const Passing& each : form.passings) {
    if (each.what != Passing::What::role || each.role != of.role || each.axes.empty()) continue;
    const auto at = std::find(each.axes.begin(), each.axes.end(), dim);
    return static_cast<int>(at - each.axes.begin());
  }
  return dim;
}

/// What Python's callers pass for a tensor that they do not have, of the dtype of the others: None is none.
Value without_elements(const std::vector<Value>& values) {
  const auto first =
      std::find_if(values.begin(), values.end(), [](const Value& each) { return each.is_tensor(); });
  return tensor_value("", first == values.end() ? DType::f32 : first->tensor.dtype, {0});
}

/// Memory that a caller lends, filled with one byte: enough for a number of each query and key, or for
/// several parts of an answer, and never little, since nobody says how much it is.
Value lent_room(const std::vector<Value>& values, DType element, std::uint8_t fill) {
  std::int64_t most = 0, longest = 1, rows = 0;
  for (const Value& value : values) {
    if (!value.is_tensor()) continue;
    const Tensor& tensor = value.tensor;
    most = std::max(most, tensor.numel());
    for (int d = 0; d < tensor.rank; ++d) longest = std::max(longest, tensor.size(d));
    if (tensor.rank > 0 && tensor.size(-1) > 0) rows = std::max(rows, tensor.numel() / tensor.size(-1));
  }
  constexpr std::int64_t kLeast = std::int64_t{1} << 12, kMost = std::int64_t{1} << 24;
  Value room = tensor_value("", element == DType::none ? DType::f32 : element,
                            {std::clamp(4 * most + rows * longest, kLeast, kMost)});
  std::memset(room.storage.get(), fill, room.storage_bytes);
  return room;
}

/// Whether a tensor has one element along a dimension in which another one that it is combined with has more:
/// callers pass it as a view that repeats there. Both have as many dimensions, and one size in all others in
/// which neither has one element.
bool repeats_along(const Tensor& tensor, int dim, const std::vector<Value>& values) {
  if (dim < 0 || dim >= tensor.rank || tensor.size(dim) != 1) return false;
  return std::any_of(values.begin(), values.end(), [&](const Value& other) {
    if (!other.is_tensor() || other.tensor.rank != tensor.rank || other.tensor.size(dim) <= 1) return false;
    bool one = false;
    for (int d = 0; d < tensor.rank; ++d) {
      const std::int64_t own = tensor.size(d), its = other.tensor.size(d);
      if (own != its && own != 1) return false;
      one = one || (own == its && own > 1);
    }
    return one;
  });
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

}  // namespace

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

bool wants_a_tensor(const Form& form, std::size_t i) {
  if (form.entry->form != Entry::Form::extension || i >= form.entry->parameters.size()) return false;
  const Parameter& p = form.entry->parameters[i];
  return form.passings[i].what == Passing::What::none && p.kind == Parameter::Kind::tensor && !p.has_default;
}

std::string cannot_count(const Form& form, const std::vector<Value>& values) {
  for (std::size_t i = 0; i < form.passings.size() && i < form.entry->parameters.size(); ++i) {
    const Passing& passing = form.passings[i];
    if (passing.what != Passing::What::keys_before || !passing.counts) continue;
    if (const double keys = counted(passing, values); keys < 0)
      return fmt::format(
          "{} counts the keys before the first query, and with {} more queries than keys there are none",
          form.entry->parameters[i].name, -keys);
  }
  return {};
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
      case Passing::What::inner:
      case Passing::What::size:
      case Passing::What::scale_of_dot:
      case Passing::What::first:
      case Passing::What::rank:
      case Passing::What::keys_before:
      case Passing::What::ratio:
      case Passing::What::bytes_of_element:
      case Passing::What::constant:
        list.push_back(as_number(counted(passing, values)));
        break;
      case Passing::What::computed: {
        const auto place = static_cast<std::size_t>(std::max(passing.computed, 0));
        if (place < values.size() && values[place].is_tensor())
          list.push_back(pass_tensor(passing, values[place], values));
        else if (place < values.size() && values[place].kind == Value::Kind::list)
          list.push_back(values[place]);
        else
          list.push_back(parameter != nullptr && parameter->kind == Parameter::Kind::pointer
                             ? Value()
                             : as_number(counted(passing, values)));
        break;
      }
      case Passing::What::stride: {
        const Value tensor = as_passed(form, passing.role, *source, values);
        const int dim = passing.of_the_op ? where_it_lies(form, passing, source->tensor.rank)
                        : passing.dim < 0 ? passing.dim + tensor.tensor.rank
                                          : passing.dim;
        const std::int64_t unit = passing.bytes ? size_of(tensor.tensor.dtype) : 1;
        const std::int64_t stride = repeats_along(tensor.tensor, dim, values) ? 0
                                    : dim >= 0 && dim < tensor.tensor.rank    ? tensor.tensor.stride(dim)
                                                                              : 1;
        list.push_back(as_number(static_cast<double>(stride * unit)));
        break;
      }
      case Passing::What::sizes:
      case Passing::What::strides:
        list.push_back(array_of(form, passing, *source, values, parameter));
        break;
      case Passing::What::room:
        list.push_back(lent_room(values, parameter != nullptr ? parameter->element : DType::none,
                                 passing.zeros ? std::uint8_t{0} : form.lent));
        break;
      case Passing::What::none:
        list.push_back(wants_a_tensor(form, i) ? without_elements(values) : Value());
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

}  // namespace isomer::lab
