#include "dtypes.hpp"
#include "queues.hpp"
#include "reading.hpp"
#include "view.hpp"

namespace isomer::python {

void View::read_dlpack(PyObject* object, const Place& place) {
  if (family == Family::jax) {
    const Ref ready(PyObject_CallMethod(object, "block_until_ready", nullptr));
    PyErr_Clear();
  }
  Ref capsule;
  const Ref device(PyObject_CallMethod(object, "__dlpack_device__", nullptr));
  long kind = device && PyTuple_Check(device.get()) && PyTuple_Size(device.get()) == 2
                  ? PyLong_AsLong(PyTuple_GetItem(device.get(), 0))
                  : ISOMER_CPU;
  PyErr_Clear();
  if (kind == ISOMER_CUDA || kind == ISOMER_HIP) {
    const Device on{kind == ISOMER_HIP ? DeviceType::hip : DeviceType::cuda,
                    static_cast<int>(integer(PyTuple_GetItem(device.get(), 1), place))};
    void* const stream = default_queue(on, Family::other).stream();
    const Ref method(PyObject_GetAttrString(object, "__dlpack__")),
        none = owned(PyTuple_New(0)), number = owned(PyLong_FromVoidPtr(stream)), words = owned(PyDict_New());
    if (PyDict_SetItemString(words.get(), "stream", number.get()) != 0) throw Raised{};
    capsule = Ref(method ? PyObject_Call(method.get(), none.get(), words.get()) : nullptr);
  } else {
    capsule = Ref(PyObject_CallMethod(object, "__dlpack__", nullptr));
  }
  if (!capsule) {
    const std::string why = take_raised();
    if (family == Family::jax && read_jax_pointer(object, place)) return;
    refuse(place, "cannot be read by DLPack: ", why);
  }
  managed_ = static_cast<Managed*>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
  if (managed_ == nullptr) refuse(place, "gives no DLPack tensor: ", take_raised());
  PyCapsule_SetName(capsule.get(), "used_dltensor");
  try {
    tensor = Tensor::from_dlpack(managed_->tensor);
  } catch (const Error& error) {
    core::fail(error.code(), place.op, ": ", place.argument, ": ", error.what());
  }
}

bool View::read_jax_pointer(PyObject* object, const Place& place) {
  const Ref pointer(PyObject_CallMethod(object, "unsafe_buffer_pointer", nullptr)),
      shape(PyObject_GetAttrString(object, "shape"));
  tensor.dtype = dtype_named(dtype_text(object));
  const Ref kind(PyObject_CallMethod(object, "platform", nullptr));
  std::string platform;
  const bool readable = pointer && shape && PyTuple_Check(shape.get()) && tensor.dtype != DType::none &&
                        kind && as_text(kind.get(), platform) && platform == "cpu";
  PyErr_Clear();
  if (!readable) return false;
  check_rank(PyTuple_Size(shape.get()), place);
  tensor.rank = static_cast<int>(PyTuple_Size(shape.get()));
  numbers(shape.get(), tensor.shape, tensor.rank, place);
  compact_strides(tensor);
  tensor.data = address(pointer.get(), place);
  Py_INCREF(object);
  keeper_ = object;
  return true;
}

}  // namespace isomer::python
