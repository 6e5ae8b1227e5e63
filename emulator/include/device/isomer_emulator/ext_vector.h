// The vectors of clang's attribute ext_vector_type, which HIP's compiler has and g++ lacks: elements by name
// and index, arithmetic element by element, a scalar for all elements. The rewriter names this class where a
// source has the attribute.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace isomer::emulator {

constexpr std::size_t ext_vector_room(std::size_t n) {
  std::size_t room = 1;
  while (room < n) room *= 2;
  return room;
}

template <class T, int N>
struct ExtVectorStorage {
  T elements[ext_vector_room(N)];
};
template <class T>
struct ExtVectorStorage<T, 1> {
  union {
    T elements[1];
    T x, s0, r;
  };
};
template <class T>
struct ExtVectorStorage<T, 2> {
  union {
    T elements[2];
    struct {
      T x, y;
    };
    struct {
      T s0, s1;
    };
    struct {
      T r, g;
    };
  };
};
template <class T>
struct ExtVectorStorage<T, 3> {
  union {
    T elements[4];
    struct {
      T x, y, z;
    };
    struct {
      T s0, s1, s2;
    };
    struct {
      T r, g, b;
    };
  };
};
template <class T>
struct ExtVectorStorage<T, 4> {
  union {
    T elements[4];
    struct {
      T x, y, z, w;
    };
    struct {
      T s0, s1, s2, s3;
    };
    struct {
      T r, g, b, a;
    };
  };
};
template <class T>
struct ExtVectorStorage<T, 8> {
  union {
    T elements[8];
    struct {
      T x, y, z, w;
    };
    struct {
      T s0, s1, s2, s3, s4, s5, s6, s7;
    };
  };
};
template <class T>
struct ExtVectorStorage<T, 16> {
  union {
    T elements[16];
    struct {
      T x, y, z, w;
    };
    struct {
      T s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, sa, sb, sc, sd, se, sf;
    };
  };
};

/// What a comparison of such vectors gives: integers of the elements' size, all bits set where it holds.
template <std::size_t Bytes>
using ExtVectorMask =
    std::conditional_t<Bytes == 1, signed char,
                       std::conditional_t<Bytes == 2, short, std::conditional_t<Bytes == 4, int, long>>>;

template <class T, int N>
struct ExtVector;

/// Chosen elements of a vector, to be assigned to.
template <class T, int... I>
class ExtVectorPlace {
 public:
  explicit ExtVectorPlace(T* elements) : elements_(elements) {}
#define ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(OP)                                 \
  void operator OP(const ExtVector<T, sizeof...(I)>& from) const {                \
    int i = 0;                                                                    \
    ((elements_[I] OP static_cast<T>(from[static_cast<std::size_t>(i++)])), ...); \
  }
  ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(=)
  ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(+=)
  ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(-=)
  ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(*=)
  ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(/=)
  ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(%=)
  ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(&=)
  ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(|=)
  ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(^=)
  ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(<<=)
  ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT(>>=)
#undef ISOMER_EMULATOR_EXT_VECTOR_ASSIGNMENT

 private:
  T* elements_;
};

template <class T, int N>
struct alignas(ext_vector_room(N) * sizeof(T)) ExtVector : ExtVectorStorage<T, N> {
  static_assert(N > 0, "a vector has at least one element");
  using Mask = ExtVector<ExtVectorMask<sizeof(T)>, N>;
  using ExtVectorStorage<T, N>::elements;

  ExtVector() = default;
  template <class S, class = std::enable_if_t<std::is_convertible_v<S, T>>>
  constexpr ExtVector(S scalar) : ExtVectorStorage<T, N>{} {
    for (int i = 0; i < N; ++i) elements[i] = static_cast<T>(scalar);
  }
  /// Elements that are not written are zero.
  constexpr ExtVector(std::initializer_list<T> list) : ExtVectorStorage<T, N>{} {
    int i = 0;
    for (const T& each : list)
      if (i < N) elements[i++] = each;
  }
  /// A cast between vectors of one size keeps the bits.
  template <class U, int M,
            class = std::enable_if_t<sizeof(ExtVector<U, M>) == ext_vector_room(N) * sizeof(T)>>
  explicit operator ExtVector<U, M>() const {
    ExtVector<U, M> out;
    std::memcpy(static_cast<void*>(&out), this, sizeof out);
    return out;
  }

