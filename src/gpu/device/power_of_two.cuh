// Scales in ue8m0 are powers of two.
#pragma once

#include "gpu/device/numeric.cuh"

namespace isomer::device {

/// The smallest power of two ≥ value, for value ≥ 0; 0, inf and NaN stay.
ISOMER_DEVICE f32 power_of_two_above(f32 value) {
  const u32 bits = bits_of(value);
  if (bits >= 0x7f800000u) return value;
  if (bits == 0 || bits >= 0x00800000u) return f32_of((bits + 0x007fffffu) & 0x7f800000u);
  u32 power = 1;  // a subnormal's pattern is its multiple of 2^-149
  while (power < bits) power *= 2;
  return f32_of(power);
}

}  // namespace isomer::device
