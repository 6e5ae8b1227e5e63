// What of a module can be called from outside, with any signature: each function and kernel registers itself
// with its parameter types as the compiler deduced them, and with a call that converts from plain values.
#pragma once

// No header of the C++ library that kernels do not need anyway: every source with entries pays for them.
#include <bits/stringfwd.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "entries_abi.h"
#if defined(ISOMER_REAL_DEVICE)
#include "../../toolkit/isomer_device/launch.h"
#else
#include "launch.h"
#endif

// What follows is templates only, so that a declaration serves where the source has no vectors.
namespace std {
template <class, class>
class vector;
}

namespace isomer::emulator {

/// An argument does not fit its parameter, or is not there: the function is not entered.
[[noreturn]] inline void mismatch(const char* wanted, const CallValue& got) {
  isomer_emulator_mismatch(wanted, &got);
}

/// How a parameter of (decayed) type T is made from a value. `Held` lives as long as the call.
template <class T, class = void>
struct Accept {
  using Held = int;
  static constexpr bool possible = false;
};

template <class T>
struct Accept<T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>>> {
  using Held = T;
  static constexpr bool possible = true;
  static void make(Held& held, const CallValue& v) {
    if constexpr (std::is_floating_point_v<T>)
      held = static_cast<T>(isomer_emulator_real_of(&v));
    else
      held = static_cast<T>(isomer_emulator_integer_of(&v, std::is_same_v<T, bool>));
  }
  static T& pass(Held& held) { return held; }
};

/// The 16-bit floating types of either runtime and of PyTorch.
template <class T>
struct Accept<T,
              std::enable_if_t<std::is_class_v<T> && sizeof(T) == 2 && std::is_constructible_v<T, float>>> {
  using Held = T;
  static constexpr bool possible = true;
  static void make(Held& held, const CallValue& v) {
    held = T(static_cast<float>(isomer_emulator_real_of(&v)));
  }
  static T& pass(Held& held) { return held; }
};

template <class Traits, class Allocator>
struct Accept<std::basic_string<char, Traits, Allocator>, void> {
  using Held = std::basic_string<char, Traits, Allocator>;
  static constexpr bool possible = true;
  static void make(Held& held, const CallValue& v) {
    if (v.kind != CallKind::text) mismatch("a text", v);
    held = v.text;
  }
  static Held& pass(Held& held) { return held; }
};

template <class T, class = void>
struct IsDlpack : std::false_type {};
template <class T>
struct IsDlpack<
    T, std::void_t<decltype(T::data), decltype(T::device), decltype(T::ndim), decltype(T::dtype.lanes),
                   decltype(T::shape), decltype(T::strides), decltype(T::byte_offset)>> : std::true_type {};

/// A DLTensor, whoever's header declares it, and what its arrays point to.
template <class T>
struct DlpackTensor {
  T tensor{};
  std::int64_t shape[8], strides[8];
  void fill(const CallTensor& from) {
    for (int i = 0; i < from.rank; ++i) shape[i] = from.shape[i], strides[i] = from.strides[i];
    // As frameworks hand out views: the storage, and where in it the tensor begins.
    tensor.data = from.storage;
#if defined(ISOMER_EMULATOR_HIP) || defined(__HIPCC__)
    constexpr int device = 10;  // kDLROCM
#else
    constexpr int device = 2;  // kDLCUDA
#endif
    tensor.device.device_type = static_cast<decltype(tensor.device.device_type)>(device);
    tensor.device.device_id = 0;
    tensor.ndim = from.rank;
    // Codes and bits of DLPack 1.1, by element.
    constexpr unsigned char codes[] = {0, 2, 2, 2, 4, 10, 12, 11, 13, 0, 0, 0, 1, 6, 0};
    constexpr unsigned char bits[] = {0, 64, 32, 16, 16, 8, 8, 8, 8, 8, 32, 64, 8, 8, 16};
    tensor.dtype.code = codes[from.element];
    tensor.dtype.bits = bits[from.element];
    tensor.dtype.lanes = 1;
    tensor.shape = shape;
    tensor.strides = strides;
    tensor.byte_offset =
        static_cast<std::uint64_t>(static_cast<char*>(from.data) - static_cast<char*>(from.storage));
  }
};

template <class T>
constexpr CallNumber number_of() {
  if constexpr (!std::is_arithmetic_v<T>)
    return CallNumber::none;
  else if constexpr (std::is_floating_point_v<T>)
    return CallNumber::real;
  else if constexpr (std::is_same_v<T, bool>)
    return CallNumber::boolean;
  else
    return CallNumber::integer;
}

/// A pointer: the address of a tensor's first element, whatever its type; null for nothing; a host array for
/// a list of numbers.
template <class T>
struct Accept<T*, void> {
  using Element = std::remove_cv_t<T>;
  using Number = std::conditional_t<std::is_arithmetic_v<Element>, Element, char>;
  struct Held {
    CallPointer made{};
    T* pointer = nullptr;
    Held() = default;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
      if (made.own != nullptr) isomer_emulator_release_pointer(&made);
    }
  };
  static constexpr bool possible = !std::is_function_v<T>;
  static void make(Held& held, const CallValue& v) {
    isomer_emulator_pointer_of(&held.made, &v, number_of<Element>(), sizeof(Number));
    held.pointer = reinterpret_cast<T*>(held.made.address);
  }
  static T*& pass(Held& held) { return held.pointer; }
};

