// to[M, N] (bf16) = from[M, K] · other[N, K]ᵀ in the manner of the library's Hopper kernels: a producer brings blocks of k
// through a ring of two stages, two warpgroups of 64 rows each multiply in turns and store through shared memory; blocks
// stay and claim tiles.
//
//   warpgroup 0 (40 registers)   one thread: wait empty[s] → announce, copy a and b into stage s
//   warpgroups 1, 2 (232)        wait full[s] → my turn → products → other's turn → wait → empty[s]; tile by tile: store
#include "gpu/device/async_copy.cuh"
#include "gpu/device/mma.cuh"
#include "gpu/device/sm90/pipeline.cuh"
#include "gpu/device/sm90/registers.cuh"
#include "gpu/device/sm90/shared.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "gpu/device/sm90/warpgroup_mma.cuh"
#include "parameters.h"

namespace isomer::device {
using namespace sm90;

constexpr int kRows = 128, kColumns = 64, kStages = 2;
constexpr u32 kTileA = kRows * 128, kTileB = kColumns * 128, kStage = kTileA + kTileB, kTileOut = kRows * 128;
constexpr u32 kOut = kStages * kStage, kBarriers = kOut + kTileOut, kSlot = kBarriers + 8 * (2 * kStages + 2);

extern __shared__ __align__(1024) char memory[];

extern "C" __global__ void __launch_bounds__(384, 1) pipelined(const __grid_constant__ PipelinedParameters p) {
  const u32 base = shared_address(memory);
  const Barrier full{base + kBarriers}, empty{base + kBarriers + 8 * kStages};
  const Barrier told{base + kBarriers + 16 * kStages}, heard{base + kBarriers + 16 * kStages + 8};
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      full[s].init(1);
      empty[s].init(8);
    }
    told.init(1);
    heard.init(8);
    fence_barriers();
  }
  __syncthreads();
  const int role = static_cast<int>(threadIdx.x) / 128;
  Pipeline<kStages> at;
  u32 turn = 0;
  if (role == 0) {
    keep_registers<40>();
    if (threadIdx.x != 0) return;
    for (u32 tile = blockIdx.x;; turn ^= 1) {
      const bool more = tile < static_cast<u32>(p.tiles);
      heard.wait(turn ^ 1);
      store_shared(base + kSlot, more ? tile : ~0u);
      told.arrive();
      if (!more) return;
      const int row = static_cast<int>(tile) / p.across * kRows, column = static_cast<int>(tile) % p.across * kColumns;
      for (int k = 0; k < p.blocks; ++k, at.advance()) {
        empty[at.stage].wait(at.phase ^ 1);
        full[at.stage].arrive_expect(kStage);
        load<2>(p.from, {{k * 64, row}}, base + at.stage * kStage, full[at.stage], Keep::briefly);
        load<2>(p.other, {{k * 64, column}}, base + at.stage * kStage + kTileA, full[at.stage]);
      }
      const u32 claimed = atomicAdd(p.next, 1u);
      if (claimed == static_cast<u32>(p.tiles) - 1) *p.next = 0;  // every tile is followed by one claim
      tile = claimed + gridDim.x;
    }
  }
  take_registers<232>();
  const int group = role - 1, warp_of_group = warp() % 4;
  if (group == 1) arrive_threads<256>(1);
  for (;; turn ^= 1) {
    told.wait(turn);
    const u32 tile = load_shared(base + kSlot);
    warp_barrier();  // every lane has read it
    if (lane() == 0) heard.arrive();
    if (tile == ~0u) break;
    f32 d[kColumns / 2];
    for (int k = 0; k < p.blocks; ++k, at.advance()) {
      full[at.stage].wait(at.phase);
      sync_threads<256>(1 + group);
      pin(d);
      warpgroup_fence();
      const SharedMatrix a = SharedMatrix::of(base + at.stage * kStage + group * 64 * 128, 16, 1024);
      const SharedMatrix b = SharedMatrix::of(base + at.stage * kStage + kTileA, 16, 1024);
      for (u32 step = 0; step < 4; ++step) multiply_add<bf16, kColumns>(d, a + step * 32, b + step * 32, k > 0 || step > 0);
      warpgroup_commit();
      arrive_threads<256>(2 - group);
      warpgroup_wait<0>();
      pin(d);
      if (lane() == 0) empty[at.stage].arrive();
    }
    if (threadIdx.x % 128 == 0) wait_stores_read<0>();
    sync_threads<128>(3 + group);
    const u32 panel = base + kOut + group * 64 * 128, row = static_cast<u32>(warp_of_group * 16 + lane() % 16);
    for (int j = 0; j < kColumns / 8; j += 2)
      store_matrices(swizzled_128(panel, row, static_cast<u32>(j + lane() / 16) * 16),
                     {pack<bf16>(d[4 * j], d[4 * j + 1]), pack<bf16>(d[4 * j + 2], d[4 * j + 3]),
                      pack<bf16>(d[4 * j + 4], d[4 * j + 5]), pack<bf16>(d[4 * j + 6], d[4 * j + 7])});
    fence_async_shared();
    sync_threads<128>(3 + group);
    if (threadIdx.x % 128 == 0) {
      store<2>(p.to, {{static_cast<int>(tile) % p.across * kColumns, static_cast<int>(tile) / p.across * kRows + group * 64}}, panel);
      end_stores();
    }
  }
  // Both groups have had equally many turns: the one that group 0 still has is left.
  if (group == 0) sync_threads<256>(1);
  if (threadIdx.x % 128 == 0) wait_stores<0>();
}

}  // namespace isomer::device
