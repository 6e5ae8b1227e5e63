// Tensors, their factories and the binding against the user's own PyTorch. No Python is there: the binding is
// kept by name. The neural-network half of the headers is read only for sources that name something of it.
#pragma once
#if defined(ISOMER_EMULATOR_TORCH_ALL)
#include_next <torch/all.h>
#else
#include <torch/types.h>
#endif
#include <torch/library.h>

#include "../../device/isomer_emulator/entries_torch.h"
#include "../../device/isomer_emulator/python_binding.h"

namespace torch {
template <class F>
F wrap_pybind_function(F function) {
  return function;
}
template <class F>
F wrap_pybind_function_no_gil(F function) {
  return function;
}
}  // namespace torch
