// Tensors, their factories and the binding. The neural-network half of PyTorch's headers is read only for sources that
// name something of it, since it takes longer to read than everything else.
#pragma once
#if defined(ISOMER_EMULATOR_TORCH_ALL)
#include_next <torch/all.h>
#else
#include <torch/types.h>
#endif
#include <torch/library.h>

#include "../isomer_emulator/entries_torch.h"
#include "../isomer_emulator/python_binding.h"

// With nvcc, PyTorch's 16-bit types bring the toolkit's along.
#if !defined(ISOMER_EMULATOR_HIP)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#else
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#endif

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
