#include "dtypes.hpp"
#include "reading.hpp"
#include "view.hpp"

namespace isomer::python {
namespace {

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

}  // namespace

bool torch_is_hip() {
  static const bool hip = [] {
    const Ref torch = import_module("torch"), version(PyObject_GetAttrString(torch.get(), "version")),
              number(version ? PyObject_GetAttrString(version.get(), "hip") : nullptr);
    PyErr_Clear();
    return number && number.get() != Py_None;
  }();
  return hip;
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

void View::read_made(PyObject* object, const Place& place) {
  if (family_of(object) != Family::torch || !exchange_torch(object)) return read(object, place, true);
  family = Family::torch;
  Py_INCREF(object);
  keeper_ = object;
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
  for (std::size_t i = 1; i < kDTypeCount; ++i)
    if (torch_dtype(static_cast<DType>(i)) == dtype.get()) tensor.dtype = static_cast<DType>(i);
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

}  // namespace isomer::python
