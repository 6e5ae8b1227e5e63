#pragma once

#include "lab/launches/inject/arguments.hpp"
#include "lab/launches/inject/cuda/cupti.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace isomer::inject {

/// What is known of a kernel's handle, CUfunction or CUkernel; found out once.
struct Function {
  std::uint64_t id = 0;  ///< of its kernel line
  Layout layout;
  bool layout_known = false;
};

/// `symbol` is its mangled name where a callback tells it, else null. Writes the kernel's line at the first
/// call for a handle.
std::shared_ptr<const Function> function_of(CUfunction handle, const char* symbol);
/// A module goes: its handles may come back as others.
void forget_functions();
/// A module has been loaded explicitly into this handle, by a call that began at Modules::count() == before.
void module_loaded(CUmodule handle, std::uint64_t before);

}  // namespace isomer::inject
