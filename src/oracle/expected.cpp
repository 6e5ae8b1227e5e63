#include "oracle/expected.hpp"

#include "core/sentence.hpp"

#include <array>

namespace isomer::oracle {

double element(const Tensor& tensor, std::size_t flat) {
  std::int64_t offset = 0;
  auto index = static_cast<std::int64_t>(flat);
  if (tensor.is_contiguous())
    return core::decode(tensor.dtype,
                        static_cast<const std::byte*>(tensor.data) + index * size_of(tensor.dtype));
  for (int i = tensor.rank - 1; i >= 0; --i) {
    offset += index % tensor.size(i) * tensor.stride(i);
    index /= tensor.size(i);
  }
  return core::decode(tensor.dtype,
                      static_cast<const std::byte*>(tensor.data) + offset * size_of(tensor.dtype));
}

std::vector<double> elements(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.numel()));
  if (!tensor.is_contiguous()) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(tensor, i);
    return values;
  }
  const auto* at = static_cast<const std::byte*>(tensor.data);
  // Of one byte there are 256 values: more elements than that are looked up.
  if (size_of(tensor.dtype) == 1 && values.size() > 256) {
    std::array<double, 256> table{};
    for (unsigned i = 0; i < table.size(); ++i) {
      const auto byte = static_cast<std::byte>(i);
      table[i] = core::decode(tensor.dtype, &byte);
    }
    for (double& value : values) value = table[std::to_integer<unsigned>(*at++)];
    return values;
  }
  for (double& value : values) {
    value = core::decode(tensor.dtype, at);
    at += size_of(tensor.dtype);
  }
  return values;
}

Expected::Expected(const core::Call& call) {
  for (std::size_t i = 0; i < call.contract->args.size(); ++i) {
    const core::Arg& arg = call.contract->args[i];
    const Tensor& tensor = *call.tensors[i];
    const core::Role role = core::role_in(call, i);
    if (role == core::Role::in || !tensor.defined()) continue;
    ExpectedTensor expected;
    expected.name = arg.name;
    expected.dtype = tensor.dtype;
    expected.shape.assign(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
    const auto count = static_cast<std::size_t>(tensor.numel());
    expected.value = role == core::Role::inout ? elements(tensor) : std::vector<double>(count, 0.0);
    expected.bound.assign(count, 0.0);
    expected.written.assign(count, 0);
    tensors.push_back(std::move(expected));
  }
}

ExpectedTensor& Expected::operator[](std::string_view name) {
  for (ExpectedTensor& tensor : tensors)
    if (tensor.name == name) return tensor;
  core::fail(ErrorCode::internal, "expected: there is no output '", name, "'");
}

bool Expected::has(std::string_view name) const {
  for (const ExpectedTensor& tensor : tensors)
    if (tensor.name == name) return true;
  return false;
}

}  // namespace isomer::oracle
