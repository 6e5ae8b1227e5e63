// One tile of a product in each form of its operands: the copy engine brings a and b, a warpgroup multiplies them.
#include "gpu/device/sm90/shared.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "gpu/device/sm90/warpgroup_mma.cuh"
#include "parameters.h"

namespace isomer::device {
using namespace sm90;

extern __shared__ __align__(1024) char memory[];

enum class Order { rows, transposed };
constexpr u32 kA = 0, kB = 32768, kBarrier = 98304;

/// How a tile of `lines` lines lies in shared memory: k is adjacent, or the lines are.
template <class T, int kLines, int kSwizzle, Order kOrder>
struct Tile {
  static constexpr Swizzle kPattern = kSwizzle == 128  ? Swizzle::bytes_128
                                      : kSwizzle == 64 ? Swizzle::bytes_64
                                      : kSwizzle == 32 ? Swizzle::bytes_32
                                                       : Swizzle::none;
  /// Step `k` of 32 bytes of k, in a tile of kBytes of k.
  template <int kBytes>
  static ISOMER_DEVICE SharedMatrix step(u32 at, int k) {
    if constexpr (kOrder == Order::transposed) {  // panels of kSwizzle bytes of lines; every k element is a row of a panel
      constexpr int kDepth = kBytes / static_cast<int>(sizeof(T));
      return SharedMatrix::of(at + static_cast<u32>(k) * 16 * kSwizzle, kDepth * kSwizzle, 8 * kSwizzle, kPattern);
    } else if constexpr (kSwizzle == 0) {  // chunks of 16 bytes of k, each of all lines
      return SharedMatrix::of(at + static_cast<u32>(k) * 2 * kLines * 16, kLines * 16, 128, kPattern);
    } else {  // panels of kSwizzle bytes of k, each of all lines
      const u32 byte = static_cast<u32>(k) * 32;
      return SharedMatrix::of(at + byte / kSwizzle * kLines * kSwizzle + byte % kSwizzle, 16, 8 * kSwizzle, kPattern);
    }
  }
};

/// 256 bytes of k.
template <class T, int N, int kSwizzleA, Order kOrderA, int kSwizzleB, Order kOrderB, bool kRegisters>
ISOMER_DEVICE void product(const HopperParameters& p) {
  constexpr int kBytes = 256, kSteps = kBytes / 32;
  const u32 base = shared_address(memory);
  const Barrier full{base + kBarrier};
  if (threadIdx.x == 0) {
    full.init(1);
    fence_barriers();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    full.arrive_expect((64 + N) * kBytes);
    load<3>(p.from, {{0, 0, 0}}, base + kA, full);
    load<3>(p.other, {{0, 0, 0}}, base + kB, full);
  }
  full.wait(0);
  f32 d[N / 2];
  pin(d);
  u32 a[kSteps][4];
  if constexpr (kRegisters) {  // of rows with a swizzle of 128 bytes
    const u32 row = static_cast<u32>(warp() * 16 + lane() % 16), column = static_cast<u32>(lane() / 16) * 16;
    for (int k = 0; k < kSteps; ++k)
      load_matrices(swizzled_128(base + kA + static_cast<u32>(k / 4) * 64 * 128, row, static_cast<u32>(k % 4) * 32 + column), a[k]);
  }
  warpgroup_fence();
  for (int k = 0; k < kSteps; ++k) {
    const SharedMatrix b = Tile<T, N, kSwizzleB, kOrderB>::template step<kBytes>(base + kB, k);
    if constexpr (kRegisters)
      multiply_add<T, N, kOrderB == Order::transposed>(d, a[k], b, k > 0);
    else
      multiply_add<T, N, kOrderA == Order::transposed, kOrderB == Order::transposed>(
          d, Tile<T, 64, kSwizzleA, kOrderA>::template step<kBytes>(base + kA, k), b, k > 0);
  }
  warpgroup_commit();
  warpgroup_wait<0>();
  pin(d);
  const int row = warp() * 16 + lane() / 4, column = lane() % 4 * 2;
  for (int i = 0; i < N / 2; ++i) p.out[(row + i % 4 / 2 * 8) * N + i / 4 * 8 + column + i % 2] = d[i];
}

#define PRODUCT(NAME, ...)                                                                                     \
  extern "C" __global__ void __launch_bounds__(128) NAME(const __grid_constant__ HopperParameters p) {         \
    product<__VA_ARGS__>(p);                                                                                   \
  }
PRODUCT(f16_64, f16, 64, 128, Order::rows, 128, Order::rows, false)
PRODUCT(f16_256, f16, 256, 128, Order::rows, 128, Order::rows, false)
PRODUCT(bf16_96, bf16, 96, 128, Order::rows, 128, Order::rows, false)
PRODUCT(f16_swizzle_64, f16, 64, 64, Order::rows, 64, Order::rows, false)
PRODUCT(f16_swizzle_32, f16, 64, 32, Order::rows, 32, Order::rows, false)
PRODUCT(f16_no_swizzle, f16, 32, 0, Order::rows, 0, Order::rows, false)
PRODUCT(f16_b_transposed, f16, 128, 128, Order::rows, 128, Order::transposed, false)
PRODUCT(bf16_b_transposed_64, bf16, 64, 128, Order::rows, 64, Order::transposed, false)
PRODUCT(bf16_both_transposed, bf16, 64, 128, Order::transposed, 128, Order::transposed, false)
PRODUCT(f16_registers, f16, 64, 128, Order::rows, 128, Order::rows, true)
PRODUCT(bf16_registers_b_transposed, bf16, 192, 128, Order::rows, 128, Order::transposed, true)
PRODUCT(e4m3_64, e4m3fn, 64, 128, Order::rows, 128, Order::rows, false)
PRODUCT(e4m3_8_swizzle_64, e4m3fn, 8, 64, Order::rows, 64, Order::rows, false)
PRODUCT(e4m3_registers, e4m3fn, 128, 128, Order::rows, 128, Order::rows, true)

}  // namespace isomer::device
