// Planted faults in the use of products, registers, named barriers and clusters. `NAME_bad` misbehaves on the line that carries
// `// fault: NAME`, or is told there; `NAME_ok` is its clean twin.
#include "faults.cuh"

namespace isomer::device {

// -------------------------------------------------------------------------------------------------- products
ISOMER_DEVICE void begin(const HopperParameters& p, Place at) {
  if (threadIdx.x == 0) bring(p, at);
  at.full.wait(0);
}
TWINS(fence_missing) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  if (!kBad) warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);  // fault: fence_missing
  warpgroup_commit();
  warpgroup_wait<0>();
  put(p, d);
}
TWINS(fence_of_the_wave_before) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  for (int n = 0; n < 2; ++n) {
    if (!kBad || n == 0) warpgroup_fence();
    multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), n > 0);  // fault: fence_of_the_wave_before
    warpgroup_commit();
    warpgroup_wait<0>();
    for (int i = 0; i < 32; ++i) d[i] *= 2;
  }
  put(p, d);
}
TWINS(product_before_copy_landed) {
  const Place at = prepare();
  if (threadIdx.x == 0) bring(p, at);
  if (!kBad) at.full.wait(0);
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);  // fault: product_before_copy_landed
  warpgroup_commit();
  warpgroup_wait<0>();
  put(p, d);
  if (kBad) at.full.wait(0);
}
TWINS(accumulator_read) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);
  warpgroup_commit();
  if (!kBad) warpgroup_wait<0>();
  p.out[blockIdx.x * blockDim.x + threadIdx.x] = d[3];  // fault: accumulator_read
  if (kBad) warpgroup_wait<0>();
}
TWINS(accumulator_written) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);
  warpgroup_commit();
  if (!kBad) warpgroup_wait<0>();
  for (int i = 0; i < 32; ++i) d[i] = 0;  // fault: accumulator_written
  if (kBad) warpgroup_wait<0>();
  put(p, d);
}
TWINS(wait_for_too_few_groups) {
  const Place at = prepare();
  begin(p, at);
  f32 s[32], o[32];
  warpgroup_fence();
  multiply_add<f16, 64>(s, matrix(at.tile), matrix(at.tile), false);
  warpgroup_commit();
  multiply_add<f16, 64>(o, matrix(at.tile), matrix(at.tile), false);
  warpgroup_commit();
  warpgroup_wait<1>();
  put(p, s);
  if (!kBad) warpgroup_wait<0>();
  p.out[blockIdx.x * blockDim.x + threadIdx.x] = o[0];  // fault: wait_for_too_few_groups
  warpgroup_wait<0>();
}
TWINS(group_not_ended) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);
  if (!kBad) warpgroup_commit();
  warpgroup_wait<0>();
  p.out[blockIdx.x * blockDim.x + threadIdx.x] = d[0];  // fault: group_not_ended
}
TWINS(product_left_behind) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);  // fault: product_left_behind
  warpgroup_commit();
  if (!kBad) warpgroup_wait<0>();
}
TWINS(wrong_swizzle) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  const SharedMatrix a = SharedMatrix::of(at.tile, 16, kBad ? 512 : 1024, kBad ? Swizzle::bytes_64 : Swizzle::bytes_128);
  warpgroup_fence();
  multiply_add<f16, 64>(d, a, matrix(at.tile), false);  // fault: wrong_swizzle
  warpgroup_commit();
  warpgroup_wait<0>();
  put(p, d);
}
TWINS(product_without_proxy_fence) {
  const Place at = prepare();
  fill(at.tile);
  if (!kBad) fence_async_shared();
  __syncthreads();
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);  // fault: product_without_proxy_fence
  warpgroup_commit();
  warpgroup_wait<0>();
  put(p, d);
}
TWINS(operand_overwritten_in_flight) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);
  warpgroup_commit();
  if (!kBad) warpgroup_wait<0>();
  __syncthreads();
  store_shared(mine(at.tile), 0u);  // fault: operand_overwritten_in_flight
  if (kBad) warpgroup_wait<0>();
}
/// Threads 128 to 255 fill, the first warpgroup multiplies.
TWINS(operand_filled_again_in_flight) {
  const Place at = prepare();
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      bring(p, at);
      at.empty.wait(0);
      at.full.arrive_expect(kTile);
      load<2>(p.from, {{0, 0}}, at.tile, at.full);  // fault: operand_filled_again_in_flight
    }
    return;
  }
  at.full.wait(0);
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);
  warpgroup_commit();
  if (kBad && lane() == 0) at.empty.arrive();
  warpgroup_wait<0>();
  if (!kBad && lane() == 0) at.empty.arrive();
  at.full.wait(1);
  put(p, d);
}
/// Only one warp says that it is done, for a barrier of one arrival.
TWINS(one_warp_speaks_for_four) {
  const Place at = prepare(kBad ? 1 : 4);
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      bring(p, at);
      at.empty.wait(0);
      at.full.arrive_expect(kTile);
      load<2>(p.from, {{0, 0}}, at.tile, at.full);  // fault: one_warp_speaks_for_four
    }
    return;
  }
  at.full.wait(0);
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);
  warpgroup_commit();
  warpgroup_wait<0>();
  if (lane() == 0 && (!kBad || threadIdx.x == 0)) at.empty.arrive();
  at.full.wait(1);
  put(p, d);
}
/// The lanes read a tile, then all wait for a product, and one lane says for its warp that the tile is read: the wait is
/// one instruction of the warp, and orders what the tensor cores do, not what the other lanes have read.
TWINS(product_is_no_barrier) {
  const Place at = prepare();
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      at.full.arrive_expect(2 * kTile);
      load<2>(p.from, {{0, 0}}, at.tile, at.full);
      load<2>(p.from, {{0, 0}}, at.tile + kTile, at.full);
      at.empty.wait(0);
      at.full.arrive_expect(kTile);
      load<2>(p.from, {{0, 0}}, at.tile + kTile, at.full);  // fault: product_is_no_barrier
    }
    return;
  }
  at.full.wait(0);
  use(p, load_shared(mine(at.tile + kTile)));
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);
  warpgroup_commit();
  warpgroup_wait<0>();
  if (!kBad) __syncwarp();
  if (lane() == 0) at.empty.arrive();
  at.full.wait(1);
  put(p, d);
}
TWINS(another_product_in_one_warp) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  const u32 step = kBad && threadIdx.x >= 96 ? 32 : 0;
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile) + step, matrix(at.tile), false);  // fault: another_product_in_one_warp
  warpgroup_commit();
  warpgroup_wait<0>();
  put(p, d);
}
TWINS(another_call_in_one_warp) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  kBad && threadIdx.x >= 96 ? warpgroup_wait<0>() : warpgroup_fence();  // fault: another_call_in_one_warp
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);
  warpgroup_commit();
  warpgroup_wait<0>();
  put(p, d);
}
TWINS(one_warp_stays_away) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32] = {};
  if (kBad && threadIdx.x >= 96) return;
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);
  warpgroup_commit();
  warpgroup_wait<0>();  // fault: one_warp_stays_away
  put(p, d);
}
TWINS(operand_behind_the_end) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  const u32 far = kBad ? 8 * kTile : 0;
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile) + far, matrix(at.tile), false);  // fault: operand_behind_the_end
  warpgroup_commit();
  warpgroup_wait<0>();
  put(p, d);
}
TWINS(operand_that_nobody_wrote) {
  const Place at = prepare();
  begin(p, at);
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile + (kBad ? kTile : 0)), false);  // fault: operand_that_nobody_wrote
  warpgroup_commit();
  warpgroup_wait<0>();
  put(p, d);
}