  // v.zyx, as the rewriter writes it: a value, or a place to assign to. The halves of three elements are two
  // long.
  template <int... I>
  ExtVector<T, sizeof...(I)> part() const {
    static_assert(((I < N) && ...), "the vector has no such element");
    return {elements[I]...};
  }
  template <int... I>
  ExtVectorPlace<T, I...> place() {
    static_assert(((I < N) && ...), "the vector has no such element");
    return ExtVectorPlace<T, I...>(elements);
  }
#define ISOMER_EMULATOR_EXT_VECTOR_HALF(NAME, INDEX)                                    \
  template <int... I>                                                                   \
  auto part_##NAME(std::integer_sequence<int, I...>) const {                            \
    return ExtVector<T, sizeof...(I)>{elements[INDEX]...};                              \
  }                                                                                     \
  template <int... I>                                                                   \
  auto place_##NAME(std::integer_sequence<int, I...>) {                                 \
    return ExtVectorPlace<T, INDEX...>(elements);                                       \
  }                                                                                     \
  auto part_##NAME() const {                                                            \
    return part_##NAME(std::make_integer_sequence<int, int(ext_vector_room(N) / 2)>()); \
  }                                                                                     \
  auto place_##NAME() { return place_##NAME(std::make_integer_sequence<int, int(ext_vector_room(N) / 2)>()); }
  ISOMER_EMULATOR_EXT_VECTOR_HALF(lo, I)
  ISOMER_EMULATOR_EXT_VECTOR_HALF(hi, (I + int(ext_vector_room(N) / 2)))
  ISOMER_EMULATOR_EXT_VECTOR_HALF(even, (2 * I))
  ISOMER_EMULATOR_EXT_VECTOR_HALF(odd, (2 * I + 1))
#undef ISOMER_EMULATOR_EXT_VECTOR_HALF

  T& operator[](std::size_t i) { return elements[i]; }
  const T& operator[](std::size_t i) const { return elements[i]; }

#define ISOMER_EMULATOR_EXT_VECTOR_BINARY(OP)                            \
  friend ExtVector operator OP(const ExtVector& a, const ExtVector& b) { \
    ExtVector out;                                                       \
    for (int i = 0; i < N; ++i) out[i] = static_cast<T>(a[i] OP b[i]);   \
    return out;                                                          \
  }                                                                      \
  friend ExtVector& operator OP##=(ExtVector& a, const ExtVector& b) {   \
    for (int i = 0; i < N; ++i) a[i] = static_cast<T>(a[i] OP b[i]);     \
    return a;                                                            \
  }
  ISOMER_EMULATOR_EXT_VECTOR_BINARY(+)
  ISOMER_EMULATOR_EXT_VECTOR_BINARY(-)
  ISOMER_EMULATOR_EXT_VECTOR_BINARY(*)
  ISOMER_EMULATOR_EXT_VECTOR_BINARY(/)
  ISOMER_EMULATOR_EXT_VECTOR_BINARY(%)
  ISOMER_EMULATOR_EXT_VECTOR_BINARY(&)
  ISOMER_EMULATOR_EXT_VECTOR_BINARY(|)
  ISOMER_EMULATOR_EXT_VECTOR_BINARY(^)
  ISOMER_EMULATOR_EXT_VECTOR_BINARY(<<)
  ISOMER_EMULATOR_EXT_VECTOR_BINARY(>>)
#undef ISOMER_EMULATOR_EXT_VECTOR_BINARY
#define ISOMER_EMULATOR_EXT_VECTOR_COMPARISON(OP)                   \
  friend Mask operator OP(const ExtVector& a, const ExtVector& b) { \
    Mask out;                                                       \
    for (int i = 0; i < N; ++i) out[i] = a[i] OP b[i] ? -1 : 0;     \
    return out;                                                     \
  }
  ISOMER_EMULATOR_EXT_VECTOR_COMPARISON(==)
  ISOMER_EMULATOR_EXT_VECTOR_COMPARISON(!=)
  ISOMER_EMULATOR_EXT_VECTOR_COMPARISON(<)
  ISOMER_EMULATOR_EXT_VECTOR_COMPARISON(>)
  ISOMER_EMULATOR_EXT_VECTOR_COMPARISON(<=)
  ISOMER_EMULATOR_EXT_VECTOR_COMPARISON(>=)
#undef ISOMER_EMULATOR_EXT_VECTOR_COMPARISON
  friend ExtVector operator-(const ExtVector& a) {
    ExtVector out;
    for (int i = 0; i < N; ++i) out[i] = static_cast<T>(-a[i]);
    return out;
  }
  friend ExtVector operator~(const ExtVector& a) {
    ExtVector out;
    for (int i = 0; i < N; ++i) out[i] = static_cast<T>(~a[i]);
    return out;
  }
  friend ExtVector operator+(const ExtVector& a) { return a; }
};

/// Element by element, as the compiler's word of that name does.
template <class To, class T, int N>
To convert_ext_vector(const ExtVector<T, N>& from) {
  To out;
  for (int i = 0; i < N; ++i) out[i] = static_cast<std::remove_reference_t<decltype(out[0])>>(from[i]);
  return out;
}

}  // namespace isomer::emulator
