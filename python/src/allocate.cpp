#include "op.hpp"

#include "core/sentence.hpp"
#include "dtypes.hpp"

namespace isomer::python {
namespace {

using core::fail;

Ref tuple_of(const std::int64_t* numbers, int count, std::int64_t times = 1) {
  Ref tuple = owned(PyTuple_New(count));
  for (int i = 0; i < count; ++i)
    PyTuple_SetItem(tuple.get(), i, owned(PyLong_FromLongLong(numbers[i] * times)).release());
  return tuple;
}

/// Elements from the first to the last.
std::int64_t span_of(const Tensor& form) {
  std::int64_t last = 0;
  for (int i = 0; i < form.rank; ++i) last += (std::max<std::int64_t>(form.size(i), 1) - 1) * form.stride(i);
  return form.empty() ? 0 : last + 1;
}

Ref words_of(std::initializer_list<std::pair<const char*, PyObject*>> words) {
  Ref dict = owned(PyDict_New());
  for (const auto& [name, value] : words)
    if (PyDict_SetItemString(dict.get(), name, value) != 0) throw Raised{};
  return dict;
}

Ref call(PyObject* function, std::initializer_list<PyObject*> arguments, const Ref& words = Ref()) {
  const Ref tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(arguments.size())));
  Py_ssize_t i = 0;
  for (PyObject* argument : arguments) {
    Py_INCREF(argument);
    PyTuple_SetItem(tuple.get(), i++, argument);
  }
  return owned(PyObject_Call(function, tuple.get(), words.get()));
}

/// What torch has under that name, for good.
PyObject* of_torch(const char* name) {
  return owned(PyObject_GetAttrString(import_module("torch").get(), name)).release();
}

/// Whether a tensor without gaps is a tensor of the other's form.
bool is_alike(const Tensor& form, const Tensor& other) {
  return form.dtype == other.dtype && form.device == other.device && form.rank == other.rank &&
         form.shape == other.shape && form.is_contiguous() && other.is_contiguous();
}

Ref torch_tensor(const Tensor& form, PyObject* like, const Tensor& beside, const Place& place) {
  static PyObject *const empty = of_torch("empty"), *const empty_like = of_torch("empty_like"),
                         *const tensor = of_torch("Tensor");
  // Half the price. A type that descends from Tensor may answer with its own.
  if (reinterpret_cast<PyObject*>(Py_TYPE(like)) == tensor && is_alike(form, beside))
    return owned(PyObject_CallFunctionObjArgs(empty_like, like, nullptr));
  PyObject* const dtype = torch_dtype(form.dtype);
  if (dtype == nullptr)
    fail(ErrorCode::unsupported, place.op, ": ", place.argument, " is ", name_of(form.dtype),
         ", which this PyTorch has not; install a newer one");
  const Ref device =
      form.device.type == DeviceType::cpu ? Ref() : owned(PyObject_GetAttrString(like, "device"));
  const Ref words = device
                        ? words_of({{"dtype", dtype}, {"device", device.get()}})
                        : words_of({{"dtype", dtype}, {"device", owned(PyUnicode_FromString("cpu")).get()}});
  if (form.is_contiguous()) return call(empty, {tuple_of(form.shape.data(), form.rank).get()}, words);
  const Ref torch = import_module("torch"),
            strided = owned(PyObject_GetAttrString(torch.get(), "empty_strided"));
  return call(strided.get(),
              {tuple_of(form.shape.data(), form.rank).get(), tuple_of(form.strides.data(), form.rank).get()},
              words);
}

/// NumPy's dtype, of ml_dtypes where NumPy itself has none. Borrowed, kept for good.
PyObject* numpy_dtype(DType type, const Place& place) {
  static std::array<PyObject*, kDTypeCount> known{};
  PyObject*& dtype = known[static_cast<std::size_t>(type)];
  if (dtype != nullptr) return dtype;
  const bool own = type != DType::bf16 && !is_fp8(type);
  Ref module = own ? import_module("numpy") : Ref(PyImport_ImportModule("ml_dtypes"));
  if (!module) {
    take_raised();
    fail(ErrorCode::unsupported, place.op, ": ", place.argument, " is ", name_of(type),
         ", which NumPy has with the package ml_dtypes alone: install ml_dtypes, or give ", place.argument);
  }
  const Ref scalar = owned(PyObject_GetAttrString(module.get(), numpy_name(type))),
            numpy = import_module("numpy"), maker = owned(PyObject_GetAttrString(numpy.get(), "dtype"));
  dtype = call(maker.get(), {scalar.get()}).release();
  return dtype;
}

/// numpy.empty or cupy.empty, looked up once.
PyObject* empty_of(Family family) {
  static PyObject *numpy = nullptr, *cupy = nullptr;
  PyObject*& empty = family == Family::cupy ? cupy : numpy;
  if (empty == nullptr)
    empty =
        owned(PyObject_GetAttrString(import_module(family == Family::cupy ? "cupy" : "numpy").get(), "empty"))
            .release();
  return empty;
}

Ref array(const Tensor& form, Family family, const Place& place) {
  PyObject *const dtype = numpy_dtype(form.dtype, place), *const empty = empty_of(family);
  const Ref shape = tuple_of(form.shape.data(), form.rank);
  if (form.is_contiguous()) return owned(PyObject_CallFunctionObjArgs(empty, shape.get(), dtype, nullptr));
  const std::int64_t elements = span_of(form);
  const char* const library = family == Family::cupy ? "cupy.lib.stride_tricks" : "numpy.lib.stride_tricks";
  const Ref flat = call(empty, {tuple_of(&elements, 1).get(), dtype}),
            strided = owned(PyObject_GetAttrString(import_module(library).get(), "as_strided"));
  return call(strided.get(),
              {flat.get(), shape.get(), tuple_of(form.strides.data(), form.rank, size_of(form.dtype)).get()});
}

Ref jax_array(const Tensor& form, PyObject* like, const Place& place) {
  if (!form.is_contiguous())
    fail(ErrorCode::unsupported, place.op, ": ", place.argument, " has strides, which no JAX array has");
  const Ref jax = import_module("jax.numpy"), empty = owned(PyObject_GetAttrString(jax.get(), "empty")),
            device(PyObject_GetAttrString(like, "device"));
  PyErr_Clear();
  const Ref words = device ? words_of({{"device", device.get()}}) : Ref();
  Ref made = call(empty.get(), {tuple_of(form.shape.data(), form.rank).get(), numpy_dtype(form.dtype, place)},
                  words);
  // Nothing of JAX's own may write into it any more.
  owned(PyObject_CallMethod(made.get(), "block_until_ready", nullptr));
  return made;
}

}  // namespace

Ref allocate(const Tensor& form, Family family, PyObject* like, const Tensor& beside, const Place& place) {
  switch (family) {
    case Family::torch:
      return torch_tensor(form, like, beside, place);
    case Family::jax:
      return jax_array(form, like, place);
    case Family::cupy:
      return array(form, family, place);
    default:
      break;
  }
  if (form.device.type != DeviceType::cpu)
    fail(ErrorCode::unsupported, place.op, ": ", place.argument,
         " is required: Isomer does not know how the library of the other tensors allocates");
  return array(form, Family::numpy, place);
}

}  // namespace isomer::python
