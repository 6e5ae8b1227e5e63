#include "reading.hpp"

#include <algorithm>

namespace isomer::python {

std::int64_t integer(PyObject* object, const Place& place) {
  const long long value = PyLong_AsLongLong(object);
  if (value == -1 && PyErr_Occurred()) refuse(place, "has no readable shape: ", take_raised());
  return value;
}

void* address(PyObject* object, const Place& place) {
  const unsigned long long value = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred()) refuse(place, "has no readable address: ", take_raised());
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(value));
}

void check_rank(Py_ssize_t rank, const Place& place) {
  if (rank < 0 || rank > Tensor::kMaxRank)
    refuse(place, "has ", rank, " dimensions, expected at most ", Tensor::kMaxRank);
}

void numbers(PyObject* tuple, std::array<std::int64_t, Tensor::kMaxRank>& to, int rank, const Place& place) {
  if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != rank)
    refuse(place, "has a shape and strides of different lengths");
  for (int i = 0; i < rank; ++i) to[static_cast<std::size_t>(i)] = integer(PyTuple_GetItem(tuple, i), place);
}

void compact_strides(Tensor& t) {
  std::int64_t stride = 1;
  for (int i = t.rank; i-- > 0;) {
    t.strides[static_cast<std::size_t>(i)] = stride;
    stride *= std::max<std::int64_t>(1, t.size(i));
  }
}

void divide_strides(Tensor& t, const Place& place) {
  const std::int64_t bytes = size_of(t.dtype);
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.rank); ++i) {
    if (t.strides[i] % bytes != 0)
      refuse(place, "has a stride of ", t.strides[i], " bytes, expected a multiple of its elements' ", bytes);
    t.strides[i] /= bytes;
  }
}

std::string dtype_text(PyObject* object) {
  const Ref dtype(PyObject_GetAttrString(object, "dtype"));
  if (dtype) return text_of(dtype.get());
  PyErr_Clear();
  return "of an unknown kind";
}

}  // namespace isomer::python
