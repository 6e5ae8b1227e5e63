#include "python.hpp"

#include <isomer/error.hpp>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

namespace isomer::python {
namespace {

constexpr std::size_t kShown = 80;

PyObject* error_type = nullptr;

std::atomic<bool> closed{false};
std::atomic<int> running{0};

std::string cut(std::string text) {
  if (text.size() <= kShown) return text;
  std::size_t length = kShown;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  return text.substr(0, length) + "…";
}

}  // namespace

Ref imported_module(const char* name) {
  PyObject* const modules = PyImport_GetModuleDict();
  PyObject* const module = modules == nullptr ? nullptr : PyDict_GetItemString(modules, name);
  Py_XINCREF(module);
  return Ref(module);
}

Ref import_module(const char* name) { return owned(PyImport_ImportModule(name)); }

bool as_text(PyObject* object, std::string& text) {
  if (!PyUnicode_Check(object)) return false;
  Py_ssize_t length = 0;
  const char* characters = PyUnicode_AsUTF8AndSize(object, &length);
  if (characters == nullptr) {  // lone surrogates
    PyErr_Clear();
    return false;
  }
  text.assign(characters, static_cast<std::size_t>(length));
  return true;
}

std::string text_of(PyObject* object) {
  const Ref words(PyObject_Str(object));
  std::string text;
  if (!words || !as_text(words.get(), text)) {
    PyErr_Clear();
    return type_of(object);
  }
  return cut(text.substr(0, text.find('\n')));
}

std::string type_of(PyObject* object) {
  const Ref name(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  std::string text;
  if (name && as_text(name.get(), text)) return text;
  PyErr_Clear();
  return "object";
}

std::string shown(PyObject* object) {
  std::string text;
  if (as_text(object, text)) return "'" + cut(text) + "'";
  if (object == Py_None || PyBool_Check(object) || PyLong_Check(object) || PyFloat_Check(object))
    return text_of(object);
  const std::string name = type_of(object);
  return (std::string("aeiouAEIOU").find(name.front()) == std::string::npos ? "a " : "an ") + name;
}

std::string take_raised() {
  if (!PyErr_Occurred()) return "no reason given";
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError)) throw Raised{};
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const Ref a(type), b(value), c(trace);
  return type_of(value) + ": " + text_of(value);
}

void set_error_type(PyObject* type) {
  Py_XINCREF(type);
  error_type = type;
}

void raise_caught() noexcept {
  const auto raise = [](const char* sentence, ErrorCode code) {
    static const char* const names[] = {"ok",     "bad_argument", "unsupported", "out_of_memory",
                                        "device", "io",           "internal"};
    const Ref made(PyObject_CallFunction(error_type, "ss", sentence, names[static_cast<int>(code)]));
    if (made) PyErr_SetObject(error_type, made.get());
  };
  try {
    throw;
  } catch (const Raised&) {
  } catch (const Error& error) {
    raise(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    raise(error.what(), ErrorCode::internal);
  }
}

Unlocked::Unlocked() {
  if (closed.load(std::memory_order_relaxed)) return;
  running.fetch_add(1, std::memory_order_relaxed);
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  if (state_ == nullptr) return;
  PyEval_RestoreThread(state_);
  running.fetch_sub(1, std::memory_order_relaxed);
}

void Unlocked::close() noexcept {
  closed = true;
  // Each of them needs the lock to end.
  while (running.load() > 0) {
    PyThreadState* const state = PyEval_SaveThread();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    PyEval_RestoreThread(state);
  }
}

}  // namespace isomer::python
