// Conversions between the storage types and f32, rounding to nearest even; fp8 saturates and keeps NaN. The
// hardware's instruction where the architecture has it, the same result by bits elsewhere.
#pragma once

#include "gpu/device/platform.cuh"

namespace isomer::device {

ISOMER_DEVICE u32 bits_of(f32 x) { return bit_cast<u32>(x); }
ISOMER_DEVICE f32 f32_of(u32 bits) { return bit_cast<f32>(bits); }
ISOMER_DEVICE f32 infinity() { return f32_of(0x7f800000u); }
ISOMER_DEVICE f32 nan() { return f32_of(0x7fc00000u); }
ISOMER_DEVICE bool is_nan(f32 x) { return (bits_of(x) & 0x7fffffffu) > 0x7f800000u; }
/// The larger one; NaN where either is NaN.
ISOMER_DEVICE f32 max_with_nan(f32 a, f32 b) {
#if ISOMER_CUDA_ARCH >= 800
  f32 m;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
  return m;
#else
  return is_nan(a) ? a : is_nan(b) || b > a ? b : a;
#endif
}
ISOMER_DEVICE f32 absolute(f32 x) { return f32_of(bits_of(x) & 0x7fffffffu); }

// --- to f32 ---

ISOMER_DEVICE f32 to_f32(f32 x) { return x; }
ISOMER_DEVICE f32 to_f32(bf16 x) { return f32_of(static_cast<u32>(x.bits) << 16); }
ISOMER_DEVICE f32 to_f32(f16 x) {
#if ISOMER_CUDA_ARCH
  f32 y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
#elif ISOMER_HIP
  return static_cast<f32>(bit_cast<_Float16>(x.bits));
#else
  return __half2float(bit_cast<__half>(x.bits));
#endif
}

namespace fp8 {

/// Exponent and mantissa moved to where f32 has them, then scaled by the difference of the biases: exact,
/// subnormals too.
template <int kMantissa, int kBias>
ISOMER_DEVICE f32 decode(u32 magnitude) {
  return f32_of(magnitude << (23 - kMantissa)) * f32_of(static_cast<u32>(127 + 127 - kBias) << 23);
}

/// Round to nearest even at the type's precision, saturating at `largest`; `nan` for NaN.
template <int kMantissa, int kBias>
ISOMER_DEVICE u8 encode(f32 x, f32 largest, u32 largest_bits, u8 nan) {
  if (is_nan(x)) return nan;
  const u32 sign = bits_of(x) >> 24 & 0x80u;
  const f32 size = absolute(x);
  if (size >= largest) return static_cast<u8>(sign | largest_bits);
  u32 magnitude;
  constexpr u32 kSmallest = static_cast<u32>(127 + 1 - kBias) << 23;  // the smallest normal
  if (bits_of(size) < kSmallest) {
    // Adding 2^23 units of the last subnormal place leaves the rounded number of such units in the low bits.
    const f32 shift = f32_of(static_cast<u32>(127 + 1 - kBias - kMantissa + 23) << 23);
    magnitude = bits_of(size + shift) - bits_of(shift);
  } else {
    const u32 odd = bits_of(size) >> (23 - kMantissa) & 1u;
    magnitude = (bits_of(size) + ((1u << (22 - kMantissa)) - 1u + odd)) >> (23 - kMantissa);
    magnitude -= static_cast<u32>(127 - kBias) << kMantissa;
    if (magnitude > largest_bits) magnitude = largest_bits;
  }
  return static_cast<u8>(sign | magnitude);
}

}  // namespace fp8

ISOMER_DEVICE f32 to_f32(e4m3fn x) {
  const u32 magnitude = x.bits & 0x7fu;
  const f32 size = magnitude == 0x7fu ? f32_of(0x7fc00000u) : fp8::decode<3, 7>(magnitude);
  return x.bits & 0x80u ? -size : size;
}
ISOMER_DEVICE f32 to_f32(e5m2 x) {
  const u32 magnitude = x.bits & 0x7fu;
  const f32 size = magnitude > 0x7cu    ? f32_of(0x7fc00000u)
                   : magnitude == 0x7cu ? infinity()
                                        : fp8::decode<2, 15>(magnitude);
  return x.bits & 0x80u ? -size : size;
}
ISOMER_DEVICE f32 to_f32(e4m3fnuz x) {
  if (x.bits == 0x80u) return f32_of(0x7fc00000u);
  const f32 size = fp8::decode<3, 8>(x.bits & 0x7fu);
  return x.bits & 0x80u ? -size : size;
}
ISOMER_DEVICE f32 to_f32(e5m2fnuz x) {
  if (x.bits == 0x80u) return f32_of(0x7fc00000u);
  const f32 size = fp8::decode<2, 16>(x.bits & 0x7fu);
  return x.bits & 0x80u ? -size : size;
}
ISOMER_DEVICE f32 to_f32(i8 x) { return static_cast<f32>(x); }

// --- from f32: from_f32<f16>(x) ---

template <class T>
struct FromF32;

template <>
struct FromF32<f32> {
  static ISOMER_DEVICE f32 of(f32 x) { return x; }
};
template <>
struct FromF32<bf16> {
  static ISOMER_DEVICE bf16 of(f32 x) {
#if ISOMER_CUDA_ARCH >= 800
    bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
#else
    if (is_nan(x)) return bf16{0x7fff};
    const u32 odd = bits_of(x) >> 16 & 1u;
    return bf16{static_cast<u16>((bits_of(x) + 0x7fffu + odd) >> 16)};
#endif
  }
};
template <>
struct FromF32<f16> {
  static ISOMER_DEVICE f16 of(f32 x) {
#if ISOMER_CUDA_ARCH
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
#elif ISOMER_HIP
    return f16{bit_cast<u16>(static_cast<_Float16>(x))};
#else
    return f16{bit_cast<u16>(__float2half_rn(x))};
#endif
  }
};
template <>
struct FromF32<e4m3fn> {
  static ISOMER_DEVICE e4m3fn of(f32 x) {
#if ISOMER_CUDA_ARCH >= 890
    u16 pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return e4m3fn{static_cast<u8>(pair)};
#else
    return e4m3fn{fp8::encode<3, 7>(x, 448.0f, 0x7e, 0x7f)};
#endif
  }
};
template <>
struct FromF32<e5m2> {
  static ISOMER_DEVICE e5m2 of(f32 x) {
#if ISOMER_CUDA_ARCH >= 890
    u16 pair;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return e5m2{static_cast<u8>(pair)};
#else
    return e5m2{fp8::encode<2, 15>(x, 57344.0f, 0x7b, 0x7f)};
#endif
  }
};
template <>
struct FromF32<e4m3fnuz> {
  static ISOMER_DEVICE e4m3fnuz of(f32 x) {
    const u8 bits = fp8::encode<3, 8>(x, 240.0f, 0x7f, 0x80);
    return e4m3fnuz{static_cast<u8>(bits == 0x80 && !is_nan(x) ? 0 : bits)};  // there is no −0
  }
};
template <>
struct FromF32<e5m2fnuz> {
  static ISOMER_DEVICE e5m2fnuz of(f32 x) {
    const u8 bits = fp8::encode<2, 16>(x, 57344.0f, 0x7f, 0x80);
    return e5m2fnuz{static_cast<u8>(bits == 0x80 && !is_nan(x) ? 0 : bits)};
  }
};

template <class T>
ISOMER_DEVICE T from_f32(f32 x) {
  return FromF32<T>::of(x);
}

}  // namespace isomer::device