// -------------------------------------------------------------------------------------------------- registers, named barriers
TWINS(registers_do_not_add_up) {
  if (threadIdx.x < 128)
    keep_registers<40>();
  else
    take_registers<kBad ? 240 : 232>();  // fault: registers_do_not_add_up
}
TWINS(takes_fewer_registers) {
  if (threadIdx.x < 128)
    keep_registers<40>();
  else if (kBad)
    take_registers<160>();  // fault: takes_fewer_registers
}
TWINS(one_thread_keeps_registers) {
  if (threadIdx.x < 128) {
    if (!kBad || threadIdx.x == 0) keep_registers<40>();
  } else {
    take_registers<232>();  // fault: one_thread_keeps_registers
  }
}
TWINS(turn_without_arrival) {
  const int group = threadIdx.x / 128;
  if (group == 1 && !kBad) arrive_threads<256>(1);
  if (group == 0) sync_threads<256>(1);  // fault: turn_without_arrival
}
TWINS(turns_of_different_size) {
  const int group = threadIdx.x / 128;
  if (group == 0) arrive_threads<256>(1);
  if (group == 1) sync_threads<kBad ? 384 : 256>(1);  // fault: turns_of_different_size
  if (kBad && group == 2) arrive_threads<256>(1);
}
TWINS(named_barrier_missing) {
  const Place at = prepare();
  const int group = threadIdx.x / 128;
  if (group == 0) store_shared(at.tile + threadIdx.x * 4, 5u);
  if (!kBad) sync_threads<384>(2);
  if (group == 1) use(p, load_shared(at.tile + threadIdx.x % 128 * 4));  // fault: named_barrier_missing
}

