// The four 8-bit formats: e4m3 and e5m2 as the OCP defines them (and NVIDIA implements), and AMD's fnuz pair
// with one NaN, no negative zero and no infinity. Conversion rounds once, to nearest even, and saturates or
// not as asked.
#pragma once

#include "bfloat16.h"
#include "half.h"

namespace isomer::emulator {

struct E4m3 {
  static constexpr int mantissa = 3, bias = 7;
  static constexpr std::uint32_t largest = 0x7e, past = 0x7f, nan = 0x7f;
  static constexpr bool fnuz = false, infinite = false;
};
struct E5m2 {
  static constexpr int mantissa = 2, bias = 15;
  static constexpr std::uint32_t largest = 0x7b, past = 0x7c, nan = 0x7f;
  static constexpr bool fnuz = false, infinite = true;
};
struct E4m3Fnuz {
  static constexpr int mantissa = 3, bias = 8;
  static constexpr std::uint32_t largest = 0x7f, past = 0x80, nan = 0x80;
  static constexpr bool fnuz = true, infinite = false;
};
struct E5m2Fnuz {
  static constexpr int mantissa = 2, bias = 16;
  static constexpr std::uint32_t largest = 0x7f, past = 0x80, nan = 0x80;
  static constexpr bool fnuz = true, infinite = false;
};

/// `saturate`: too large becomes the largest finite value, infinity too; otherwise infinity or NaN, as the
/// format has it.
template <class F>
inline std::uint8_t encode8(double x, bool saturate) {
  if (x != x) return F::nan;
  const std::uint8_t sign = static_cast<std::uint8_t>(double_bits(x) >> 56 & 0x80);
  std::uint32_t code =
      std::isinf(x) ? 0xffu : encode_magnitude(x, F::mantissa, F::bias, Rounding::nearest_even);
  if (code > F::largest) {
    if (!saturate) return F::fnuz ? F::nan : static_cast<std::uint8_t>(sign | F::past);
    code = F::largest;
  }
  if (F::fnuz && code == 0) return 0;
  return static_cast<std::uint8_t>(sign | code);
}

template <class F>
inline float decode8(std::uint8_t bits) {
  if (F::fnuz && bits == 0x80) return __builtin_nanf("");
  const std::uint32_t code = bits & 0x7f;
  const float sign = bits & 0x80 ? -1.0f : 1.0f;
  if (!F::fnuz && code > F::largest) {
    return F::infinite && code == F::past ? sign * __builtin_inff() : __builtin_nanf("");
  }
  return sign * decode_magnitude(code, F::mantissa, F::bias);
}

template <class F>
struct Float8 {
  std::uint8_t __x;
  Float8() = default;
  explicit Float8(float x) : __x(encode8<F>(x, true)) {}
  explicit Float8(double x) : __x(encode8<F>(x, true)) {}
  explicit Float8(__half x) : __x(encode8<F>(float(x), true)) {}
  explicit Float8(__nv_bfloat16 x) : __x(encode8<F>(float(x), true)) {}
  template <class I, class = std::enable_if_t<std::is_integral_v<I>>>
  explicit Float8(I x) : __x(encode8<F>(static_cast<double>(x), true)) {}
  explicit operator float() const { return decode8<F>(__x); }
  explicit operator double() const { return decode8<F>(__x); }
  explicit operator __half() const { return __half(decode8<F>(__x)); }
  explicit operator __nv_bfloat16() const { return __nv_bfloat16(decode8<F>(__x)); }
  explicit operator bool() const { return decode8<F>(__x) != 0.0f; }
};

template <class F>
struct alignas(2) Float8x2 {
  std::uint16_t __x;
  Float8x2() = default;
  explicit Float8x2(float2 v)
      : __x(static_cast<std::uint16_t>(encode8<F>(v.x, true) | encode8<F>(v.y, true) << 8)) {}
  explicit Float8x2(__half2 v) : Float8x2(__half22float2(v)) {}
  explicit Float8x2(__nv_bfloat162 v) : Float8x2(__bfloat1622float2(v)) {}
  explicit operator float2() const {
    return {decode8<F>(static_cast<std::uint8_t>(__x)), decode8<F>(static_cast<std::uint8_t>(__x >> 8))};
  }
  explicit operator __half2() const { return __float22half2_rn(static_cast<float2>(*this)); }
};

template <class F>
struct alignas(4) Float8x4 {
  std::uint32_t __x;
  Float8x4() = default;
  explicit Float8x4(float4 v)
      : __x(encode8<F>(v.x, true) | static_cast<std::uint32_t>(encode8<F>(v.y, true)) << 8 |
            static_cast<std::uint32_t>(encode8<F>(v.z, true)) << 16 |
            static_cast<std::uint32_t>(encode8<F>(v.w, true)) << 24) {}
  explicit Float8x4(double4 v) : Float8x4(float4{float(v.x), float(v.y), float(v.z), float(v.w)}) {}
  explicit Float8x4(__half2 low, __half2 high)
      : Float8x4(float4{float(low.x), float(low.y), float(high.x), float(high.y)}) {}
  explicit Float8x4(__nv_bfloat162 low, __nv_bfloat162 high)
      : Float8x4(float4{float(low.x), float(low.y), float(high.x), float(high.y)}) {}
  explicit operator float4() const {
    return {decode8<F>(static_cast<std::uint8_t>(__x)), decode8<F>(static_cast<std::uint8_t>(__x >> 8)),
            decode8<F>(static_cast<std::uint8_t>(__x >> 16)),
            decode8<F>(static_cast<std::uint8_t>(__x >> 24))};
  }
};

inline std::uint8_t encode8_as(int format, double x, bool saturate) {
  switch (format) {
    case 0:
      return encode8<E4m3>(x, saturate);
    case 1:
      return encode8<E5m2>(x, saturate);
    case 2:
      return encode8<E4m3Fnuz>(x, saturate);
    default:
      return encode8<E5m2Fnuz>(x, saturate);
  }
}
inline float decode8_as(int format, std::uint8_t bits) {
  switch (format) {
    case 0:
      return decode8<E4m3>(bits);
    case 1:
      return decode8<E5m2>(bits);
    case 2:
      return decode8<E4m3Fnuz>(bits);
    default:
      return decode8<E5m2Fnuz>(bits);
  }
}

}  // namespace isomer::emulator

