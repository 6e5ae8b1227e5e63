#pragma once

#include "python.hpp"

#include <isomer/tensor.hpp>

#include <string_view>

namespace isomer::python {

/// Whose tensor it is: who allocates outputs beside it, and whose current stream is used.
enum class Family : std::uint8_t { numpy, torch, cupy, jax, other };

/// Which argument of which op a sentence is about.
struct Place {
  std::string_view op, argument;
};

/// A tensor that the caller gave, as a view, with what keeps its memory while the call lasts. No copy is
/// made.
class View {
 public:
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View();

  /// Reads the object: attributes of PyTorch's tensors, the buffer protocol, __cuda_array_interface__,
  /// DLPack,
  /// __array_interface__. Throws Error bad_argument for what is no tensor, has a dtype or a device that
  /// Isomer has not, or may not be written where `written` asks for that.
  void read(PyObject* object, const Place& place, bool written);

  Tensor tensor;
  Family family = Family::other;

 private:
  struct Managed;
  bool exchange_torch(PyObject* object);
  bool read_torch(PyObject* object, const Place& place);
  bool read_buffer(PyObject* object, const Place& place, bool written);
  void read_interface(PyObject* interface, PyObject* object, const Place& place, bool written, Device device);
  void read_dlpack(PyObject* object, const Place& place);
  bool read_jax_pointer(PyObject* object, const Place& place);

  Py_buffer buffer_;
  bool has_buffer_ = false;
  Managed* managed_ = nullptr;
  PyObject* keeper_ = nullptr;
};

/// The module of that name where somebody has imported it already; else empty. Nothing is imported.
Ref imported_module(const char* name);
/// The module, imported. Throws Raised.
Ref import_module(const char* name);

/// PyTorch's object for a dtype, and back: none for one that Isomer has not. Borrowed.
PyObject* torch_dtype(DType type);
/// The dtype of a name that NumPy, PyTorch or Isomer gives it ("bfloat16", "torch.bfloat16", "bf16").
DType dtype_named(std::string_view name);
/// NumPy's name: "bfloat16", "float8_e4m3fn".
const char* numpy_name(DType type);
/// A dtype that the caller names: text, or an object of NumPy, PyTorch or ml_dtypes. Throws Error
/// bad_argument.
DType dtype_of_object(PyObject* object, std::string_view op);

/// PyTorch here runs on AMD's devices, which it calls cuda.
bool torch_is_hip();

}  // namespace isomer::python
