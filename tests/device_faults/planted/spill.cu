// Keeps more values alive than the registers of a thread hold when 1024 threads share a multiprocessor.
#include "gpu/device/portable.cuh"
#include "ops/sin/kernels/sin.h"

namespace isomer::device {

extern "C" __global__ void __launch_bounds__(1024) isomer_spill(const SinParameters p) {
  constexpr int kValues = ISOMER_VALUES;
  const f32* x = static_cast<const f32*>(p.x) + static_cast<i64>(threadIdx.x) * kValues;
  f32 value[kValues];
#pragma unroll
  for (int i = 0; i < kValues; ++i) value[i] = x[i];
#pragma unroll
  for (int round = 0; round < 2; ++round)
#pragma unroll
    for (int i = 0; i < kValues; ++i)
      value[i] = value[i] * value[(i + kValues / 2) % kValues] + value[(i + 1) % kValues];
  f32* y = static_cast<f32*>(p.y) + static_cast<i64>(threadIdx.x) * kValues;
#pragma unroll
  for (int i = 0; i < kValues; ++i) y[i] = value[i];
}

}  // namespace isomer::device
