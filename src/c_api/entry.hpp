#pragma once

#include <isomer/queue.hpp>

#include "core/contract.hpp"

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

/// The queue behind a handle. Throws Error bad_argument where it is null.
const Queue& queue_of(std::string_view op, const isomer_queue* queue);

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

/// Throws Error bad_argument that names the argument, for a tensor that Isomer cannot hold, or the option,
/// for a choice that is no enumerator.
void fill_args(const core::Contract& contract, const void* in_c, void* args);
void fill_options(const core::Contract& contract, const void* in_c, void* options);

/// then(queue, args, options) with one call of an op in C++, by the tables of its contract. `args_init` and
/// `options_init` are the _INIT macros.
template <class Args, class Options, class CArgs, class COptions, class Then>
isomer_status with_call(const core::Contract& (*contract)(), const isomer_queue* queue, const CArgs* args,
                        const CArgs& args_init, const COptions* options, const COptions& options_init,
                        const Then& then) noexcept {
  return guarded([&] {
    const core::Contract& table = contract();
    const Queue& in_order = queue_of(table.op, queue);
    check_given(table.op, "args", args);
    const CArgs given_args = read(table.op, "args", args, args_init);
    const COptions given_options =
        options == nullptr ? options_init : read(table.op, "options", options, options_init);
    Args cxx_args{};
    Options cxx_options{};
    fill_args(table, &given_args, &cxx_args);
    fill_options(table, &given_options, &cxx_options);
    then(in_order, cxx_args, cxx_options);
  });
}

/// One call of an op.
template <class CArgs, class COptions, class Args, class Options>
isomer_status call(void (*op)(const Queue&, const Args&, const Options&), const core::Contract& (*contract)(),
                   const isomer_queue* queue, const CArgs* args, const CArgs& args_init,
                   const COptions* options, const COptions& options_init) noexcept {
  return with_call<Args, Options>(contract, queue, args, args_init, options, options_init, op);
}

}  // namespace isomer::c
