// y = sin(x) for contiguous f32, each block reversing its elements through shared memory: right, or with one fault that
// leaves most results right.
#include "gpu/device/portable.cuh"
#include "ops/sin/kernels/sin.h"

namespace isomer::device {

enum class Fault { none, missing_barrier, race, out_of_bounds };
constexpr Fault kFault = Fault::ISOMER_FAULT;
constexpr int kThreads = 128;

extern "C" __global__ void __launch_bounds__(kThreads) isomer_fault(const SinParameters p) {
  __shared__ f32 piece[kThreads];
  const f32* x = static_cast<const f32*>(p.x);
  f32* y = static_cast<f32*>(p.y);
  const i64 end = p.length + (kFault == Fault::out_of_bounds ? 1 : 0);
  const i64 begin = static_cast<i64>(blockIdx.x) * kThreads;
  const int mine = static_cast<int>(threadIdx.x), other = kThreads - 1 - mine;
  if (begin + mine < end) piece[mine] = sinf(x[begin + mine]);
  if constexpr (kFault != Fault::missing_barrier) __syncthreads();
  if (begin + other < end) y[begin + other] = piece[other];
  // The same value as its owner's: no result is wrong, but nothing orders the two writes.
  if constexpr (kFault == Fault::race)
    if (begin + mine < end) y[begin + mine] = piece[mine];
}

}  // namespace isomer::device
