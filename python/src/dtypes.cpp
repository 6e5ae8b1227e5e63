#include "dtypes.hpp"

#include "reading.hpp"

#include <array>
#include <cstring>

namespace isomer::python {
namespace {

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
                                                  "uint8",
                                                  "int16"};

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

}  // namespace

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
    core::fail(ErrorCode::bad_argument, op, ": dtype is ", shown(object),
               ", expected one of NumPy's or PyTorch's, or a name as 'f32', 'f16', 'bf16' or 'e4m3fn'");
  return type;
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
             : bytes == 2 ? DType::i16
             : bytes == 4 ? DType::i32
             : bytes == 8 ? DType::i64
                          : DType::none;
  }
}

DType typestr_dtype(const std::string& text, PyObject* object) {
  if (text.size() >= 3 && text[0] != '>') {
    const char kind = text[1];
    const std::string bytes = text.substr(2);
    if (kind == 'f')
      return bytes == "2" ? DType::f16 : bytes == "4" ? DType::f32 : bytes == "8" ? DType::f64 : DType::none;
    if (kind == 'i')
      return bytes == "1"   ? DType::i8
             : bytes == "2" ? DType::i16
             : bytes == "4" ? DType::i32
             : bytes == "8" ? DType::i64
                            : DType::none;
    if (kind == 'u' && bytes == "1") return DType::u8;
    if (kind == 'V') return dtype_named(dtype_text(object));
  }
  return DType::none;
}

}  // namespace isomer::python
