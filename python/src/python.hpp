#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <exception>
#include <string>
#include <utility>

namespace isomer::python {

/// A reference that is given back at the end of its scope.
class Ref {
 public:
  Ref() = default;
  /// Takes over a new reference; null stays null.
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

/// A Python exception is set and goes to the caller as it is.
struct Raised {};

/// The object, or Raised where Python has raised.
inline Ref owned(PyObject* object) {
  if (object == nullptr) throw Raised{};
  return Ref(object);
}

/// Takes the exception that Python has set as text, "TypeError: …". One that is no fault of the call's (an
/// interrupt, exhausted memory) is set again and thrown as Raised.
std::string take_raised();

/// str(object), cut to a length that a sentence bears.
std::string text_of(PyObject* object);
/// The name of the object's type.
std::string type_of(PyObject* object);
/// How a sentence shows a value: 'yes', 3, a list.
std::string shown(PyObject* object);

/// The module of that name where somebody has imported it already; else empty. Nothing is imported.
Ref imported_module(const char* name);
/// The module, imported. Throws Raised.
Ref import_module(const char* name);

/// Whether the object is a str, and then its text.
bool as_text(PyObject* object, std::string& text);

/// isomer.Error, made by the module.
void set_error_type(PyObject* type);
/// Sets the Python exception for the C++ exception that is being handled.
void raise_caught() noexcept;

/// Runs work without the interpreter's lock, but at the interpreter's exit, where a thread that gave it away
/// might never get it back.
class Unlocked {
 public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  /// The interpreter is about to exit: from now on work keeps the lock; returns when none runs without it.
  static void close() noexcept;

 private:
  PyThreadState* state_ = nullptr;
};

}  // namespace isomer::python
