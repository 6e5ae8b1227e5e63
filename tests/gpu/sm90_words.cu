// Every word of gpu/device/sm90 in every form, for a compiler: what it makes of it is not run.
#include "gpu/device/sm90/barrier.cuh"
#include "gpu/device/sm90/cluster.cuh"
#include "gpu/device/sm90/pipeline.cuh"
#include "gpu/device/sm90/registers.cuh"
#include "gpu/device/sm90/scheduler.cuh"
#include "gpu/device/sm90/shared.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "gpu/device/sm90/warpgroup_mma.cuh"

namespace isomer::device::sm90 {

struct Parameters {
  TensorMap maps[4];
  u32* counter;
  f32* out;
};

/// Every form of one shape.
template <class T, int N>
__global__ void __launch_bounds__(128, 1) products(f32* out) {
  extern __shared__ char memory[];
  const u32 at = shared_address(memory), a[4] = {threadIdx.x, 1, 2, 3};
  const SharedMatrix x = SharedMatrix::of(at, 16, 1024), y = SharedMatrix::of(at + 1024, 16, 1024);
  f32 d[N / 2];
  warpgroup_fence();
  multiply_add<T, N>(d, x, y, false);
  if constexpr (sizeof(T) == 2) multiply_add<T, N, true, true>(d, x + 32, y + 32, true);
  multiply_add<T, N>(d, a, y, true);
  if constexpr (sizeof(T) == 2) multiply_add<T, N, true>(d, a, y + 32, true);
  warpgroup_commit();
  warpgroup_wait<0>();
  pin(d);
#pragma unroll
  for (int i = 0; i < N / 2; ++i) out[i * 128 + static_cast<int>(threadIdx.x)] = d[i];
}

#define SHAPE(n)                               \
  template __global__ void products<f16, n>(f32*);  \
  template __global__ void products<bf16, n>(f32*); \
  template __global__ void products<e4m3fn, n>(f32*);
SHAPE(8) SHAPE(16) SHAPE(24) SHAPE(32) SHAPE(40) SHAPE(48) SHAPE(56) SHAPE(64) SHAPE(80) SHAPE(96) SHAPE(112)
SHAPE(128) SHAPE(144) SHAPE(160) SHAPE(176) SHAPE(192) SHAPE(208) SHAPE(224) SHAPE(240) SHAPE(256)

template <int N>
ISOMER_DEVICE void copies(const TensorMap& map, u32 at, Barrier full) {
  Coordinates<N> c{};
  full.arrive_expect(1024);
  load(map, c, at, full, Keep::longest);
  load_multicast(map, c, at, full, 3, Keep::briefly);
  full.wait(0);
  store(map, c, at);
  end_stores();
}

extern "C" __global__ void __cluster_dims__(2) __launch_bounds__(384, 1) copies_of_words(const __grid_constant__ Parameters p) {
  extern __shared__ char memory[];
  const u32 at = (shared_address(memory) + 1023) & ~1023u;
  const Barrier full{at + 8192}, empty = full[2];
  Pipeline<3> place;
  if (threadIdx.x == 0) {
    prefetch(p.maps[0]);
    for (int i = 0; i < 2; ++i) full[i].init(1), empty[i].init(1);
    fence_barriers();
  }
  cluster_sync();
  const TileCounter tiles{p.counter};
  if (threadIdx.x < 128) {
    keep_registers<40>();
    if (threadIdx.x == 0) {
      copies<2>(p.maps[0], at, full);
      copies<3>(p.maps[1], at, full);
      copies<4>(p.maps[2], at, full);
      copies<5>(p.maps[3], at, full[1]);
      load_bytes(p.out, 256, at, full);
      full.expect(16);
      empty[place.stage].wait(place.phase ^ 1);
      empty.wait_cluster(place.phase);
      place.advance();
      empty.arrive_in(cluster_rank() ^ 1);
      const u32 tile = TileCounter::tile_of(tiles.claim());
      tiles.end(tile, 17);
      if (tile > TileCounter::first() && empty.is_over(1)) empty.arrive();
      wait_stores_read<1>();
      wait_stores<0>();
    }
    return;
  }
  take_registers<232>();
  u32 words[4] = {1, 2, 3, 4};
  load_matrices(at, words);
  pin(words);
  store_matrices(swizzled_128(at, threadIdx.x & 15, 16), words);
  load_shared(at, words);
  store_shared(at, words);
  load_shared(at, words[0], words[1]);
  store_shared(at, words[0], words[1]);
  store_shared(at, load_shared(at + 4));
  store_shared(at, load_shared_f32(at) + load_shared_of(1, at));
  fence_async_shared();
  sync_threads<256>(1);
  arrive_threads<256>(2);
}

}  // namespace isomer::device::sm90