// -------------------------------------------------------------------------------------------------- clusters of two blocks
/// Each block brings half of a tile to both.
ISOMER_DEVICE void bring_half(const HopperParameters& p, Place at) {
  const u32 half = cluster_rank() * (kTile / 2);
  load_multicast<2>(p.half, {{0, static_cast<int>(cluster_rank()) * 32}}, at.tile + half, at.full, 3);  // fault: halves_of_a_tile
}
TWINS(halves_of_a_tile) {
  const Place at = prepare(2 * 4);
  cluster_sync();
  for (int n = 0; n < 3; ++n) {
    if (threadIdx.x == 0) {
      at.empty.wait_cluster(n & 1 ^ 1);
      at.full.arrive_expect(kBad ? kTile / 2 : kTile);
      bring_half(p, at);
    }
    at.full.wait(n & 1);
    f32 d[32];
    warpgroup_fence();
    multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);
    warpgroup_commit();
    warpgroup_wait<0>();
    put(p, d);
    if (lane() < 2) at.empty.arrive_in(static_cast<u32>(lane()));
  }
  cluster_sync();
}
TWINS(peer_has_ended) {
  const Place at = prepare();
  if (threadIdx.x == 0) shared_at<f32>(at.tile) = 1.0f + cluster_rank();
  cluster_sync();
  f32 sum = 0;
  if (cluster_rank() == 0) sum = load_shared_of(1, at.tile);  // fault: peer_has_ended
  p.out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  if (!kBad) cluster_sync();
}
TWINS(peer_is_overwritten) {
  const Place at = prepare(2 * 4);
  cluster_sync();
  if (threadIdx.x == 0) {
    at.full.arrive_expect(kTile);
    bring_half(p, at);
  }
  at.full.wait(0);
  f32 d[32];
  warpgroup_fence();
  multiply_add<f16, 64>(d, matrix(at.tile), matrix(at.tile), false);
  warpgroup_commit();
  if (!kBad) warpgroup_wait<0>();
  if (lane() < 2) at.empty.arrive_in(static_cast<u32>(lane()));
  if (threadIdx.x == 0) {
    at.empty.wait_cluster(0);
    at.full.arrive_expect(kTile);
    const u32 half = cluster_rank() * (kTile / 2);
    load_multicast<2>(p.half, {{0, 32}}, at.tile + half, at.full, 3);  // fault: peer_is_overwritten
  }
  if (kBad) warpgroup_wait<0>();
  at.full.wait(1);
  put(p, d);
  cluster_sync();
}

}  // namespace isomer::device
