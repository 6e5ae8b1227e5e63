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
  /// DLPack, __array_interface__. Throws Error bad_argument for what is no tensor, has a dtype or a device
  /// that Isomer has not, or may not be written where `written` asks for that.
  void read(PyObject* object, const Place& place, bool written);
  /// The same of a tensor that was allocated for this call, which has nothing that would be refused.
  void read_made(PyObject* object, const Place& place);

  Tensor tensor;
  Family family = Family::other;

 private:
  struct Managed {
    isomer_tensor tensor;
    void* context;
    void (*deleter)(Managed*);
  };
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

/// PyTorch here runs on AMD's devices, which it calls cuda.
bool torch_is_hip();

}  // namespace isomer::python
