// A divisor known before the launch: an index is divided by it with a multiplication. Shared by host and
// device.
#pragma once

#include "gpu/device/types.h"

#if defined(__CUDACC__) || defined(__HIP__)
#define ISOMER_HOST_AND_DEVICE __host__ __device__
#else
#define ISOMER_HOST_AND_DEVICE
#endif

namespace isomer::device {

struct Divisor {
  i64 value = 1;
  u32 multiplier = 0;  ///< 0 where the value is 2^31 or more: then it is divided by as it is
  u32 shift = 0;
};

/// `value` is positive. With l = ceil(log2 value) and m = floor(2^(31+l) / value) + 1, floor(n m / 2^(31+l))
/// is the quotient of every n < 2^31: m exceeds 2^(31+l) / value by at most 1, which n < 2^31 makes less than
/// 1 / value.
ISOMER_HOST_AND_DEVICE constexpr Divisor divisor_of(i64 value) {
  Divisor divisor;
  divisor.value = value;
  if (value >= i64{1} << 31) return divisor;
  while ((i64{1} << divisor.shift) < value) ++divisor.shift;
  divisor.multiplier = static_cast<u32>((u64{1} << (31 + divisor.shift)) / static_cast<u64>(value) + 1);
  return divisor;
}

/// floor(n / divisor) for 0 ≤ n < 2^31 and a divisor below 2^31.
ISOMER_HOST_AND_DEVICE constexpr u32 quotient_of(u32 n, const Divisor& divisor) {
  return static_cast<u32>(static_cast<u64>(n << 1) * divisor.multiplier >> 32) >> divisor.shift;
}

/// The same; the divisor's value must be below 2^31 as well.
ISOMER_HOST_AND_DEVICE constexpr i32 quotient_of(i32 n, const Divisor& divisor) {
  return static_cast<i32>(quotient_of(static_cast<u32>(n), divisor));
}

/// floor(n / divisor) for n ≥ 0.
ISOMER_HOST_AND_DEVICE constexpr i64 quotient_of(i64 n, const Divisor& divisor) {
  if (divisor.multiplier != 0 && n < i64{1} << 31) return quotient_of(static_cast<u32>(n), divisor);
  return n / divisor.value;
}

}  // namespace isomer::device
