#include "view.hpp"

#include "core/sentence.hpp"
#include "queues.hpp"

#include <array>
#include <cstring>
#include <unordered_map>

namespace isomer::python {
namespace {

using core::fail;

/// A name that is looked up again and again.
PyObject* interned(const char* name) {
  PyObject* text = PyUnicode_InternFromString(name);
  if (text == nullptr) throw Raised{};
  return text;
}

struct Names {
  PyObject* shape = interned("shape");
  PyObject* stride = interned("stride");
  PyObject* dtype = interned("dtype");
  PyObject* data_ptr = interned("data_ptr");
  PyObject* is_cpu = interned("is_cpu");
  PyObject* is_neg = interned("is_neg");
  PyObject* device = interned("device");
  PyObject* requires_grad = interned("requires_grad");
};
const Names& names() {
  static const Names* const made = new Names;
  return *made;
}

template <class... Parts>
[[noreturn]] void refuse(const Place& place, const Parts&... parts) {
  fail(ErrorCode::bad_argument, place.op, ": ", place.argument, " ", parts...);
}

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

constexpr const char* kNumpyNames[kDTypeCount] = {"",
                                                  "float64",
                                                  "float32",
                                                  "float16",
                                                  "bfloat16",
                                                  "float8_e4m3fn",
                                                  "float8_e5m2",
                                                  "float8_e4m3fnuz",
                                                  "float8_e5m2fnuz",
                                                  "int8",
                                                  "int32",
                                                  "int64",
                                                  "uint8"};

const std::array<PyObject*, kDTypeCount>& torch_dtypes() {
  static const auto* const made = [] {
    auto* list = new std::array<PyObject*, kDTypeCount>{};
    const Ref torch = import_module("torch");
    for (std::size_t i = 1; i < kDTypeCount; ++i) {
      (*list)[i] = PyObject_GetAttrString(torch.get(), kNumpyNames[i]);
      PyErr_Clear();  // an older PyTorch without float8
    }
    return list;
  }();
  return *made;
}

/// How DLPack 1.3 lets a library's tensors be read without a Python object for each of their numbers: 0 where
/// `out` is filled with what lives as long as the tensor.
struct DlpackExchange {
  struct {
    std::uint32_t major, minor;
  } version;
  DlpackExchange* previous;
  void *allocate, *managed_from_object, *managed_to_object;
  int (*from_object)(void* object, isomer_tensor* out);
  void* current_stream;
};

/// PyTorch's, and the two types whose objects are tensors with a memory of their own; none in a PyTorch
/// before 2.10.
struct TorchExchange {
  PyObject *tensor = nullptr, *parameter = nullptr;
  const DlpackExchange* exchange = nullptr;
};
const TorchExchange& torch_exchange() {
  static const TorchExchange found = [] {
    TorchExchange made;
    const Ref torch = import_module("torch"), nn(PyObject_GetAttrString(torch.get(), "nn"));
    Ref tensor(PyObject_GetAttrString(torch.get(), "Tensor"));
    Ref parameter(nn ? PyObject_GetAttrString(nn.get(), "Parameter") : nullptr);
    const Ref capsule(tensor ? PyObject_GetAttrString(tensor.get(), "__dlpack_c_exchange_api__") : nullptr);
    const void* const pointer =
        capsule ? PyCapsule_GetPointer(capsule.get(), "dlpack_exchange_api") : nullptr;
    PyErr_Clear();
    const auto* const exchange = static_cast<const DlpackExchange*>(pointer);
    if (exchange != nullptr && parameter && exchange->version.major == 1 && exchange->from_object != nullptr)
      made = {tensor.release(), parameter.release(), exchange};
    return made;
  }();
  return found;
}

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

/// Sizes or strides from a tuple.
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

/// From bytes to elements.
void divide_strides(Tensor& t, const Place& place) {
  const std::int64_t bytes = size_of(t.dtype);
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.rank); ++i) {
    if (t.strides[i] % bytes != 0)
      refuse(place, "has a stride of ", t.strides[i], " bytes, expected a multiple of its elements' ", bytes);
    t.strides[i] /= bytes;
  }
}

