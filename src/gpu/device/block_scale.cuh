// The scale of a block that is quantised to e4m3: amax / 448, and the elements divided by it.
#pragma once

#include "gpu/device/power_of_two.cuh"
#include "gpu/device/quotient.cuh"

namespace isomer::device {

/// True where a step of the short division is not exact, and for NaN. 0 goes through it.
ISOMER_DEVICE bool is_unusual(f32 amax) { return !((amax >= 0x1p-70f && amax <= 0x1p100f) || amax == 0); }

/// amax / 448, correctly rounded where amax is not unusual: tests/gpu/test_quotient.cpp tries every mantissa.
ISOMER_DEVICE f32 over_448(f32 amax) {
  constexpr f32 kReciprocal = 1.0f / 448.0f;
  return Quotient::correct(amax, amax * kReciprocal, 448.0f, kReciprocal);
}

/// power_of_two_above() of a scale that is of ordinary size, or 0.
ISOMER_DEVICE f32 usual_power_of_two_above(f32 scale) {
  return f32_of((bits_of(scale) + 0x007fffffu) & 0x7f800000u);
}

}  // namespace isomer::device
