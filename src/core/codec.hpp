#pragma once

#include <isomer/dtype.hpp>

#include <cstdint>
#include <cstring>

/// Conversions between element types and double or float, one element at a time, correctly rounded: the
/// definition that the vector code is checked against. Every value of every type is exact in double.
namespace isomer::core {

enum class Overflow {
  ieee,      ///< to infinity where the type has one, else NaN (e4m3fn, fnuz)
  saturate,  ///< to the largest finite value; infinities too; NaN stays NaN
};

/// The value stored at `element`; integers as they are (i64 beyond 2^53 rounds).
double decode(DType type, const void* element);

/// Stores `value` rounded to nearest, ties to even. Integers: NaN gives 0, otherwise truncated toward zero
/// and clamped.
void encode(DType type, double value, void* element, Overflow overflow = Overflow::ieee);

/// decode(encode(value)).
double round_to(DType type, double value, Overflow overflow = Overflow::ieee);

/// The largest finite value; half the distance from 1 to the next value (unit roundoff): 2^-11 for f16.
double max_finite(DType type);
double unit_roundoff(DType type);

float f16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_f16(float value);
inline float bf16_to_f32(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}
std::uint16_t f32_to_bf16(float value);
float e4m3fn_to_f32(std::uint8_t bits);
/// Saturating: beyond ±448 gives ±448; NaN stays NaN; inf gives ±448.
std::uint8_t f32_to_e4m3fn(float value);

}  // namespace isomer::core
