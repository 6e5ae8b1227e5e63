// The built-in vector types: char1 … double4, dim3. Layout and alignment are those of the CUDA and HIP
// headers, so a kernel that reinterprets a float* as a float4* touches the same bytes as on the device.
#pragma once

// HIP's have constructors: from one number for all, and from one for each.
#if defined(ISOMER_EMULATOR_HIP)
#define ISOMER_EMULATOR_MADE_OF_ONE(T, NAME, ...) \
  NAME() = default;                               \
  constexpr explicit NAME(T v) : __VA_ARGS__ {}
#define ISOMER_EMULATOR_MADE_1(T, NAME) \
  NAME() = default;                     \
  constexpr NAME(T v) : x(v) {}
#define ISOMER_EMULATOR_MADE_2(T, NAME)                  \
  ISOMER_EMULATOR_MADE_OF_ONE(T, NAME, x(v), y(v))       \
  template <class A, class B>                            \
  constexpr NAME(A a, B b) : x(static_cast<T>(a)), y(static_cast<T>(b)) {}
#define ISOMER_EMULATOR_MADE_3(T, NAME)                  \
  ISOMER_EMULATOR_MADE_OF_ONE(T, NAME, x(v), y(v), z(v)) \
  template <class A, class B, class C>                   \
  constexpr NAME(A a, B b, C c) : x(static_cast<T>(a)), y(static_cast<T>(b)), z(static_cast<T>(c)) {}
#define ISOMER_EMULATOR_MADE_4(T, NAME)                        \
  ISOMER_EMULATOR_MADE_OF_ONE(T, NAME, x(v), y(v), z(v), w(v)) \
  template <class A, class B, class C, class D>                \
  constexpr NAME(A a, B b, C c, D d)                           \
      : x(static_cast<T>(a)), y(static_cast<T>(b)), z(static_cast<T>(c)), w(static_cast<T>(d)) {}
#else
#define ISOMER_EMULATOR_MADE_1(T, NAME)
#define ISOMER_EMULATOR_MADE_2(T, NAME)
#define ISOMER_EMULATOR_MADE_3(T, NAME)
#define ISOMER_EMULATOR_MADE_4(T, NAME)
#endif

#define ISOMER_EMULATOR_VECTOR(T, NAME, A1, A2, A4)                                   \
  struct NAME##1 {                                                                    \
    T x;                                                                              \
    ISOMER_EMULATOR_MADE_1(T, NAME##1)                                                \
  };                                                                                  \
  struct alignas(A2) NAME##2 {                                                        \
    T x, y;                                                                           \
    ISOMER_EMULATOR_MADE_2(T, NAME##2)                                                \
  };                                                                                  \
  struct NAME##3 {                                                                    \
    T x, y, z;                                                                        \
    ISOMER_EMULATOR_MADE_3(T, NAME##3)                                                \
  };                                                                                  \
  struct alignas(A4) NAME##4 {                                                        \
    T x, y, z, w;                                                                     \
    ISOMER_EMULATOR_MADE_4(T, NAME##4)                                                \
  };                                                                                  \
  static inline constexpr NAME##1 make_##NAME##1(T x) { return {x}; }                 \
  static inline constexpr NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }         \
  static inline constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; } \
  static inline constexpr NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }

#include "vector_names.inc"
#undef ISOMER_EMULATOR_VECTOR
#undef ISOMER_EMULATOR_MADE_1
#undef ISOMER_EMULATOR_MADE_2
#undef ISOMER_EMULATOR_MADE_3
#undef ISOMER_EMULATOR_MADE_4
#undef ISOMER_EMULATOR_MADE_OF_ONE

// The vectors of four of eight bytes, by the alignment that CUDA 13 says in their name.
#if !defined(ISOMER_EMULATOR_HIP)
#define ISOMER_EMULATOR_ALIGNED_VECTOR(T, NAME)                                               \
  struct alignas(16) NAME##4_16a {                                                            \
    T x, y, z, w;                                                                             \
  };                                                                                          \
  struct alignas(32) NAME##4_32a {                                                            \
    T x, y, z, w;                                                                             \
  };                                                                                          \
  static inline constexpr NAME##4_16a make_##NAME##4_16a(T x, T y, T z, T w) { return {x, y, z, w}; } \
  static inline constexpr NAME##4_32a make_##NAME##4_32a(T x, T y, T z, T w) { return {x, y, z, w}; }
ISOMER_EMULATOR_ALIGNED_VECTOR(long, long)
ISOMER_EMULATOR_ALIGNED_VECTOR(unsigned long, ulong)
ISOMER_EMULATOR_ALIGNED_VECTOR(long long, longlong)
ISOMER_EMULATOR_ALIGNED_VECTOR(unsigned long long, ulonglong)
ISOMER_EMULATOR_ALIGNED_VECTOR(double, double)
#undef ISOMER_EMULATOR_ALIGNED_VECTOR
#endif

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

#if defined(ISOMER_EMULATOR_HIP)
#include "vector_operators.h"
#endif
