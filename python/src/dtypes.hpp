#pragma once

#include "python.hpp"

#include <isomer/tensor.hpp>

#include <string>
#include <string_view>

namespace isomer::python {

/// PyTorch's object for a dtype, and back: none for one that Isomer has not. Borrowed.
PyObject* torch_dtype(DType type);
/// The dtype of a name that NumPy, PyTorch or Isomer gives it ("bfloat16", "torch.bfloat16", "bf16").
DType dtype_named(std::string_view name);
/// NumPy's name: "bfloat16", "float8_e4m3fn".
const char* numpy_name(DType type);
/// A dtype that the caller names: text, or an object of NumPy, PyTorch or ml_dtypes. Throws Error
/// bad_argument.
DType dtype_of_object(PyObject* object, std::string_view op);

/// The dtype of a buffer's format ("f", "<e"), or of an array interface's typestr ("<f4"); none for one that
/// Isomer has not. One without a letter of its own is named by the object.
DType buffer_dtype(const char* format, Py_ssize_t bytes);
DType typestr_dtype(const std::string& text, PyObject* object);

}  // namespace isomer::python