DType buffer_dtype(const char* format, Py_ssize_t bytes) {
  if (format == nullptr) return DType::u8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (*format == '\0' || format[1] != '\0') return DType::none;
  const bool is_signed = std::strchr("bhilqn", *format) != nullptr;
  switch (*format) {
    case 'e':
      return DType::f16;
    case 'f':
      return DType::f32;
    case 'd':
      return DType::f64;
    case 'B':
      return DType::u8;
    default:
      return !is_signed   ? DType::none
             : bytes == 1 ? DType::i8
             : bytes == 4 ? DType::i32
             : bytes == 8 ? DType::i64
                          : DType::none;
  }
}

std::string dtype_text(PyObject* object) {
  const Ref dtype(PyObject_GetAttr(object, names().dtype));
  if (dtype) return text_of(dtype.get());
  PyErr_Clear();
  return "of an unknown kind";
}

/// "<f4", or the name of a dtype that has no letter of its own.
DType typestr_dtype(const std::string& text, PyObject* object) {
  if (text.size() >= 3 && text[0] != '>') {
    const char kind = text[1];
    const std::string bytes = text.substr(2);
    if (kind == 'f')
      return bytes == "2" ? DType::f16 : bytes == "4" ? DType::f32 : bytes == "8" ? DType::f64 : DType::none;
    if (kind == 'i')
      return bytes == "1" ? DType::i8 : bytes == "4" ? DType::i32 : bytes == "8" ? DType::i64 : DType::none;
    if (kind == 'u' && bytes == "1") return DType::u8;
    if (kind == 'V') return dtype_named(dtype_text(object));
  }
  return DType::none;
}

}  // namespace