template <class T>
struct DlpackPointer {
  using Held = std::pair<T*, DlpackTensor<std::remove_cv_t<T>>>;
  static constexpr bool possible = true;
  static void make(Held& held, const CallValue& v) {
    held.first = nullptr;
    if (v.kind == CallKind::none) return;
    if (v.kind != CallKind::tensor) mismatch("a tensor", v);
    held.second.fill(*v.tensor);
    held.first = &held.second.tensor;
  }
  static T*& pass(Held& held) { return held.first; }
};

/// Which of the above serves a parameter: decided where the type is complete.
template <class T>
struct Acceptor {
  using type = Accept<T>;
};
template <class T>
struct Acceptor<T*> {
  using Bare = std::remove_cv_t<T>;
  using type = std::conditional_t<IsDlpack<Bare>::value, DlpackPointer<T>, Accept<T*>>;
};
template <class P>
using AcceptorOf = typename Acceptor<std::remove_cv_t<std::remove_reference_t<P>>>::type;

template <class T, class Allocator>
struct Accept<std::vector<T, Allocator>, void> {
  using Item = Accept<T>;
  using Held = std::vector<T, Allocator>;
  static constexpr bool possible = Item::possible;
  static void make(Held& held, const CallValue& v) {
    if (v.kind != CallKind::list) mismatch("a list", v);
    for (std::uint64_t i = 0; i < v.count; ++i) {
      typename Item::Held item{};
      Item::make(item, v.items[i]);
      held.push_back(Item::pass(item));
    }
  }
  static Held& pass(Held& held) { return held; }
};

/// As many numbers as a tuple, or a pair, has.
template <class... T>
struct Accept<std::tuple<T...>, void> {
  using Held = std::tuple<T...>;
  static constexpr bool possible = ((Accept<T>::possible && std::is_arithmetic_v<T>) && ...);
  static void make(Held& held, const CallValue& v) {
    if (v.kind != CallKind::list || v.count != sizeof...(T)) mismatch("a tuple", v);
    std::uint64_t at = 0;
    std::apply([&](T&... each) { (Accept<T>::make(each, v.items[at++]), ...); }, held);
  }
  static Held& pass(Held& held) { return held; }
};
template <class A, class B>
struct Accept<std::pair<A, B>, void> {
  using Held = std::pair<A, B>;
  static constexpr bool possible = std::is_arithmetic_v<A> && std::is_arithmetic_v<B>;
  static void make(Held& held, const CallValue& v) {
    if (v.kind != CallKind::list || v.count != 2) mismatch("a pair", v);
    Accept<A>::make(held.first, v.items[0]);
    Accept<B>::make(held.second, v.items[1]);
  }
  static Held& pass(Held& held) { return held; }
};

