#include "view.hpp"

#include "dtypes.hpp"
#include "reading.hpp"

#include <unordered_map>

namespace isomer::python {
namespace {

/// The family of a type, by the class that it descends from.
Family family_of_type(PyObject* type) {
  const Ref order(PyObject_GetAttrString(type, "__mro__"));
  if (!order) {
    PyErr_Clear();
    return Family::other;
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(order.get()); ++i) {
    PyObject* const each = PyTuple_GetItem(order.get(), i);
    const Ref module(PyObject_GetAttrString(each, "__module__")),
        name(PyObject_GetAttrString(each, "__name__"));
    std::string where, what;
    if (!module || !name || !as_text(module.get(), where) || !as_text(name.get(), what)) {
      PyErr_Clear();
      continue;
    }
    if (what == "Tensor" && where == "torch") return Family::torch;
    if (what == "ndarray" && where == "numpy") return Family::numpy;
    if (what == "ndarray" && where.starts_with("cupy")) return Family::cupy;
    if ((what == "ArrayImpl" || what == "Array" || what == "Tracer") && where.starts_with("jax"))
      return Family::jax;
  }
  return Family::other;
}

}  // namespace

/// Types are kept for good: there are few, and a freed one's address may be another's. Under the lock.
Family family_of(PyObject* object) {
  static auto* const known = new std::unordered_map<PyTypeObject*, Family>;
  PyTypeObject* const type = Py_TYPE(object);
  if (const auto found = known->find(type); found != known->end()) return found->second;
  const Family family = family_of_type(reinterpret_cast<PyObject*>(type));
  if (known->size() < 256) {
    Py_INCREF(type);
    known->emplace(type, family);
  }
  return family;
}

View::~View() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
  if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
  Py_XDECREF(keeper_);
}

void View::read(PyObject* object, const Place& place, bool written) {
  family = family_of(object);
  if (family == Family::torch && read_torch(object, place)) return;
  if (family != Family::jax) {
    // Before the buffer protocol, which CuPy's arrays have too and refuse.
    if (family != Family::numpy) {
      if (const Ref interface(PyObject_GetAttrString(object, "__cuda_array_interface__")); interface) {
        int index = 0;
        if (const Ref device(PyObject_GetAttrString(object, "device")); device)
          if (const Ref id(PyObject_GetAttrString(device.get(), "id")); id)
            index = static_cast<int>(integer(id.get(), place));
        PyErr_Clear();
        return read_interface(interface.get(), object, place, written, {DeviceType::cuda, index});
      }
      PyErr_Clear();
    }
    if (PyObject_CheckBuffer(object) && read_buffer(object, place, written)) {
      if (family == Family::other) family = Family::numpy;
      return;
    }
    if (const Ref interface(PyObject_GetAttrString(object, "__array_interface__")); interface) {
      read_interface(interface.get(), object, place, written, {});
      if (family == Family::other) family = Family::numpy;
      return;
    }
    PyErr_Clear();
  }
  const Ref dlpack(PyObject_GetAttrString(object, "__dlpack__"));
  if (!dlpack) {
    PyErr_Clear();
    refuse(place, "is ", shown(object), ", expected a tensor: an array of NumPy, PyTorch, JAX or CuPy");
  }
  read_dlpack(object, place);
}

bool View::read_buffer(PyObject* object, const Place& place, bool written) {
  if (PyObject_GetBuffer(object, &buffer_, PyBUF_RECORDS_RO) != 0) {
    const Ref interface(
        PyErr_ExceptionMatches(PyExc_ValueError) && family == Family::numpy ? Py_NewRef(Py_None) : nullptr);
    const std::string why = take_raised();
    if (interface) return false;  // a dtype without a letter: bfloat16, float8
    refuse(place, "cannot be read: ", why);
  }
  has_buffer_ = true;
  check_rank(buffer_.ndim, place);
  tensor.dtype = buffer_dtype(buffer_.format, buffer_.itemsize);
  if (tensor.dtype == DType::none || size_of(tensor.dtype) != buffer_.itemsize)
    refuse(place, "has elements of dtype ",
           family == Family::numpy ? dtype_text(object) : std::string(buffer_.format),
           ", which Isomer has not");
  if (written && buffer_.readonly) refuse(place, "is read-only, expected one that may be written");
  tensor.rank = buffer_.ndim;
  tensor.data = buffer_.buf;
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.rank); ++i) {
    tensor.shape[i] = buffer_.shape[i];
    tensor.strides[i] = buffer_.strides[i];
  }
  divide_strides(tensor, place);
  return true;
}

void View::read_interface(PyObject* interface, PyObject* object, const Place& place, bool written,
                          Device device) {
  const auto item = [&](const char* key) {
    return PyDict_Check(interface) ? PyDict_GetItemString(interface, key) : nullptr;
  };
  PyObject *const shape = item("shape"), *const typestr = item("typestr"), *const data = item("data"),
                  *const strides = item("strides");
  std::string type;
  if (shape == nullptr || !PyTuple_Check(shape) || typestr == nullptr || !as_text(typestr, type) ||
      data == nullptr || !PyTuple_Check(data) || PyTuple_Size(data) != 2)
    refuse(place, "has an array interface without shape, typestr and data");
  tensor.dtype = typestr_dtype(type, object);
  if (tensor.dtype == DType::none)
    refuse(place, "has elements of dtype ", dtype_text(object), ", which Isomer has not");
  check_rank(PyTuple_Size(shape), place);
  tensor.rank = static_cast<int>(PyTuple_Size(shape));
  numbers(shape, tensor.shape, tensor.rank, place);
  if (strides == nullptr || strides == Py_None) {
    compact_strides(tensor);
  } else {
    numbers(strides, tensor.strides, tensor.rank, place);
    divide_strides(tensor, place);
  }
  tensor.data = address(PyTuple_GetItem(data, 0), place);
  if (written && PyTuple_GetItem(data, 1) == Py_True)
    refuse(place, "is read-only, expected one that may be written");
  tensor.device = device;
  Py_INCREF(object);
  keeper_ = object;
}

}  // namespace isomer::python
