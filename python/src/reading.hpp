#pragma once

#include "view.hpp"

#include "core/sentence.hpp"

#include <array>
#include <string>

namespace isomer::python {

/// Throws Error bad_argument with a sentence about that argument.
template <class... Parts>
[[noreturn]] void refuse(const Place& place, const Parts&... parts) {
  core::fail(ErrorCode::bad_argument, place.op, ": ", place.argument, " ", parts...);
}

/// Whose tensor it is, by the classes that its type descends from.
Family family_of(PyObject* object);

/// Numbers of Python's objects; each refuses what is none.
std::int64_t integer(PyObject* object, const Place& place);
void* address(PyObject* object, const Place& place);
void check_rank(Py_ssize_t rank, const Place& place);
/// Sizes or strides from a tuple.
void numbers(PyObject* tuple, std::array<std::int64_t, Tensor::kMaxRank>& to, int rank, const Place& place);

/// Strides of a tensor without gaps, from its shape.
void compact_strides(Tensor& t);
/// From bytes to elements.
void divide_strides(Tensor& t, const Place& place);

/// The object's dtype as a sentence shows it.
std::string dtype_text(PyObject* object);

}  // namespace isomer::python
