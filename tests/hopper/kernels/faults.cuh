// What the kernels with a planted fault share. A tile is 64 rows of 128 bytes, with a swizzle of 128 bytes; the block has
// 128 threads unless it says otherwise.
#pragma once

#include "gpu/device/sm90/cluster.cuh"
#include "gpu/device/sm90/pipeline.cuh"
#include "gpu/device/sm90/registers.cuh"
#include "gpu/device/sm90/shared.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "gpu/device/sm90/warpgroup_mma.cuh"
#include "parameters.h"

namespace isomer::device {
using namespace sm90;

constexpr u32 kTile = 64 * 128, kBarriers = 4 * kTile;

#define KERNEL(NAME, BAD) extern "C" __global__ void __launch_bounds__(384) NAME(const __grid_constant__ HopperParameters p)
#define TWINS(NAME)                                                                    \
  template <bool kBad>                                                                 \
  ISOMER_DEVICE void NAME(const HopperParameters& p);                                  \
  KERNEL(NAME##_bad, true) { NAME<true>(p); }                                          \
  KERNEL(NAME##_ok, false) { NAME<false>(p); }                                         \
  template <bool kBad>                                                                 \
  ISOMER_DEVICE void NAME(const HopperParameters& p)

extern __shared__ __align__(1024) char memory[];

struct Place {
  u32 tile;
  Barrier full, empty;
};
/// Four tiles, then a barrier that one copy fills and one of `users` arrivals.
ISOMER_DEVICE Place prepare(int users = 4) {
  const u32 base = shared_address(memory);
  const Place at{base, {base + kBarriers}, {base + kBarriers + 8}};
  if (threadIdx.x == 0) {
    at.full.init(1);
    at.empty.init(users);
    fence_barriers();
  }
  __syncthreads();
  return at;
}
ISOMER_DEVICE void bring(const HopperParameters& p, Place at, int stage = 0, int row = 0) {
  at.full.arrive_expect(kTile);
  load<2>(p.from, {{0, row}}, at.tile + stage * kTile, at.full);
}
ISOMER_DEVICE u32 mine(u32 tile) { return swizzled_128(tile, threadIdx.x / 2, threadIdx.x % 2 * 64); }
ISOMER_DEVICE void use(const HopperParameters& p, u32 word) { p.out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<f32>(word & 0xff); }
ISOMER_DEVICE void fill(u32 tile) {
  for (u32 c = 0; c < 64; c += 4) store_shared(swizzled_128(tile, threadIdx.x / 2, threadIdx.x % 2 * 64 + c), 7u);
}
ISOMER_DEVICE SharedMatrix matrix(u32 tile) { return SharedMatrix::of(tile, 16, 1024); }
ISOMER_DEVICE void put(const HopperParameters& p, const f32 (&d)[32]) {
  f32 sum = 0;
  for (int i = 0; i < 32; ++i) sum += d[i];
  p.out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

}  // namespace isomer::device
