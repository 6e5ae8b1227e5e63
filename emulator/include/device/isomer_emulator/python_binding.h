// What a PyTorch extension says to Python, said to the emulator instead: pybind11's and TORCH_LIBRARY's
// names, which keep each exported function with the signature that the compiler deduced. No Python is there.
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>

#include "entries.h"
#include "python_object.h"

#if !defined(TORCH_EXTENSION_NAME)
#define TORCH_EXTENSION_NAME isomer_extension
#endif

namespace isomer::emulator {

/// A name where it was written.
struct ExportedName {
  std::string name;
  const char* file;
  unsigned line;
  ExportedName(const char* text, const char* at = __builtin_FILE(), unsigned number = __builtin_LINE())
      : name(text), file(at), line(number) {}
  ExportedName(const std::string& text, const char* at = __builtin_FILE(), unsigned number = __builtin_LINE())
      : name(text), file(at), line(number) {}
};

struct ExportRegistration {
  explicit ExportRegistration(void (*exports)()) { isomer_emulator_register_exports(exports); }
};

/// The parameters of a schema, "(Tensor x, Tensor? w=None, float eps=1e-6) -> Tensor", one line each:
/// nothing, tab, name, tab, default.
inline std::string parameters_of_schema(const std::string& schema) {
  std::string all, word;
  int depth = 0;
  const auto take = [&] {
    const auto equals = word.find('=');
    std::string name = word.substr(0, equals);
    while (!name.empty() && name.back() == ' ') name.pop_back();
    const auto space = name.rfind(' ');
    if (space != std::string::npos && name.substr(space + 1) != "*") {
      std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
      if (value == "None") value = "none";
      if (value == "True") value = "true";
      if (value == "False") value = "false";
      all += "\t" + name.substr(space + 1) + "\t" + value + "\n";
    }
    word.clear();
  };
  const auto open = schema.find('(');
  for (std::size_t i = open; i < schema.size(); ++i) {
    const char c = schema[i];
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && --depth == 0) break;
    if (i == open) continue;
    if (c == ',' && depth == 1)
      take();
    else
      word += c;
  }
  take();
  return all;
}

inline std::string written_default(bool value) { return value ? "true" : "false"; }
inline std::string written_default(const char* value) { return std::string("\"") + value + '"'; }
inline std::string written_default(const std::string& value) { return written_default(value.c_str()); }
template <class T>
std::string written_default(const T& value);

/// "[0, 1.5]" of what has several values.
template <class... T>
std::string written_list(const T&... each) {
  std::string text;
  ((text += (text.empty() ? "[" : ", ") + written_default(each)), ...);
  return text + "]";
}
template <class... T>
std::string written_default(const std::tuple<T...>& all) {
  return std::apply([](const T&... each) { return written_list(each...); }, all);
}
template <class A, class B>
std::string written_default(const std::pair<A, B>& two) {
  return written_list(two.first, two.second);
}
template <class T>
std::string written_default(const std::vector<T>& all) {
  std::string text;
  for (const auto& each : all) text += (text.empty() ? "[" : ", ") + written_default(T(each));
  return text.empty() ? "none" : text + "]";
}
template <class T>
std::string written_default(const T& value) {
  if constexpr (std::is_arithmetic_v<T>) {
    // The shortest of these that is the number again.
    char text[64];
    for (int digits : {6, 9, 17}) {
      __builtin_snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
      if (static_cast<T>(std::strtod(text, nullptr)) == value) break;
    }
    return std::is_integral_v<T> ? std::to_string(value) : std::string(text);
  } else {
    return "none";
  }
}

}  // namespace isomer::emulator

