// TORCH_LIBRARY, TORCH_LIBRARY_FRAGMENT and TORCH_LIBRARY_IMPL, after PyTorch's own header.
#pragma once

#include <map>

#include "entries_torch.h"
#include "python_binding.h"

namespace isomer::emulator {

class TensorLibrary {
 public:
  /// A schema without a function: the function follows by `impl`.
  template <class... Extra>
  TensorLibrary& def(ExportedName schema, const std::vector<at::Tag>& = {}) {
    schemas()[name_of(schema.name)] = parameters_of_schema(schema.name);
    return *this;
  }
  template <class F, class = std::enable_if_t<!std::is_convertible_v<F, std::vector<at::Tag>>>>
  TensorLibrary& def(ExportedName schema, F&& function) {
    return keep(schema, std::forward<F>(function));
  }
  template <class F>
  TensorLibrary& impl(ExportedName name, F&& function) {
    return keep(name, std::forward<F>(function));
  }
  template <class F>
  TensorLibrary& impl(ExportedName name, c10::DispatchKey, F&& function) {
    return keep(name, std::forward<F>(function));
  }
  template <class F>
  TensorLibrary& fallback(F&&) {
    return *this;
  }
  TensorLibrary& set_python_module(const char*, const char* = "") { return *this; }
  TensorLibrary& impl_abstract_pystub(const char*, const char* = "") { return *this; }

 private:
  template <class F>
  TensorLibrary& keep(const ExportedName& schema, F&& function) {
    const std::string name = name_of(schema.name);
    std::string parameters = parameters_of_schema(schema.name);
    if (const auto known = schemas().find(name); parameters.empty() && known != schemas().end())
      parameters = known->second;
    register_exported(name.c_str(), plain(function), schema.file, schema.line, parameters.c_str());
    return *this;
  }
  // Without namespace, overload and parameters.
  static std::string name_of(const std::string& schema) {
    const std::string name = schema.substr(0, schema.find_first_of("(."));
    const auto colon = name.rfind("::");
    return colon == std::string::npos ? name : name.substr(colon + 2);
  }
  // Of all blocks of the file: a schema is defined in one, and implemented in another.
  static std::map<std::string, std::string>& schemas() {
    static std::map<std::string, std::string> all;
    return all;
  }
  // TORCH_FN(f) is a compile-time pointer; c10::dispatch's result holds one too.
  template <class F>
  static auto plain(F&& function) {
    using Bare = std::decay_t<F>;
    if constexpr (std::is_pointer_v<Bare>) {
      return static_cast<Bare>(function);
    } else if constexpr (IsCompileTime<Bare>::value) {
      return Bare::func_ptr();
    } else {
      return Bare(std::forward<F>(function));
    }
  }
  template <class T, class = void>
  struct IsCompileTime : std::false_type {};
  template <class T>
  struct IsCompileTime<T, std::void_t<decltype(T::func_ptr())>> : std::true_type {};
};

}  // namespace isomer::emulator

#undef TORCH_LIBRARY
#undef TORCH_LIBRARY_FRAGMENT
#undef TORCH_LIBRARY_IMPL
#define ISOMER_EMULATOR_TENSOR_LIBRARY(ID, LIBRARY)                                                          \
  static void ISOMER_EMULATOR_JOIN(isomer_emulator_library_,                                                 \
                                   ID)(::isomer::emulator::TensorLibrary & LIBRARY);                         \
  static const ::isomer::emulator::ExportRegistration ISOMER_EMULATOR_JOIN(isomer_emulator_listed_, ID)([] { \
    static ::isomer::emulator::TensorLibrary library;                                                        \
    ISOMER_EMULATOR_JOIN(isomer_emulator_library_, ID)(library);                                             \
  });                                                                                                        \
  static void ISOMER_EMULATOR_JOIN(isomer_emulator_library_,                                                 \
                                   ID)([[maybe_unused]] ::isomer::emulator::TensorLibrary & LIBRARY)
#define TORCH_LIBRARY(NAMESPACE, LIBRARY) ISOMER_EMULATOR_TENSOR_LIBRARY(__COUNTER__, LIBRARY)
#define TORCH_LIBRARY_FRAGMENT(NAMESPACE, LIBRARY) ISOMER_EMULATOR_TENSOR_LIBRARY(__COUNTER__, LIBRARY)
#define TORCH_LIBRARY_IMPL(NAMESPACE, KEY, LIBRARY) ISOMER_EMULATOR_TENSOR_LIBRARY(__COUNTER__, LIBRARY)
