// The formats of six and four bits: e2m3, e3m2 and e2m1. They have no infinity and no NaN; conversion rounds
// once, to nearest even, and saturates. NaN becomes the largest value.
#pragma once

#include "fp8.h"

namespace isomer::emulator {

struct E2m3 {
  static constexpr int mantissa = 3, bias = 1, bits = 6;
};
struct E3m2 {
  static constexpr int mantissa = 2, bias = 3, bits = 6;
};
struct E2m1 {
  static constexpr int mantissa = 1, bias = 1, bits = 4;
};

template <class F>
inline std::uint8_t encode_few(double x) {
  constexpr std::uint32_t largest = (1u << (F::bits - 1)) - 1;
  if (x != x) return largest;
  const std::uint32_t sign = static_cast<std::uint32_t>(double_bits(x) >> 63) << (F::bits - 1);
  const std::uint32_t code =
      std::isinf(x) ? largest : encode_magnitude(x, F::mantissa, F::bias, Rounding::nearest_even);
  return static_cast<std::uint8_t>(sign | (code > largest ? largest : code));
}
template <class F>
inline float decode_few(std::uint32_t bits) {
  const float magnitude = decode_magnitude(bits & ((1u << (F::bits - 1)) - 1), F::mantissa, F::bias);
  return (bits >> (F::bits - 1) & 1) != 0 ? -magnitude : magnitude;
}

template <class F>
struct FloatFew {
  std::uint8_t __x;
  FloatFew() = default;
  explicit FloatFew(float x) : __x(encode_few<F>(static_cast<double>(x))) {}
  explicit FloatFew(double x) : __x(encode_few<F>(x)) {}
  explicit FloatFew(__half x) : FloatFew(float(x)) {}
  explicit FloatFew(__nv_bfloat16 x) : FloatFew(float(x)) {}
  template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
  explicit FloatFew(I x) : FloatFew(static_cast<double>(x)) {}
  explicit operator float() const { return decode_few<F>(__x); }
  explicit operator double() const { return static_cast<double>(decode_few<F>(__x)); }
  explicit operator __half() const { return __half(decode_few<F>(__x)); }
  explicit operator __nv_bfloat16() const { return __nv_bfloat16(decode_few<F>(__x)); }
  explicit operator bool() const { return decode_few<F>(__x) != 0.0f; }
};

/// Several in one word: numbers of six bits in a byte each, those of four bits side by side.
template <class F, class Word, int N>
struct alignas(Word) FloatsFew {
  static constexpr int step = F::bits == 4 ? 4 : 8;
  Word __x;
  FloatsFew() = default;
  float at(int i) const { return decode_few<F>(static_cast<std::uint32_t>(__x) >> step * i); }
  void put(int i, double x) {
    __x = static_cast<Word>(__x | static_cast<std::uint32_t>(encode_few<F>(x)) << step * i);
  }
};
template <class F, class Word>
struct FloatFew2 : FloatsFew<F, Word, 2> {
  FloatFew2() = default;
  explicit FloatFew2(float2 v) {
    this->__x = 0;
    this->put(0, v.x), this->put(1, v.y);
  }
  explicit FloatFew2(double2 v) {
    this->__x = 0;
    this->put(0, v.x), this->put(1, v.y);
  }
  explicit FloatFew2(__half2 v) : FloatFew2(__half22float2(v)) {}
  explicit FloatFew2(__nv_bfloat162 v) : FloatFew2(__bfloat1622float2(v)) {}
  explicit operator float2() const { return {this->at(0), this->at(1)}; }
  explicit operator __half2() const { return __float22half2_rn(static_cast<float2>(*this)); }
};
template <class F, class Word>
struct FloatFew4 : FloatsFew<F, Word, 4> {
  FloatFew4() = default;
  explicit FloatFew4(float4 v) {
    this->__x = 0;
    this->put(0, v.x), this->put(1, v.y), this->put(2, v.z), this->put(3, v.w);
  }
  explicit FloatFew4(double4 v) : FloatFew4(float4{float(v.x), float(v.y), float(v.z), float(v.w)}) {}
  explicit FloatFew4(__half2 low, __half2 high)
      : FloatFew4(float4{float(low.x), float(low.y), float(high.x), float(high.y)}) {}
  explicit FloatFew4(__nv_bfloat162 low, __nv_bfloat162 high)
      : FloatFew4(float4{float(low.x), float(low.y), float(high.x), float(high.y)}) {}
  explicit operator float4() const { return {this->at(0), this->at(1), this->at(2), this->at(3)}; }
};

}  // namespace isomer::emulator

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 };
enum __nv_fp4_interpretation_t { __NV_E2M1 };
using __nv_fp6_e2m3 = isomer::emulator::FloatFew<isomer::emulator::E2m3>;
using __nv_fp6_e3m2 = isomer::emulator::FloatFew<isomer::emulator::E3m2>;
using __nv_fp4_e2m1 = isomer::emulator::FloatFew<isomer::emulator::E2m1>;
using __nv_fp6x2_e2m3 = isomer::emulator::FloatFew2<isomer::emulator::E2m3, unsigned short>;
using __nv_fp6x2_e3m2 = isomer::emulator::FloatFew2<isomer::emulator::E3m2, unsigned short>;
using __nv_fp4x2_e2m1 = isomer::emulator::FloatFew2<isomer::emulator::E2m1, unsigned char>;
using __nv_fp6x4_e2m3 = isomer::emulator::FloatFew4<isomer::emulator::E2m3, unsigned int>;
using __nv_fp6x4_e3m2 = isomer::emulator::FloatFew4<isomer::emulator::E3m2, unsigned int>;
using __nv_fp4x4_e2m1 = isomer::emulator::FloatFew4<isomer::emulator::E2m1, unsigned short>;

