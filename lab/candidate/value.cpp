#include "lab/candidate/value.hpp"

#include <isomer/dtype.hpp>

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace isomer::lab {
namespace {

constexpr std::align_val_t kBufferAlignment{256};  // as device allocators give it

std::shared_ptr<void> zeroed_storage(std::size_t bytes) {
  const std::size_t held = std::max<std::size_t>(bytes, 1);
  void* memory = ::operator new(held, kBufferAlignment);
  std::memset(memory, 0, held);
  return {memory, [](void* p) { ::operator delete(p, kBufferAlignment); }};
}

Value named(Value::Kind kind, std::string name) {
  Value value;
  value.kind = kind;
  value.name = std::move(name);
  return value;
}

}  // namespace

Value tensor_value(std::string name, DType dtype, const std::vector<std::int64_t>& shape) {
  Value value = named(Value::Kind::tensor, std::move(name));
  value.tensor = Tensor(nullptr, dtype, std::span(shape));
  value.storage_bytes =
      static_cast<std::size_t>(value.tensor.numel()) * static_cast<std::size_t>(size_of(dtype));
  value.storage = zeroed_storage(value.storage_bytes);
  value.tensor.data = value.storage.get();
  return value;
}

Value integer_value(std::string name, std::int64_t integer) {
  Value value = named(Value::Kind::integer, std::move(name));
  value.integer = integer;
  return value;
}

Value real_value(std::string name, double real) {
  Value value = named(Value::Kind::real, std::move(name));
  value.real = real;
  return value;
}

Value boolean_value(std::string name, bool boolean) {
  Value value = named(Value::Kind::boolean, std::move(name));
  value.integer = boolean ? 1 : 0;
  return value;
}

Value deep_copy(const Value& value) {
  Value copy = value;
  if (value.is_tensor()) {
    copy.storage = zeroed_storage(value.storage_bytes);
    if (value.storage_bytes > 0) std::memcpy(copy.storage.get(), value.storage.get(), value.storage_bytes);
    copy.tensor.data = static_cast<std::byte*>(copy.storage.get()) + value.storage_offset;
  }
  for (Value& item : copy.items) item = deep_copy(item);
  return copy;
}

}  // namespace isomer::lab
