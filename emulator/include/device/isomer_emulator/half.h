// __half and __half2, as cuda_fp16.h and hip_fp16.h name them.
#pragma once

#include "small_float.h"

using __half = isomer::emulator::Float16<isomer::emulator::Float16Format>;
using __half2 = isomer::emulator::Float16Pair<isomer::emulator::Float16Format>;
using half = __half;
using half2 = __half2;
struct __half_raw {
  unsigned short x;
  __half_raw() = default;
  constexpr __half_raw(unsigned short bits) : x(bits) {}
  __half_raw(const __half& value) : x(value.bits) {}
};
struct __half2_raw {
  unsigned short x, y;
};
#if !defined(ISOMER_EMULATOR_HIP)
// As bf16 has them: CUDA 12 names both alike.
using nv_half = __half;
using nv_half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
using __nv_half_raw = __half_raw;
using __nv_half2_raw = __half2_raw;
#endif

#define ISOMER_EMULATOR_ROUNDINGS(DEFINE) \
  DEFINE(_rn, nearest_even) DEFINE(_rz, toward_zero) DEFINE(_ru, up) DEFINE(_rd, down)

#define ISOMER_EMULATOR_HALF_FROM(SUFFIX, ROUNDING)                                                        \
  ISOMER_EMULATOR_INLINE __half __float2half##SUFFIX(float x) {                                            \
    return __half::from_bits(isomer::emulator::encode16<isomer::emulator::Float16Format>(                  \
        x, isomer::emulator::Rounding::ROUNDING));                                                         \
  }                                                                                                        \
  ISOMER_EMULATOR_INLINE __half __int2half##SUFFIX(int x) {                                                \
    return __half::from_bits(isomer::emulator::encode16<isomer::emulator::Float16Format>(                  \
        x, isomer::emulator::Rounding::ROUNDING));                                                         \
  }                                                                                                        \
  ISOMER_EMULATOR_INLINE __half __uint2half##SUFFIX(unsigned x) {                                          \
    return __half::from_bits(isomer::emulator::encode16<isomer::emulator::Float16Format>(                  \
        x, isomer::emulator::Rounding::ROUNDING));                                                         \
  }                                                                                                        \
  ISOMER_EMULATOR_INLINE __half __short2half##SUFFIX(short x) { return __int2half##SUFFIX(x); }            \
  ISOMER_EMULATOR_INLINE __half __ushort2half##SUFFIX(unsigned short x) { return __int2half##SUFFIX(x); }  \
  ISOMER_EMULATOR_INLINE int __half2int##SUFFIX(__half x) { return __float2int##SUFFIX(float(x)); }        \
  ISOMER_EMULATOR_INLINE unsigned __half2uint##SUFFIX(__half x) { return __float2uint##SUFFIX(float(x)); } \
  ISOMER_EMULATOR_INLINE short __half2short##SUFFIX(__half x) {                                            \
    const int v = __float2int##SUFFIX(float(x));                                                           \
    return static_cast<short>(v < -32768 ? -32768 : v > 32767 ? 32767 : v);                                \
  }
ISOMER_EMULATOR_ROUNDINGS(ISOMER_EMULATOR_HALF_FROM)
#undef ISOMER_EMULATOR_HALF_FROM

ISOMER_EMULATOR_INLINE __half __float2half(float x) { return __half(x); }
ISOMER_EMULATOR_INLINE __half __double2half(double x) { return __half(x); }
ISOMER_EMULATOR_INLINE float __half2float(__half x) { return float(x); }
ISOMER_EMULATOR_INLINE __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
ISOMER_EMULATOR_INLINE __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
ISOMER_EMULATOR_INLINE __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
ISOMER_EMULATOR_INLINE float2 __half22float2(__half2 v) { return {float(v.x), float(v.y)}; }
ISOMER_EMULATOR_INLINE float __low2float(__half2 v) { return float(v.x); }
ISOMER_EMULATOR_INLINE float __high2float(__half2 v) { return float(v.y); }
ISOMER_EMULATOR_INLINE __half __low2half(__half2 v) { return v.x; }
ISOMER_EMULATOR_INLINE __half __high2half(__half2 v) { return v.y; }
ISOMER_EMULATOR_INLINE __half2 __low2half2(__half2 v) { return {v.x, v.x}; }
ISOMER_EMULATOR_INLINE __half2 __high2half2(__half2 v) { return {v.y, v.y}; }
ISOMER_EMULATOR_INLINE __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
ISOMER_EMULATOR_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
ISOMER_EMULATOR_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
ISOMER_EMULATOR_INLINE __half2 __halves2half2(__half a, __half b) { return {a, b}; }
ISOMER_EMULATOR_INLINE __half2 __half2half2(__half a) { return {a, a}; }
ISOMER_EMULATOR_INLINE __half2 make_half2(__half a, __half b) { return {a, b}; }
ISOMER_EMULATOR_INLINE short __half_as_short(__half x) { return static_cast<short>(x.bits); }
ISOMER_EMULATOR_INLINE unsigned short __half_as_ushort(__half x) { return x.bits; }
ISOMER_EMULATOR_INLINE __half __short_as_half(short x) {
  return __half::from_bits(static_cast<std::uint16_t>(x));
}
ISOMER_EMULATOR_INLINE __half __ushort_as_half(unsigned short x) { return __half::from_bits(x); }