namespace isomer::emulator {
inline std::uint8_t encode_few_as(__nv_fp6_interpretation_t format, double x) {
  return format == __NV_E2M3 ? encode_few<E2m3>(x) : encode_few<E3m2>(x);
}
inline std::uint8_t encode_few_as(__nv_fp4_interpretation_t, double x) { return encode_few<E2m1>(x); }
inline float decode_few_as(__nv_fp6_interpretation_t format, unsigned x) {
  return format == __NV_E2M3 ? decode_few<E2m3>(x) : decode_few<E3m2>(x);
}
inline float decode_few_as(__nv_fp4_interpretation_t, unsigned x) { return decode_few<E2m1>(x); }
}  // namespace isomer::emulator

// The way of rounding is to nearest even, whatever is named.
#define ISOMER_EMULATOR_FEW(N, STEP)                                                                   \
  ISOMER_EMULATOR_INLINE __nv_fp##N##_storage_t __nv_cvt_double_to_fp##N(                              \
      double x, __nv_fp##N##_interpretation_t f, cudaRoundMode) {                                      \
    return isomer::emulator::encode_few_as(f, x);                                                      \
  }                                                                                                    \
  ISOMER_EMULATOR_INLINE __nv_fp##N##_storage_t __nv_cvt_float_to_fp##N(                               \
      float x, __nv_fp##N##_interpretation_t f, cudaRoundMode) {                                       \
    return isomer::emulator::encode_few_as(f, static_cast<double>(x));                                 \
  }                                                                                                    \
  ISOMER_EMULATOR_INLINE __nv_fp##N##_storage_t __nv_cvt_halfraw_to_fp##N(                             \
      __half_raw x, __nv_fp##N##_interpretation_t f, cudaRoundMode mode) {                             \
    return __nv_cvt_float_to_fp##N(float(__half::from_bits(x.x)), f, mode);                            \
  }                                                                                                    \
  ISOMER_EMULATOR_INLINE __nv_fp##N##x2_storage_t __nv_cvt_float2_to_fp##N##x2(                        \
      float2 v, __nv_fp##N##_interpretation_t f, cudaRoundMode mode) {                                 \
    return static_cast<__nv_fp##N##x2_storage_t>(__nv_cvt_float_to_fp##N(v.x, f, mode) |               \
                                                 __nv_cvt_float_to_fp##N(v.y, f, mode) << STEP);       \
  }                                                                                                    \
  ISOMER_EMULATOR_INLINE __nv_fp##N##x2_storage_t __nv_cvt_double2_to_fp##N##x2(                       \
      double2 v, __nv_fp##N##_interpretation_t f, cudaRoundMode mode) {                                \
    return static_cast<__nv_fp##N##x2_storage_t>(__nv_cvt_double_to_fp##N(v.x, f, mode) |              \
                                                 __nv_cvt_double_to_fp##N(v.y, f, mode) << STEP);      \
  }                                                                                                    \
  ISOMER_EMULATOR_INLINE __half_raw __nv_cvt_fp##N##_to_halfraw(__nv_fp##N##_storage_t x,              \
                                                                __nv_fp##N##_interpretation_t f) {     \
    return {__half(isomer::emulator::decode_few_as(f, x)).bits};                                       \
  }                                                                                                    \
  ISOMER_EMULATOR_INLINE __half2_raw __nv_cvt_fp##N##x2_to_halfraw2(__nv_fp##N##x2_storage_t x,        \
                                                                    __nv_fp##N##_interpretation_t f) { \
    return {__nv_cvt_fp##N##_to_halfraw(static_cast<unsigned char>(x & ((1 << STEP) - 1)), f).x,       \
            __nv_cvt_fp##N##_to_halfraw(static_cast<unsigned char>(x >> STEP), f).x};                  \
  }
ISOMER_EMULATOR_FEW(6, 8)
ISOMER_EMULATOR_FEW(4, 4)
#undef ISOMER_EMULATOR_FEW
