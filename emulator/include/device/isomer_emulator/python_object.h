// pybind11's own types as parameters and results: a Python value of any kind. No Python is there: a value
// that is passed is the caller's, one that is made is kept until it is given back.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "call_mismatch.h"
#include "entries.h"

namespace pybind11 {

struct builtin_exception : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct cast_error : builtin_exception {
  using builtin_exception::builtin_exception;
};

class object;
template <class T>
bool isinstance(const object& value);

class object {
 public:
  using Value = isomer::emulator::CallValue;
  using Kind = isomer::emulator::CallKind;
  using Outcome = isomer::emulator::CallOutcome;

  object() = default;
  explicit object(const Value& value) : value_(value) {}
  bool is_none() const { return !made_ && value_.kind == Kind::none; }
  bool is(const object& other) const { return is_none() && other.is_none(); }
  explicit operator bool() const { return true; }
  template <class T>
  T cast() const {
    if constexpr (std::is_base_of_v<object, T>) {
      T other;
      static_cast<object&>(other) = *this;
      return other;
    } else {
      using Acceptor = isomer::emulator::AcceptorOf<T>;
      static_assert(Acceptor::possible, "this type cannot be made of a Python value");
      typename Acceptor::Held held{};
      try {
        Acceptor::make(held, value_);
      } catch (const isomer::emulator::CallMismatch& e) {
        throw cast_error(std::string("Unable to cast Python instance: ") + e.what());
      }
      return Acceptor::pass(held);
    }
  }
  object attr(const char* name) const {
    throw builtin_exception(std::string("an attribute of a Python object (") + name +
                            ") is not to be had here");
  }
  object& operator=(const object&) = default;
  /// What a module is given beside its functions is nobody's here.
  template <class T, class = std::enable_if_t<!std::is_base_of_v<object, T>>>
  object& operator=(const T&) {
    return *this;
  }

  const Value& value() const { return value_; }
  void give(Outcome& out) const {
    if (made_)
      for (const auto& each : *made_) each(out);
    else
      out.give(out.context, &value_);
  }

 protected:
  template <class T>
  void add(const T& made) {
    if (!made_) made_ = std::make_shared<std::vector<std::function<void(Outcome&)>>>();
    if constexpr (std::is_base_of_v<object, T>) {
      made_->push_back([made](Outcome& out) { made.give(out); });
    } else {
      made_->push_back([made](Outcome& out) { isomer::emulator::Give<T>::give(made, out); });
    }
  }
  template <class T>
  friend object cast(const T& made);

  Value value_{};
  std::shared_ptr<std::vector<std::function<void(Outcome&)>>> made_;
};
using handle = object;

template <class T>
object cast(const T& made) {
  object result;
  result.add(made);
  return result;
}
template <class T, class = std::enable_if_t<!std::is_same_v<T, object>>>
T cast(const object& value) {
  return value.cast<T>();
}

class none : public object {
 public:
  template <class T>
  operator std::vector<T>() const {
    return {};
  }
};

#define ISOMER_EMULATOR_PYTHON_VALUE(NAME, TYPE)   \
  class NAME : public object {                     \
   public:                                         \
    using object::object;                          \
    operator TYPE() const { return cast<TYPE>(); } \
  };
ISOMER_EMULATOR_PYTHON_VALUE(float_, double)
ISOMER_EMULATOR_PYTHON_VALUE(int_, long long)
ISOMER_EMULATOR_PYTHON_VALUE(bool_, bool)
ISOMER_EMULATOR_PYTHON_VALUE(str, std::string)
#undef ISOMER_EMULATOR_PYTHON_VALUE

class sequence : public object {
 public:
  using object::object;
  std::size_t size() const { return value_.count; }
  bool empty() const { return size() == 0; }
  object operator[](std::size_t i) const { return object(value_.items[i]); }
  class iterator {
   public:
    explicit iterator(const Value* at) : at_(at) {}
    object operator*() const { return object(*at_); }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const iterator& other) const { return at_ != other.at_; }

   private:
    const Value* at_;
  };
  iterator begin() const { return iterator(value_.items); }
  iterator end() const { return iterator(value_.items + value_.count); }
};
class list : public sequence {
 public:
  using sequence::sequence;
  template <class T>
  void append(const T& made) {
    add(made);
  }
};
class tuple : public sequence {
 public:
  using sequence::sequence;
  template <class... T>
  static tuple of(const T&... made) {
    tuple result;
    (result.add(made), ...);
    return result;
  }
};
template <class... T>
tuple make_tuple(const T&... made) {
  return tuple::of(made...);
}
inline std::size_t len(const sequence& all) { return all.size(); }

class dict : public object {
 public:
  class item {
   public:
    explicit item(dict& of) : of_(of) {}
    template <class T>
    item& operator=(const T& made) {
      of_.add(made);
      return *this;
    }

   private:
    dict& of_;
  };
  item operator[](const char*) { return item(*this); }
  bool contains(const char*) const { return false; }
};
/// What is passed by no place and no name of its own; callers pass nothing so.
class args : public tuple {};
class kwargs : public dict {};

template <class T>
bool isinstance(const object& value) {
  using Kind = isomer::emulator::CallKind;
  const Kind kind = value.value().kind;
  if constexpr (std::is_same_v<T, none>) {
    return kind == Kind::none;
  } else if constexpr (std::is_same_v<T, float_>) {
    return kind == Kind::real;
  } else if constexpr (std::is_same_v<T, int_>) {
    return kind == Kind::integer || kind == Kind::boolean;
  } else if constexpr (std::is_same_v<T, bool_>) {
    return kind == Kind::boolean;
  } else if constexpr (std::is_same_v<T, str>) {
    return kind == Kind::text;
  } else if constexpr (std::is_base_of_v<sequence, T>) {
    return kind == Kind::list;
  } else if constexpr (std::is_base_of_v<object, T>) {
    return false;
  } else {
    try {
      value.cast<T>();
      return true;
    } catch (const cast_error&) {
      return false;
    }
  }
}

}  // namespace pybind11

namespace isomer::emulator {

template <class T>
struct Accept<T, std::enable_if_t<std::is_base_of_v<pybind11::object, T>>> {
  using Held = T;
  static constexpr bool possible = true;
  static constexpr bool is_dict = std::is_base_of_v<pybind11::dict, T>;
  static void make(Held& held, const CallValue& v) {
    static_cast<pybind11::object&>(held) = pybind11::object(v);
    if constexpr (!std::is_same_v<T, pybind11::object> && !std::is_same_v<T, pybind11::args> && !is_dict)
      if (!pybind11::isinstance<T>(held) &&
          !(std::is_same_v<T, pybind11::float_> && (v.kind == CallKind::integer)))
        mismatch("a Python value of another type", v);
  }
  static T& pass(Held& held) { return held; }
};

template <class T>
struct Give<T, std::enable_if_t<std::is_base_of_v<pybind11::object, T>>> {
  static void give(const T& made, CallOutcome& out) { made.give(out); }
};

}  // namespace isomer::emulator
