// Blocks that run at once on neighbouring multiprocessors and reach one another's shared memory.
#pragma once

#include "gpu/device/sm90/arch.cuh"

namespace isomer::device::sm90 {

/// This block's number in its cluster.
ISOMER_DEVICE u32 cluster_rank() {
  u32 rank = 0;
#if ISOMER_SM90
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
#elif defined(ISOMER_EMULATED)
  rank = isomer_emulator_cluster_rank();
#endif
  return rank;
}

/// Every thread of every block of the cluster: comes, and what it did before is seen by those that wait.
ISOMER_DEVICE void cluster_arrive() {
#if ISOMER_SM90
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_cluster_arrive();
#endif
}
ISOMER_DEVICE void cluster_wait() {
#if ISOMER_SM90
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_cluster_wait();
#endif
}
ISOMER_DEVICE void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}
/// The same where barriers behind fence_barriers() are all that is to be seen: nobody waits for what it
/// stored before.
ISOMER_DEVICE void cluster_begin() {
#if ISOMER_SM90
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_cluster_arrive();
#endif
  cluster_wait();
}

/// What lies at that address of shared memory in block `rank` of the cluster.
ISOMER_DEVICE f32 load_shared_of(u32 rank, u32 at) {
  f32 value = 0;
#if ISOMER_SM90
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %1, %2;\nld.shared::cluster.f32 %0, [there];\n}"
      : "=f"(value)
      : "r"(at), "r"(rank)
      : "memory");
#elif defined(ISOMER_EMULATED)
  value = *static_cast<const f32*>(isomer_emulator_shared_in(rank, at, sizeof value));
#endif
  return value;
}

/// Four words to that address of shared memory, a multiple of 16, in block `rank` of the cluster.
ISOMER_DEVICE void store_shared_in(u32 rank, u32 at, f32 a, f32 b, f32 c, f32 d) {
#if ISOMER_SM90
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "st.shared::cluster.v4.f32 [there], {%2, %3, %4, %5};\n}" ::"r"(at),
      "r"(rank), "f"(a), "f"(b), "f"(c), "f"(d)
      : "memory");
#elif defined(ISOMER_EMULATED)
  auto* const four = static_cast<f32*>(isomer_emulator_shared_in(rank, at, 4 * sizeof a));
  four[0] = a;
  four[1] = b;
  four[2] = c;
  four[3] = d;
#endif
}

}  // namespace isomer::device::sm90
