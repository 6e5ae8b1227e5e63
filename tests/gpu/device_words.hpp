// The words of the GPU kernels as functions of the host: what the device's language has and C++ has not, as
// far as they use it.
#pragma once

#include "core/codec.hpp"

#include <cmath>
#include <cstdint>

#define __device__
#define __forceinline__ inline

namespace isomer::device {

struct __half {
  std::uint16_t bits;
};
inline float __half2float(__half x) { return core::f16_to_f32(x.bits); }
inline __half __float2half_rn(float x) { return {core::f32_to_f16(x)}; }
struct {
  unsigned x;
} const threadIdx{};
inline int __any_sync(unsigned, bool is) { return is; }  // of a warp of one lane

}  // namespace isomer::device

#include "gpu/device/quotient.cuh"
