// Reductions over lanes. Widths are powers of two up to the warp's size, and every lane of the warp takes
// part.
#pragma once

#include "gpu/device/numeric.cuh"

namespace isomer::device {

/// Over groups of `kWidth` adjacent lanes; every lane of a group gets the group's result.
template <int kWidth = kWarpSize, class T, class Combine>
ISOMER_DEVICE T reduce_lanes(T value, Combine combine) {
#pragma unroll
  for (int mask = kWidth / 2; mask > 0; mask /= 2) value = combine(value, shuffle_xor(value, mask));
  return value;
}
/// The least and the largest of a whole warp.
ISOMER_DEVICE i32 least_lane(i32 value) {
#if ISOMER_CUDA_ARCH >= 800
  i32 result;
  asm volatile("redux.sync.min.s32 %0, %1, 0xffffffff;" : "=r"(result) : "r"(value));
  return result;
#else
  return reduce_lanes(value, [](i32 a, i32 b) { return a < b ? a : b; });
#endif
}
ISOMER_DEVICE i32 largest_lane(i32 value) {
#if ISOMER_CUDA_ARCH >= 800
  i32 result;
  asm volatile("redux.sync.max.s32 %0, %1, 0xffffffff;" : "=r"(result) : "r"(value));
  return result;
#else
  return reduce_lanes(value, [](i32 a, i32 b) { return a > b ? a : b; });
#endif
}
template <int kWidth = kWarpSize>
ISOMER_DEVICE f32 sum_lanes(f32 value) {
  return reduce_lanes<kWidth>(value, [](f32 a, f32 b) { return a + b; });
}
template <int kWidth = kWarpSize>
ISOMER_DEVICE f32 max_lanes(f32 value) {
  return reduce_lanes<kWidth>(value, [](f32 a, f32 b) { return a > b ? a : b; });
}
template <int kWidth = kWarpSize>
ISOMER_DEVICE f32 max_with_nan_lanes(f32 value) {
  return reduce_lanes<kWidth>(value, [](f32 a, f32 b) { return max_with_nan(a, b); });
}

}  // namespace isomer::device