// results

template <class T, class = void>
struct Give {
  static void give(const T&, CallOutcome&) {}
};
template <class T>
struct Give<T, std::enable_if_t<std::is_arithmetic_v<T>>> {
  static void give(T value, CallOutcome& out) {
    CallValue v{};
    v.kind = std::is_same_v<T, bool> ? CallKind::boolean
             : std::is_integral_v<T> ? CallKind::integer
                                     : CallKind::real;
    v.integer = static_cast<std::int64_t>(value);
    v.real = static_cast<double>(value);
    out.give(out.context, &v);
  }
};
template <class Traits, class Allocator>
struct Give<std::basic_string<char, Traits, Allocator>, void> {
  static void give(const std::basic_string<char, Traits, Allocator>& text, CallOutcome& out) {
    CallValue v{};
    v.kind = CallKind::text;
    v.text = text.c_str();
    out.give(out.context, &v);
  }
};
template <class... T>
struct Give<std::tuple<T...>, void> {
  static void give(const std::tuple<T...>& all, CallOutcome& out) {
    std::apply([&](const T&... one) { (Give<T>::give(one, out), ...); }, all);
  }
};
template <class A, class B>
struct Give<std::pair<A, B>, void> {
  static void give(const std::pair<A, B>& both, CallOutcome& out) {
    Give<A>::give(both.first, out);
    Give<B>::give(both.second, out);
  }
};
template <class T, class Allocator>
struct Give<std::vector<T, Allocator>, void> {
  static void give(const std::vector<T, Allocator>& all, CallOutcome& out) {
    for (const T& one : all) Give<T>::give(one, out);
  }
};

// calls

/// What PyTorch's exceptions say without their stack; set where its headers are.
inline bool (*describe_tensor_exception)(CallOutcome&) = nullptr;

/// Calls `f` with parameters P, each made from its value, in order. `argument` counts, from 1, the one that
/// is being made, and is 0 once all are.
template <class R, class... P, class F, std::size_t... I>
void call_with_values(F& f, const CallValue* values, CallOutcome& out, std::uint32_t& argument,
                      std::index_sequence<I...>) {
  // Made in their places: what is held may point into itself.
  std::tuple<typename AcceptorOf<P>::Held...> held;
  ((argument = I + 1, AcceptorOf<P>::make(std::get<I>(held), values[I])), ...);
  argument = 0;
  out.entered(out.context);
  if constexpr (std::is_void_v<R>) {
    f(static_cast<P&&>(AcceptorOf<P>::pass(std::get<I>(held)))...);
  } else {
    decltype(auto) result = f(static_cast<P&&>(AcceptorOf<P>::pass(std::get<I>(held)))...);
    Give<std::remove_cv_t<std::remove_reference_t<R>>>::give(result, out);
  }
}

template <class R, class... P, class F>
void guarded_call(F& f, const CallValue* values, CallOutcome* out) {
  std::uint32_t argument = 0;
  try {
    call_with_values<R, P...>(f, values, *out, argument, std::index_sequence_for<P...>{});
  } catch (...) {
    isomer_emulator_call_threw(out, argument, describe_tensor_exception);
  }
}

template <class R, class F, class... P>
struct FunctionCall {
  static constexpr bool possible = (AcceptorOf<P>::possible && ...);
  static void invoke(const void* state, const CallValue* values, const CallLaunch*, CallOutcome* out) {
    if constexpr (possible) guarded_call<R, P...>(*static_cast<F*>(const_cast<void*>(state)), values, out);
  }
};

#if !defined(ISOMER_REAL_DEVICE)
template <class... P>
auto launcher_of(const CallLaunch& launch, void (*function)(P...)) {
  return function_launcher(
      request_of(launch.kernel, launch.file, launch.line,
                 Configuration(dim3(launch.grid[0], launch.grid[1], launch.grid[2]),
                               dim3(launch.block[0], launch.block[1], launch.block[2]), launch.shared_bytes)),
      function);
}
#endif