namespace pybind11 {

struct arg_v {
  std::string name, value;
};
struct arg {
  const char* text;
  explicit constexpr arg(const char* name) : text(name) {}
  template <class T>
  arg_v operator=(const T& value) const {
    return {text, isomer::emulator::written_default(value)};
  }
  arg& none(bool = true) { return *this; }
  arg& noconvert(bool = true) { return *this; }
};
struct kw_only {};
struct pos_only {};

inline namespace literals {
constexpr arg operator""_a(const char* name, std::size_t) { return arg(name); }
}  // namespace literals

enum class return_value_policy {
  automatic,
  automatic_reference,
  take_ownership,
  copy,
  move,
  reference,
  reference_internal
};
struct gil_scoped_release {};
struct gil_scoped_acquire {};
template <class... T>
struct call_guard {};
template <int, int>
struct keep_alive {};
struct doc {
  explicit doc(const char*) {}
};

template <class... P>
struct overload_cast_impl {
  template <class R>
  constexpr auto operator()(R (*function)(P...)) const {
    return function;
  }
};
template <class... P>
inline constexpr overload_cast_impl<P...> overload_cast{};

class error_already_set : public std::runtime_error {
 public:
  error_already_set() : std::runtime_error("a Python error") {}
};
struct value_error : builtin_exception {
  using builtin_exception::builtin_exception;
  value_error() : builtin_exception("value_error") {}
};
struct type_error : builtin_exception {
  using builtin_exception::builtin_exception;
  type_error() : builtin_exception("type_error") {}
};
struct index_error : builtin_exception {
  using builtin_exception::builtin_exception;
  index_error() : builtin_exception("index_error") {}
};
struct key_error : builtin_exception {
  using builtin_exception::builtin_exception;
  key_error() : builtin_exception("key_error") {}
};

class module_ {
 public:
  template <class F, class... Extra>
  module_& def(isomer::emulator::ExportedName name, F&& function, const Extra&... extra) {
    std::string parameters;
    (note(parameters, extra), ...);
    isomer::emulator::register_exported(name.name.c_str(), std::decay_t<F>(std::forward<F>(function)),
                                        name.file, name.line, parameters.c_str());
    return *this;
  }
  object attr(const char*) { return {}; }
  std::string& doc() { return doc_; }
  module_ def_submodule(const char*, const char* = nullptr) { return {}; }

 private:
  static void note(std::string& all, const arg& a) { all += std::string("\t") + a.text + "\t\n"; }
  static void note(std::string& all, const arg_v& a) { all += "\t" + a.name + "\t" + a.value + "\n"; }
  template <class Other>
  static void note(std::string&, const Other&) {}
  std::string doc_;
};
using module = module_;

/// Constructors and classes are accepted and kept from nobody: only functions are called.
template <class... P>
struct init_t {};
template <class... P>
init_t<P...> init() {
  return {};
}
template <class F>
init_t<F> init(F&&) {
  return {};
}
template <class T, class... Options>
class class_ {
 public:
  template <class... Any>
  explicit class_(Any&&...) {}
#define ISOMER_EMULATOR_IGNORED(NAME) \
  template <class... Any>             \
  class_& NAME(Any&&...) {            \
    return *this;                     \
  }
  ISOMER_EMULATOR_IGNORED(def)
  ISOMER_EMULATOR_IGNORED(def_static)
  ISOMER_EMULATOR_IGNORED(def_readwrite)
  ISOMER_EMULATOR_IGNORED(def_readonly)
  ISOMER_EMULATOR_IGNORED(def_property)
  ISOMER_EMULATOR_IGNORED(def_property_readonly)
  ISOMER_EMULATOR_IGNORED(value)
  ISOMER_EMULATOR_IGNORED(export_values)
#undef ISOMER_EMULATOR_IGNORED
};
template <class T>
using enum_ = class_<T>;

}  // namespace pybind11

#define ISOMER_EMULATOR_JOIN2(A, B) A##B
#define ISOMER_EMULATOR_JOIN(A, B) ISOMER_EMULATOR_JOIN2(A, B)

#define PYBIND11_MODULE(NAME, MODULE, ...)                                                         \
  static void ISOMER_EMULATOR_JOIN(isomer_emulator_bind_, NAME)(::pybind11::module_ & MODULE);     \
  static const ::isomer::emulator::ExportRegistration ISOMER_EMULATOR_JOIN(isomer_emulator_bound_, \
                                                                           NAME)([] {              \
    static ::pybind11::module_ module;                                                             \
    ISOMER_EMULATOR_JOIN(isomer_emulator_bind_, NAME)(module);                                     \
  });                                                                                              \
  static void ISOMER_EMULATOR_JOIN(isomer_emulator_bind_, NAME)([[maybe_unused]] ::pybind11::module_ & MODULE)
#define PYBIND11_PLUGIN(NAME) static_assert(false, "PYBIND11_PLUGIN has left pybind11: use PYBIND11_MODULE")
#define PYBIND11_OVERLOAD_CAST(...) ::pybind11::overload_cast<__VA_ARGS__>