// NVIDIA's names.
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
using __nv_fp8_e4m3 = isomer::emulator::Float8<isomer::emulator::E4m3>;
using __nv_fp8_e5m2 = isomer::emulator::Float8<isomer::emulator::E5m2>;
using __nv_fp8x2_e4m3 = isomer::emulator::Float8x2<isomer::emulator::E4m3>;
using __nv_fp8x2_e5m2 = isomer::emulator::Float8x2<isomer::emulator::E5m2>;
using __nv_fp8x4_e4m3 = isomer::emulator::Float8x4<isomer::emulator::E4m3>;
using __nv_fp8x4_e5m2 = isomer::emulator::Float8x4<isomer::emulator::E5m2>;

#if !defined(ISOMER_EMULATOR_HIP)
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
/// A power of two alone: 2^(x - 127), 255 for NaN.
typedef unsigned char __nv_fp8_e8m0_storage_t;
ISOMER_EMULATOR_INLINE float isomer_emulator_e8m0_value(unsigned char x) {
  return x == 0xff ? __builtin_nanf("") : __builtin_ldexpf(1.0f, int(x) - 127);
}
/// Of |x|: up or down to a power of two, as asked.
ISOMER_EMULATOR_INLINE __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t s,
                                                                  cudaRoundMode mode) {
  if (x != x) return 0xff;
  x = x < 0 ? -x : x;
  if (x > 0x1p127 && (__builtin_isinf(x) || mode == cudaRoundPosInf))
    return s == __NV_SATFINITE ? 0xfe : 0xff;
  if (x <= 0x1p-127) return 0;
  int exponent = 0;
  const double fraction = __builtin_frexp(x, &exponent);  // in [0.5, 1)
  return static_cast<unsigned char>(exponent - 1 + 127 + (mode == cudaRoundPosInf && fraction > 0.5));
}
ISOMER_EMULATOR_INLINE __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t s,
                                                                 cudaRoundMode mode) {
  return __nv_cvt_double_to_e8m0(x, s, mode);
}
struct __nv_fp8_e8m0 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e8m0() = default;
  explicit __nv_fp8_e8m0(float x) : __x(__nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)) {}
  explicit __nv_fp8_e8m0(double x) : __x(__nv_cvt_double_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf)) {}
  explicit operator float() const { return isomer_emulator_e8m0_value(__x); }
  explicit operator double() const { return isomer_emulator_e8m0_value(__x); }
};
#endif

