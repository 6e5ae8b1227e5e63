#pragma once

#include <isomer/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// What one parameter of a kernel or of its host function is called with, or what it gave back.
struct Value {
  enum class Kind : std::uint8_t { none, tensor, integer, real, boolean, text, dtype, list };
  Kind kind = Kind::none;
  std::string name;               ///< of the parameter, where it is known
  Tensor tensor;                  ///< on the CPU, any strides; lies in `storage`
  std::shared_ptr<void> storage;  ///< the whole buffer, of which the tensor may be a view
  std::size_t storage_bytes = 0;
  std::size_t storage_offset = 0;  ///< bytes from the buffer's begin to the tensor's first element
  bool boolean = false;            ///< of a u8 tensor: its elements are true or false, a dtype of frameworks
  std::int64_t integer = 0;        ///< also of a boolean
  double real = 0;
  std::string text;          ///< of a text; the name of a dtype
  std::vector<Value> items;  ///< of a list or tuple
  bool omitted = false;      ///< of none: nothing is passed, and the parameter's default holds

  bool is_tensor() const { return kind == Kind::tensor; }
};

/// A tensor value in a buffer of its own, compact, zero.
Value tensor_value(std::string name, DType dtype, const std::vector<std::int64_t>& shape);
Value integer_value(std::string name, std::int64_t value);
Value real_value(std::string name, double value);
Value boolean_value(std::string name, bool value);
/// A copy that shares no memory with `value`: the whole storage, strides and offset kept.
Value deep_copy(const Value& value);

}  // namespace isomer::lab
