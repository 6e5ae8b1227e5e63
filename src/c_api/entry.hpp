#pragma once

#include <isomer/queue.hpp>

#include <cstring>
#include <string_view>

struct isomer_queue {
  isomer::Queue queue;
};

/// The border between C and C++: what C passes becomes C++ arguments, what C++ throws becomes a status.
namespace isomer::c {

/// The status of the exception being handled; its sentence goes to this thread's isomer_last_error().
isomer_status caught() noexcept;

/// Runs one entry of the C ABI. Nothing thrown gets past it.
template <class Body>
isomer_status guarded(Body&& body) noexcept {
  try {
    body();
    return ISOMER_OK;
  } catch (...) {
    return caught();
  }
}

/// Throws Error bad_argument where the size that a caller's struct states is none that a header of this ABI
/// had. `known` is the size of the struct in this version, `first` that when the ABI began.
void check_size(std::string_view op, std::string_view name, isomer_uint64 given, std::size_t first,
                std::size_t known);

/// A pointer, named for the sentence. Throws Error bad_argument where it is null.
void check_given(std::string_view op, std::string_view name, const void* pointer);

/// The argument of that name; absent where null. Throws Error bad_argument that names it for a tensor that
/// Isomer cannot hold.
Tensor tensor_of(std::string_view op, std::string_view name, const isomer_tensor* given);

/// A caller's struct as this version has it: fields past the caller's size keep their defaults. `first` is
/// the size that the struct had when the ABI began.
template <class Struct>
Struct read(std::string_view op, std::string_view name, const Struct* given, const Struct& defaults,
            std::size_t first = sizeof(Struct)) {
  check_size(op, name, given->size, first, sizeof(Struct));
  Struct read = defaults;
  std::memcpy(static_cast<void*>(&read), given, static_cast<std::size_t>(given->size));
  return read;
}

/// One call of an op.
class Entry {
 public:
  /// Throws Error bad_argument for a null queue.
  Entry(std::string_view op, const isomer_queue* queue);

  const Queue& queue() const { return *queue_; }

  template <class Args>
  Args args(const Args* given, const Args& defaults, std::size_t first = sizeof(Args)) const {
    check_given(op_, "args", given);
    return read(op_, "args", given, defaults, first);
  }
  template <class Options>
  Options options(const Options* given, const Options& defaults, std::size_t first = sizeof(Options)) const {
    return given == nullptr ? defaults : read(op_, "options", given, defaults, first);
  }

  Tensor tensor(std::string_view name, const isomer_tensor* given) const {
    return tensor_of(op_, name, given);
  }

  /// A choice by its number among `count`. Throws Error bad_argument that names the option.
  int choice(std::string_view name, int given, int count) const;

 private:
  std::string_view op_;
  const Queue* queue_;
};

}  // namespace isomer::c