struct View::Managed {
  isomer_tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

View::~View() {
  if (has_buffer_) PyBuffer_Release(&buffer_);
  if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
  Py_XDECREF(keeper_);
}

Ref imported_module(const char* name) {
  PyObject* const modules = PyImport_GetModuleDict();
  PyObject* const module = modules == nullptr ? nullptr : PyDict_GetItemString(modules, name);
  Py_XINCREF(module);
  return Ref(module);
}

Ref import_module(const char* name) { return owned(PyImport_ImportModule(name)); }

PyObject* torch_dtype(DType type) { return torch_dtypes()[static_cast<std::size_t>(type)]; }

const char* numpy_name(DType type) { return kNumpyNames[static_cast<std::size_t>(type)]; }

DType dtype_named(std::string_view name) {
  if (const std::size_t dot = name.rfind('.'); dot != name.npos) name.remove_prefix(dot + 1);
  for (std::size_t i = 1; i < kDTypeCount; ++i)
    if (name == kNumpyNames[i] || name == name_of(static_cast<DType>(i))) return static_cast<DType>(i);
  return DType::none;
}

DType dtype_of_object(PyObject* object, std::string_view op) {
  std::string name;
  if (!as_text(object, name)) {
    name = text_of(object);
    if (dtype_named(name) == DType::none) {
      const Ref own(PyObject_GetAttrString(object, PyType_Check(object) ? "__name__" : "name"));
      if (!own || !as_text(own.get(), name)) PyErr_Clear();
    }
  }
  const DType type = dtype_named(name);
  if (type == DType::none)
    fail(ErrorCode::bad_argument, op, ": dtype is ", shown(object),
         ", expected one of NumPy's or PyTorch's, or a name as 'f32', 'f16', 'bf16' or 'e4m3fn'");
  return type;
}

bool torch_is_hip() {
  static const bool hip = [] {
    const Ref torch = import_module("torch"), version(PyObject_GetAttrString(torch.get(), "version")),
              number(version ? PyObject_GetAttrString(version.get(), "hip") : nullptr);
    PyErr_Clear();
    return number && number.get() != Py_None;
  }();
  return hip;
}

void View::read(PyObject* object, const Place& place, bool written) {
  family = family_of(object);
  if (family == Family::torch && read_torch(object, place)) return;
  if (family != Family::jax) {
    if (PyObject_CheckBuffer(object) && read_buffer(object, place, written)) {
      if (family == Family::other) family = Family::numpy;
      return;
    }
    if (const Ref interface(PyObject_GetAttrString(object, "__cuda_array_interface__")); interface) {
      int index = 0;
      if (const Ref device(PyObject_GetAttrString(object, "device")); device)
        if (const Ref id(PyObject_GetAttrString(device.get(), "id")); id)
          index = static_cast<int>(integer(id.get(), place));
      PyErr_Clear();
      return read_interface(interface.get(), object, place, written, {DeviceType::cuda, index});
    }
    PyErr_Clear();
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

/// Form and address at once; false where PyTorch gives them by its attributes alone.
bool View::exchange_torch(PyObject* object) {
  const TorchExchange& torch = torch_exchange();
  auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  // Another type may stand for a tensor without memory, as a fake one does.
  if (torch.exchange == nullptr || (type != torch.tensor && type != torch.parameter)) return false;
  isomer_tensor raw{};
  if (torch.exchange->from_object(object, &raw) != 0) {
    take_raised();
    return false;
  }
  try {
    tensor = Tensor::from_dlpack(raw);
    return true;
  } catch (const Error&) {
    return false;  // a dtype or a device that Isomer has not: the attributes say so in words
  }
}

bool View::read_torch(PyObject* object, const Place& place) {
  const Names& name = names();
  const auto get = [&](PyObject* attribute) {
    Ref value(PyObject_GetAttr(object, attribute));
    if (!value) refuse(place, "is a tensor that cannot be read: ", take_raised());
    return value;
  };
  const auto call = [&](PyObject* method) {
    Ref value(PyObject_CallMethodObjArgs(object, method, nullptr));
    if (!value) refuse(place, "is a tensor that cannot be read: ", take_raised());
    return value;
  };
  const bool whole = exchange_torch(object);
  if (get(name.requires_grad).get() == Py_True) {
    const Ref torch = import_module("torch"),
              enabled = owned(PyObject_CallMethod(torch.get(), "is_grad_enabled", nullptr));
    if (enabled.get() == Py_True)
      refuse(place,
             "requires a gradient, and Isomer computes forward only: call it under torch.no_grad(), or give "
             "a detached tensor");
  }
  if (whole) {
    if (call(name.is_neg).get() == Py_True)
      refuse(place, "is a lazily negated tensor: give its resolve_neg()");
    Py_INCREF(object);
    keeper_ = object;
    return true;
  }
  tensor = Tensor();
  const Ref dtype = get(name.dtype);
  const auto& known = torch_dtypes();
  for (std::size_t i = 1; i < kDTypeCount; ++i)
    if (known[i] == dtype.get()) tensor.dtype = static_cast<DType>(i);
  if (tensor.dtype == DType::none)
    refuse(place, "has dtype ", text_of(dtype.get()), ", which Isomer has not");
  if (get(name.is_cpu).get() != Py_True) {
    const Ref device = get(name.device), kind(PyObject_GetAttrString(device.get(), "type")),
              index(PyObject_GetAttrString(device.get(), "index"));
    std::string text;
    if (!kind || !index || !as_text(kind.get(), text))
      refuse(place, "has no readable device: ", take_raised());
    if (text != "cuda") refuse(place, "is on ", text, ", expected cpu or cuda");
    tensor.device = {torch_is_hip() ? DeviceType::hip : DeviceType::cuda,
                     index.get() == Py_None ? 0 : static_cast<int>(integer(index.get(), place))};
  }
  const Ref shape = get(name.shape), stride = call(name.stride);
  check_rank(PyTuple_Check(shape.get()) ? PyTuple_Size(shape.get()) : -1, place);
  tensor.rank = static_cast<int>(PyTuple_Size(shape.get()));
  numbers(shape.get(), tensor.shape, tensor.rank, place);
  numbers(stride.get(), tensor.strides, tensor.rank, place);
  if (call(name.is_neg).get() == Py_True) refuse(place, "is a lazily negated tensor: give its resolve_neg()");
  const Ref pointer = call(name.data_ptr);
  tensor.data = address(pointer.get(), place);
  Py_INCREF(object);
  keeper_ = object;
  return true;
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
    fail(error.code(), place.op, ": ", place.argument, ": ", error.what());
  }
}

bool View::read_jax_pointer(PyObject* object, const Place& place) {
  const Ref pointer(PyObject_CallMethod(object, "unsafe_buffer_pointer", nullptr)),
      shape(PyObject_GetAttr(object, names().shape));
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
