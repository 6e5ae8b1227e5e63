#pragma once

#include <bit>
#include <cstdint>

namespace isomer::cpu {

/// The smallest power of two ≥ value, for value ≥ 0; 0, inf and NaN stay.
inline float power_of_two_above(float value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (bits == 0 || bits > 0x7F800000u) return value;
  // The pattern of a subnormal is its multiple of 2^-149.
  bits = bits < 0x00800000u ? std::bit_ceil(bits) : (bits + 0x007FFFFFu) & 0x7F800000u;
  return std::bit_cast<float>(bits);
}

}  // namespace isomer::cpu