template <class... P>
struct KernelCall {
  static constexpr bool possible = (AcceptorOf<P>::possible && ...);
  static void invoke(const void* state, const CallValue* values, const CallLaunch* launch, CallOutcome* out) {
    if constexpr (possible) {
      auto launcher = launcher_of(*launch, *static_cast<void (*const*)(P...)>(state));
      guarded_call<void, P...>(launcher, values, out);
    }
  }
};

/// Types of parameters and result, as the library reads them.
template <class R, class... P>
const CallSignature* signature_of(bool possible) {
  // With the reference kept in a pointer, so that const stays.
  static const char* const types[sizeof...(P) + 1] = {typeid(std::remove_reference_t<P>*).name()..., nullptr};
  static CallSignature signature{types, sizeof...(P), "", 0};
  if constexpr (std::is_void_v<R>) {
    signature.result = "v";
  } else {
    signature.result = typeid(std::remove_reference_t<R>).name();
  }
  signature.possible = possible;
  return &signature;
}

inline void register_entry(CallForm form, const char* name, const void* address, const void* state,
                           const CallSignature* signature, CallInvoke invoke, const char* file, unsigned line,
                           const char* parameters) {
  const CallEntry entry{form, name, address, state, signature, invoke, file, line, parameters};
  isomer_emulator_register_entry(&entry);
}

/// A host function found in the source. `parameters`: one line each, type, tab, name, tab, default.
struct FunctionRegistration {
  template <class R, class... P>
  FunctionRegistration(R (*function)(P...), const char* name, const char* file, unsigned line,
                       const char* parameters) {
    using Call = FunctionCall<R, R (*)(P...), P...>;
    register_entry(CallForm::function, name, reinterpret_cast<const void*>(function),
                   new (R(*)(P...))(function), signature_of<R, P...>(Call::possible), &Call::invoke, file,
                   line, parameters);
  }
  template <class R, class... P>
  FunctionRegistration(R (*)(P..., ...), const char*, const char*, unsigned, const char*) {}  // not callable
};

struct KernelCallRegistration {
  template <class... P>
  KernelCallRegistration(void (*function)(P...), const char* name, const char* file, unsigned line,
                         const char* parameters) {
    using Call = KernelCall<P...>;
    register_entry(CallForm::kernel, name, reinterpret_cast<const void*>(function),
                   new (void (*)(P...))(function), signature_of<void, P...>(Call::possible), &Call::invoke,
                   file, line, parameters);
  }
};

/// A kernel template: known, with the types that it has to be instantiated for ("T,S").
struct TemplateCallRegistration {
  TemplateCallRegistration(const char* name, const char* types, const char* file, unsigned line,
                           const char* parameters) {
    register_entry(CallForm::kernel, name, nullptr, types, nullptr, nullptr, file, line, parameters);
  }
};

/// Anything callable under an exported name (pybind11, TORCH_LIBRARY): a function, or an object with one
/// operator().
template <class F>
struct CallableTraits : CallableTraits<decltype(&F::operator())> {
  static const void* address(const F&) { return nullptr; }
};
template <class R, class... P>
struct CallableTraits<R (*)(P...)> {
  template <class F>
  using Call = FunctionCall<R, F, P...>;
  template <class F>
  static const CallSignature* signature() {
    return signature_of<R, P...>(Call<F>::possible);
  }
  static const void* address(R (*function)(P...)) { return reinterpret_cast<const void*>(function); }
};
template <class R, class... P>
struct CallableTraits<R (*)(P...) noexcept> : CallableTraits<R (*)(P...)> {};
template <class C, class R, class... P>
struct CallableTraits<R (C::*)(P...) const> : CallableTraits<R (*)(P...)> {};
template <class C, class R, class... P>
struct CallableTraits<R (C::*)(P...)> : CallableTraits<R (*)(P...)> {};

template <class F>
void register_exported(const char* name, F function, const char* file, unsigned line,
                       const char* parameters) {
  using Traits = CallableTraits<F>;
  register_entry(CallForm::exported, name, Traits::address(function), new F(function),
                 Traits::template signature<F>(), &Traits::template Call<F>::invoke, file, line, parameters);
}

}  // namespace isomer::emulator