// AMD's names.
typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;
enum __hip_saturation_t { __HIP_NOSAT, __HIP_SATFINITE };
enum __hip_fp8_interpretation_t { __HIP_E4M3, __HIP_E5M2, __HIP_E4M3_FNUZ, __HIP_E5M2_FNUZ };
using __hip_fp8_e4m3 = isomer::emulator::Float8<isomer::emulator::E4m3>;
using __hip_fp8_e5m2 = isomer::emulator::Float8<isomer::emulator::E5m2>;
using __hip_fp8_e4m3_fnuz = isomer::emulator::Float8<isomer::emulator::E4m3Fnuz>;
using __hip_fp8_e5m2_fnuz = isomer::emulator::Float8<isomer::emulator::E5m2Fnuz>;
using __hip_fp8x2_e4m3 = isomer::emulator::Float8x2<isomer::emulator::E4m3>;
using __hip_fp8x2_e5m2 = isomer::emulator::Float8x2<isomer::emulator::E5m2>;
using __hip_fp8x2_e4m3_fnuz = isomer::emulator::Float8x2<isomer::emulator::E4m3Fnuz>;
using __hip_fp8x2_e5m2_fnuz = isomer::emulator::Float8x2<isomer::emulator::E5m2Fnuz>;
using __hip_fp8x4_e4m3 = isomer::emulator::Float8x4<isomer::emulator::E4m3>;
using __hip_fp8x4_e5m2 = isomer::emulator::Float8x4<isomer::emulator::E5m2>;
using __hip_fp8x4_e4m3_fnuz = isomer::emulator::Float8x4<isomer::emulator::E4m3Fnuz>;
using __hip_fp8x4_e5m2_fnuz = isomer::emulator::Float8x4<isomer::emulator::E5m2Fnuz>;

#define ISOMER_EMULATOR_FP8(PREFIX, SATURATE)                                                              \
  ISOMER_EMULATOR_INLINE __##PREFIX##_fp8_storage_t __##PREFIX##_cvt_double_to_fp8(                        \
      double x, __##PREFIX##_saturation_t s, __##PREFIX##_fp8_interpretation_t f) {                        \
    return isomer::emulator::encode8_as(f, x, s == SATURATE);                                              \
  }                                                                                                        \
  ISOMER_EMULATOR_INLINE __##PREFIX##_fp8_storage_t __##PREFIX##_cvt_float_to_fp8(                         \
      float x, __##PREFIX##_saturation_t s, __##PREFIX##_fp8_interpretation_t f) {                         \
    return isomer::emulator::encode8_as(f, x, s == SATURATE);                                              \
  }                                                                                                        \
  ISOMER_EMULATOR_INLINE __##PREFIX##_fp8_storage_t __##PREFIX##_cvt_halfraw_to_fp8(                       \
      __half_raw x, __##PREFIX##_saturation_t s, __##PREFIX##_fp8_interpretation_t f) {                    \
    return isomer::emulator::encode8_as(f, float(__half::from_bits(x.x)), s == SATURATE);                  \
  }                                                                                                        \
  ISOMER_EMULATOR_INLINE __##PREFIX##_fp8x2_storage_t __##PREFIX##_cvt_float2_to_fp8x2(                    \
      float2 v, __##PREFIX##_saturation_t s, __##PREFIX##_fp8_interpretation_t f) {                        \
    return static_cast<unsigned short>(isomer::emulator::encode8_as(f, v.x, s == SATURATE) |               \
                                       isomer::emulator::encode8_as(f, v.y, s == SATURATE) << 8);          \
  }                                                                                                        \
  ISOMER_EMULATOR_INLINE __half_raw __##PREFIX##_cvt_fp8_to_halfraw(__##PREFIX##_fp8_storage_t x,          \
                                                                    __##PREFIX##_fp8_interpretation_t f) { \
    return {__half(isomer::emulator::decode8_as(f, x)).bits};                                              \
  }                                                                                                        \
  ISOMER_EMULATOR_INLINE __half2_raw __##PREFIX##_cvt_fp8x2_to_halfraw2(                                   \
      __##PREFIX##_fp8x2_storage_t x, __##PREFIX##_fp8_interpretation_t f) {                               \
    return {__##PREFIX##_cvt_fp8_to_halfraw(static_cast<unsigned char>(x), f).x,                           \
            __##PREFIX##_cvt_fp8_to_halfraw(static_cast<unsigned char>(x >> 8), f).x};                     \
  }
ISOMER_EMULATOR_FP8(nv, __NV_SATFINITE)
ISOMER_EMULATOR_FP8(hip, __HIP_SATFINITE)
#undef ISOMER_EMULATOR_FP8
