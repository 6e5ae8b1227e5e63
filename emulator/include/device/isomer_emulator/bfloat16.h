// bf16 under the names of cuda_bf16.h and hip_bf16.h.
#pragma once

#include "small_float.h"

using __nv_bfloat16 = isomer::emulator::Float16<isomer::emulator::Bfloat16Format>;
using __nv_bfloat162 = isomer::emulator::Float16Pair<isomer::emulator::Bfloat16Format>;
using __hip_bfloat16 = __nv_bfloat16;
using __hip_bfloat162 = __nv_bfloat162;
struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __nv_bfloat162_raw {
  unsigned short x, y;
};
using __hip_bfloat16_raw = __nv_bfloat16_raw;
using __hip_bfloat162_raw = __nv_bfloat162_raw;
#if defined(ISOMER_EMULATOR_HIP)
using hip_bfloat16 = __nv_bfloat16;
#else
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
#endif

#define ISOMER_EMULATOR_BF16_FROM(SUFFIX, ROUNDING)                                               \
  ISOMER_EMULATOR_INLINE __nv_bfloat16 __float2bfloat16##SUFFIX(float x) {                        \
    return __nv_bfloat16::from_bits(isomer::emulator::encode16<isomer::emulator::Bfloat16Format>( \
        x, isomer::emulator::Rounding::ROUNDING));                                                \
  }                                                                                               \
  ISOMER_EMULATOR_INLINE __nv_bfloat16 __int2bfloat16##SUFFIX(int x) {                            \
    return __nv_bfloat16::from_bits(isomer::emulator::encode16<isomer::emulator::Bfloat16Format>( \
        x, isomer::emulator::Rounding::ROUNDING));                                                \
  }                                                                                               \
  ISOMER_EMULATOR_INLINE int __bfloat162int##SUFFIX(__nv_bfloat16 x) { return __float2int##SUFFIX(float(x)); }
ISOMER_EMULATOR_BF16_FROM(_rn, nearest_even)
ISOMER_EMULATOR_BF16_FROM(_rz, toward_zero)
ISOMER_EMULATOR_BF16_FROM(_ru, up)
ISOMER_EMULATOR_BF16_FROM(_rd, down)
#undef ISOMER_EMULATOR_BF16_FROM

ISOMER_EMULATOR_INLINE __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
ISOMER_EMULATOR_INLINE __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
ISOMER_EMULATOR_INLINE float __bfloat162float(__nv_bfloat16 x) { return float(x); }
ISOMER_EMULATOR_INLINE __nv_bfloat162 __float2bfloat162_rn(float x) {
  return {__nv_bfloat16(x), __nv_bfloat16(x)};
}
ISOMER_EMULATOR_INLINE __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__nv_bfloat16(x), __nv_bfloat16(y)};
}
ISOMER_EMULATOR_INLINE __nv_bfloat162 __float22bfloat162_rn(float2 v) {
  return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)};
}
ISOMER_EMULATOR_INLINE float2 __bfloat1622float2(__nv_bfloat162 v) { return {float(v.x), float(v.y)}; }
ISOMER_EMULATOR_INLINE float __low2float(__nv_bfloat162 v) { return float(v.x); }
ISOMER_EMULATOR_INLINE float __high2float(__nv_bfloat162 v) { return float(v.y); }
ISOMER_EMULATOR_INLINE __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
ISOMER_EMULATOR_INLINE __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
ISOMER_EMULATOR_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
ISOMER_EMULATOR_INLINE __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
ISOMER_EMULATOR_INLINE __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
ISOMER_EMULATOR_INLINE short __bfloat16_as_short(__nv_bfloat16 x) { return static_cast<short>(x.bits); }
ISOMER_EMULATOR_INLINE unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
ISOMER_EMULATOR_INLINE __nv_bfloat16 __short_as_bfloat16(short x) {
  return __nv_bfloat16::from_bits(static_cast<std::uint16_t>(x));
}
ISOMER_EMULATOR_INLINE __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) {
  return __nv_bfloat16::from_bits(x);
}
