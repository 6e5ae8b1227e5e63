// PyTorch's types as parameters and results of a module's functions.
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "call_mismatch.h"
#include "entries.h"
#if !defined(ISOMER_REAL_DEVICE)
#include "torch_device.h"
#endif

namespace isomer::emulator {

#if defined(ISOMER_REAL_DEVICE)
inline c10::Device device_of_tensors() { return c10::Device(c10::DeviceType::CUDA, 0); }
#else
inline c10::Device device_of_tensors() { return c10::Device(c10::DeviceType::CPU); }
#endif

inline c10::ScalarType scalar_type_of(int element) {
  using c10::ScalarType;
  switch (element) {
    case 1:
      return ScalarType::Double;
    case 2:
      return ScalarType::Float;
    case 3:
      return ScalarType::Half;
    case 4:
      return ScalarType::BFloat16;
#if defined(ISOMER_EMULATOR_TORCH_FLOAT8)
    case 5:
      return ScalarType::Float8_e4m3fn;
    case 6:
      return ScalarType::Float8_e5m2;
    case 7:
      return ScalarType::Float8_e4m3fnuz;
    case 8:
      return ScalarType::Float8_e5m2fnuz;
#endif
    case 9:
      return ScalarType::Char;
    case 10:
      return ScalarType::Int;
    case 11:
      return ScalarType::Long;
    case 12:
      return ScalarType::Byte;
    case 13:
      return ScalarType::Short;
    case 14:
      return ScalarType::Bool;
    default:
      throw UnknownElement(
          "these PyTorch headers know no such element type (8-bit floats came with PyTorch 2.1)");
  }
}

inline int element_of(c10::ScalarType type) {
  for (int element = 1; element < kCallElements; ++element) {
    try {
      if (scalar_type_of(element) == type) return element;
    } catch (const CallMismatch&) {
    }
  }
  return 0;
}

/// The tensor over the caller's whole storage, with its offset where that is a number of elements.
inline at::Tensor tensor_of(const CallTensor& from) {
  const c10::ScalarType type = scalar_type_of(from.element);
#if defined(ISOMER_REAL_DEVICE)
  // Nothing lies nowhere, and PyTorch asks on which device that is.
  if (from.storage == nullptr)
    return at::empty_strided(at::IntArrayRef(from.shape, from.rank), at::IntArrayRef(from.strides, from.rank),
                             at::TensorOptions().dtype(type).device(device_of_tensors()));
#endif
  const auto bytes = static_cast<std::int64_t>(c10::elementSize(type));
  auto* begin = static_cast<char*>(from.storage);
  std::int64_t offset = static_cast<char*>(from.data) - begin;
  if (offset % bytes != 0) begin += offset, offset = 0;
  const auto left = static_cast<std::size_t>(static_cast<char*>(from.storage) + from.storage_bytes - begin);
  at::Tensor tensor = at::from_blob(begin, {static_cast<std::int64_t>(left) / bytes},
                                    at::TensorOptions().dtype(type).device(device_of_tensors()));
  return tensor.as_strided(at::IntArrayRef(from.shape, from.rank), at::IntArrayRef(from.strides, from.rank),
                           offset / bytes);
}

template <>
struct Accept<at::Tensor> {
  using Held = at::Tensor;
  static constexpr bool possible = true;
  static void make(Held& held, const CallValue& v) {
    if (v.kind != CallKind::tensor) mismatch("a tensor", v);
    held = tensor_of(*v.tensor);
  }
  static at::Tensor& pass(Held& held) { return held; }
};

template <class Optional, class T>
struct AcceptOptional {
  struct Held {
    Optional optional;
    typename Accept<T>::Held inner;
  };
  // Nothing is a value of every optional, also of a generator of random numbers.
  static constexpr bool possible = true;
  static void make(Held& held, const CallValue& v) {
    if (v.kind == CallKind::none) return;
    if constexpr (Accept<T>::possible) {
      Accept<T>::make(held.inner, v);
      held.optional = Accept<T>::pass(held.inner);
    } else {
      mismatch("nothing", v);
    }
  }
  static Optional& pass(Held& held) { return held.optional; }
};
template <class T>
struct Accept<std::optional<T>, void> : AcceptOptional<std::optional<T>, T> {};
// In newer releases c10::optional is the standard's.
template <class Optional>
struct Accept<Optional,
              std::enable_if_t<std::is_same_v<Optional, c10::optional<typename Optional::value_type>> &&
                               !std::is_same_v<Optional, std::optional<typename Optional::value_type>>>>
    : AcceptOptional<Optional, typename Optional::value_type> {};

template <class T>
struct Accept<c10::ArrayRef<T>, void> {
  struct Held {
    std::vector<T> own;
    c10::ArrayRef<T> ref;
  };
  static constexpr bool possible = Accept<T>::possible;
  static void make(Held& held, const CallValue& v) {
    if constexpr (std::is_integral_v<T>) {
      if (v.kind == CallKind::integer) {  // Python's callers may give one number for a list
        held.own.push_back(static_cast<T>(v.integer));
        held.ref = held.own;
        return;
      }
    }
    Accept<std::vector<T>>::make(held.own, v);
    held.ref = held.own;
  }
  static c10::ArrayRef<T>& pass(Held& held) { return held.ref; }
};

template <>
struct Accept<c10::ScalarType, void> {
  using Held = c10::ScalarType;
  static constexpr bool possible = true;
  static void make(Held& held, const CallValue& v) {
    if (v.kind != CallKind::dtype) mismatch("a dtype", v);
    held = scalar_type_of(v.element);
  }
  static c10::ScalarType& pass(Held& held) { return held; }
};

template <>
struct Accept<at::Scalar> {
  using Held = at::Scalar;
  static constexpr bool possible = true;
  static void make(Held& held, const CallValue& v) {
    if (v.kind == CallKind::integer) {
      held = at::Scalar(v.integer);
    } else if (v.kind == CallKind::real) {
      held = at::Scalar(v.real);
    } else if (v.kind == CallKind::boolean) {
      held = at::Scalar(v.integer != 0);
    } else {
      mismatch("a number", v);
    }
  }
  static at::Scalar& pass(Held& held) { return held; }
};

template <>
struct Accept<c10::Device> {
  struct Held {
    c10::Device device = device_of_tensors();
  };
  static constexpr bool possible = true;
  static void make(Held&, const CallValue&) {}
  static c10::Device& pass(Held& held) { return held.device; }
};

#if !defined(ISOMER_REAL_DEVICE)
/// at::cuda::CUDAStream and its like.
template <class Handle>
struct Accept<TensorStream<Handle>, void> {
  using Held = TensorStream<Handle>;
  static constexpr bool possible = true;
  static void make(Held& held, const CallValue& v) {
    if (v.kind == CallKind::tensor) held = TensorStream<Handle>(v.tensor->data);
  }
  static Held& pass(Held& held) { return held; }
};
#endif

template <>
struct Give<at::Tensor, void> {
  static void give(const at::Tensor& result, CallOutcome& out) {
    CallValue v{};
    if (!result.defined()) {
      out.give(out.context, &v);
      return;
    }
    const int element = element_of(result.scalar_type());
    if (element == 0 || result.dim() > 8 || !result.has_storage()) {
      const std::string text = std::string("it returned a tensor of ") + c10::toString(result.scalar_type()) +
                               " and " + std::to_string(result.dim()) +
                               " dimensions, which cannot be represented";
      out.end(out.context, CallEnd::not_callable, text.c_str());
      return;
    }
    CallTensor t{};
    t.storage = result.storage().data_ptr().get();
    t.storage_bytes = result.storage().nbytes();
    t.data = static_cast<char*>(t.storage) +
             result.storage_offset() * static_cast<std::int64_t>(result.element_size());
    t.element = element;
    t.rank = static_cast<int>(result.dim());
    for (int i = 0; i < t.rank; ++i) t.shape[i] = result.size(i), t.strides[i] = result.stride(i);
    v.kind = CallKind::tensor;
    v.tensor = &t;
    out.give(out.context, &v);
    if (out.keep)
      out.keep(out.context, new at::Tensor(result),
               [](void* kept) { delete static_cast<at::Tensor*>(kept); });
  }
};
template <class T>
struct Give<std::optional<T>, void> {
  static void give(const std::optional<T>& result, CallOutcome& out) {
    if (result) return Give<T>::give(*result, out);
    const CallValue none{};
    out.give(out.context, &none);
  }
};

/// A class of its own before it was another name for std::optional.
template <class Optional>
struct Give<Optional,
            std::enable_if_t<std::is_same_v<Optional, c10::optional<typename Optional::value_type>> &&
                             !std::is_same_v<Optional, std::optional<typename Optional::value_type>>>> {
  static void give(const Optional& result, CallOutcome& out) {
    if (result.has_value()) return Give<typename Optional::value_type>::give(*result, out);
    const CallValue none{};
    out.give(out.context, &none);
  }
};

inline bool describe_c10_exception(CallOutcome& out) {
  try {
    throw;
  } catch (const c10::Error& e) {
    out.end(out.context, CallEnd::refused, e.what_without_backtrace());
    return true;
  } catch (...) {
    return false;
  }
}
inline const bool tensor_exceptions_described = [] {
  describe_tensor_exception = &describe_c10_exception;
  return true;
}();

}  // namespace isomer::emulator
