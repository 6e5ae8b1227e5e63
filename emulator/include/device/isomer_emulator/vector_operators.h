// HIP gives its vector types elementwise operators; CUDA does not, and code that defines its own must compile
// there. Included by vector_types.h, behind the types, and by helper_math.h.
#pragma once

#include <type_traits>

namespace isomer::emulator {

template <class V>
struct Vector {
  static constexpr int size = 0;
};
#define ISOMER_EMULATOR_DESCRIBE(T, NAME) \
  template <>                             \
  struct Vector<NAME##1> {                \
    static constexpr int size = 1;        \
    using Element = T;                    \
  };                                      \
  template <>                             \
  struct Vector<NAME##2> {                \
    static constexpr int size = 2;        \
    using Element = T;                    \
  };                                      \
  template <>                             \
  struct Vector<NAME##3> {                \
    static constexpr int size = 3;        \
    using Element = T;                    \
  };                                      \
  template <>                             \
  struct Vector<NAME##4> {                \
    static constexpr int size = 4;        \
    using Element = T;                    \
  };
ISOMER_EMULATOR_DESCRIBE(signed char, char)
ISOMER_EMULATOR_DESCRIBE(unsigned char, uchar)
ISOMER_EMULATOR_DESCRIBE(short, short)
ISOMER_EMULATOR_DESCRIBE(unsigned short, ushort)
ISOMER_EMULATOR_DESCRIBE(int, int)
ISOMER_EMULATOR_DESCRIBE(unsigned, uint)
ISOMER_EMULATOR_DESCRIBE(long, long)
ISOMER_EMULATOR_DESCRIBE(unsigned long, ulong)
ISOMER_EMULATOR_DESCRIBE(long long, longlong)
ISOMER_EMULATOR_DESCRIBE(unsigned long long, ulonglong)
ISOMER_EMULATOR_DESCRIBE(float, float)
ISOMER_EMULATOR_DESCRIBE(double, double)
#undef ISOMER_EMULATOR_DESCRIBE

template <class V>
using Element = typename Vector<V>::Element;
template <class V>
using IfVector = std::enable_if_t<(Vector<V>::size > 0), int>;

template <class V>
constexpr auto& element(V& v, int i) {
  if constexpr (Vector<std::remove_const_t<V>>::size == 1) {
    return v.x;
  } else if constexpr (Vector<std::remove_const_t<V>>::size == 2) {
    return i == 0 ? v.x : v.y;
  } else if constexpr (Vector<std::remove_const_t<V>>::size == 3) {
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
  } else {
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
  }
}

}  // namespace isomer::emulator

#define ISOMER_EMULATOR_BINARY(OP)                                                          \
  template <class V, isomer::emulator::IfVector<V> = 0>                                     \
  constexpr V operator OP(V a, V b) {                                                       \
    for (int i = 0; i < isomer::emulator::Vector<V>::size; ++i) {                           \
      isomer::emulator::element(a, i) = static_cast<isomer::emulator::Element<V>>(          \
          isomer::emulator::element(a, i) OP isomer::emulator::element(b, i));              \
    }                                                                                       \
    return a;                                                                               \
  }                                                                                         \
  template <class V, class S, isomer::emulator::IfVector<V> = 0,                            \
            std::enable_if_t<std::is_arithmetic_v<S>, int> = 0>                             \
  constexpr V operator OP(V a, S s) {                                                       \
    for (int i = 0; i < isomer::emulator::Vector<V>::size; ++i) {                           \
      isomer::emulator::element(a, i) = static_cast<isomer::emulator::Element<V>>(          \
          isomer::emulator::element(a, i) OP static_cast<isomer::emulator::Element<V>>(s)); \
    }                                                                                       \
    return a;                                                                               \
  }                                                                                         \
  template <class V, class S, isomer::emulator::IfVector<V> = 0,                            \
            std::enable_if_t<std::is_arithmetic_v<S>, int> = 0>                             \
  constexpr V operator OP(S s, V a) {                                                       \
    for (int i = 0; i < isomer::emulator::Vector<V>::size; ++i) {                           \
      isomer::emulator::element(a, i) = static_cast<isomer::emulator::Element<V>>(          \
          static_cast<isomer::emulator::Element<V>>(s) OP isomer::emulator::element(a, i)); \
    }                                                                                       \
    return a;                                                                               \
  }                                                                                         \
  template <class V, class S, isomer::emulator::IfVector<V> = 0>                            \
  constexpr V& operator OP##=(V& a, S b) {                                                  \
    return a = a OP b;                                                                      \
  }
ISOMER_EMULATOR_BINARY(+)
ISOMER_EMULATOR_BINARY(-)
ISOMER_EMULATOR_BINARY(*)
ISOMER_EMULATOR_BINARY(/)
ISOMER_EMULATOR_BINARY(%)
ISOMER_EMULATOR_BINARY(&)
ISOMER_EMULATOR_BINARY(|)
ISOMER_EMULATOR_BINARY(^)
ISOMER_EMULATOR_BINARY(<<)
ISOMER_EMULATOR_BINARY(>>)
#undef ISOMER_EMULATOR_BINARY

template <class V, isomer::emulator::IfVector<V> = 0>
constexpr bool operator==(V a, V b) {
  for (int i = 0; i < isomer::emulator::Vector<V>::size; ++i) {
    if (isomer::emulator::element(a, i) != isomer::emulator::element(b, i)) return false;
  }
  return true;
}
template <class V, isomer::emulator::IfVector<V> = 0>
constexpr bool operator!=(V a, V b) {
  return !(a == b);
}
template <class V, isomer::emulator::IfVector<V> = 0>
constexpr V operator-(V a) {
  return V{} - a;
}
template <class V, isomer::emulator::IfVector<V> = 0>
constexpr V operator~(V a) {
  for (int i = 0; i < isomer::emulator::Vector<V>::size; ++i) {
    isomer::emulator::element(a, i) =
        static_cast<isomer::emulator::Element<V>>(~isomer::emulator::element(a, i));
  }
  return a;
}
template <class V, isomer::emulator::IfVector<V> = 0>
constexpr V& operator++(V& a) {
  return a += 1;
}
template <class V, isomer::emulator::IfVector<V> = 0>
constexpr V& operator--(V& a) {
  return a -= 1;
}
template <class V, isomer::emulator::IfVector<V> = 0>
constexpr V operator++(V& a, int) {
  const V before = a;
  ++a;
  return before;
}
template <class V, isomer::emulator::IfVector<V> = 0>
constexpr V operator--(V& a, int) {
  const V before = a;
  --a;
  return before;
}
