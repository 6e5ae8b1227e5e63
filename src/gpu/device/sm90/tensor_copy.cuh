// The bulk copy engine (TMA): boxes of tensors between global and shared memory, issued by one thread. A
// load's bytes are counted by a barrier; stores are counted in groups of the thread that issued them.
#pragma once

#include "gpu/device/sm90/barrier.cuh"
#include "gpu/device/tensor_map.h"

namespace isomer::device::sm90 {

/// How long L2 should keep what a copy touches.
enum class Keep : u64 {
  normal = 0x1000000000000000ull,
  briefly = 0x12F0000000000000ull,  ///< evicted first
  longest = 0x14F0000000000000ull,  ///< evicted last
};

/// Where a box begins: N coordinates, innermost first.
template <int N>
struct Coordinates {
  i32 of[N];
};

ISOMER_DEVICE void prefetch(const TensorMap& map) {
#if ISOMER_SM90
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
#endif
}

/// The box at `from` to shared memory; it lands some time, and then `barrier` has counted its bytes. Elements
/// outside of the tensor arrive as zeros and count.
template <int N>
ISOMER_DEVICE void load(const TensorMap& map, const Coordinates<N>& from, u32 to, Barrier barrier,
                        Keep keep = Keep::normal) {
#if ISOMER_SM90
#define ISOMER_LOAD "cp.async.bulk.tensor."
#define ISOMER_LOAD_TO "d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {"
  if constexpr (N == 2)
    asm volatile(ISOMER_LOAD "2" ISOMER_LOAD_TO "%4, %5}], [%2], %3;" ::"r"(to), "l"(&map), "r"(barrier.at),
                 "l"(keep), "r"(from.of[0]), "r"(from.of[1])
                 : "memory");
  else if constexpr (N == 3)
    asm volatile(ISOMER_LOAD "3" ISOMER_LOAD_TO "%4, %5, %6}], [%2], %3;" ::"r"(to), "l"(&map),
                 "r"(barrier.at), "l"(keep), "r"(from.of[0]), "r"(from.of[1]), "r"(from.of[2])
                 : "memory");
  else if constexpr (N == 4)
    asm volatile(ISOMER_LOAD "4" ISOMER_LOAD_TO "%4, %5, %6, %7}], [%2], %3;" ::"r"(to), "l"(&map),
                 "r"(barrier.at), "l"(keep), "r"(from.of[0]), "r"(from.of[1]), "r"(from.of[2]),
                 "r"(from.of[3])
                 : "memory");
  else
    asm volatile(ISOMER_LOAD "5" ISOMER_LOAD_TO "%4, %5, %6, %7, %8}], [%2], %3;" ::"r"(to), "l"(&map),
                 "r"(barrier.at), "l"(keep), "r"(from.of[0]), "r"(from.of[1]), "r"(from.of[2]),
                 "r"(from.of[3]), "r"(from.of[4])
                 : "memory");
#undef ISOMER_LOAD_TO
#elif defined(ISOMER_EMULATED)
  static_cast<void>(keep);
  isomer_emulator_box_load(&map, N, from.of, to, barrier.at);
#endif
}

/// load() into every block of the cluster whose bit is set in `blocks`, at the same address and barrier in
/// each.
template <int N>
ISOMER_DEVICE void load_multicast(const TensorMap& map, const Coordinates<N>& from, u32 to, Barrier barrier,
                                  u16 blocks, Keep keep = Keep::normal) {
#if ISOMER_SM90
#define ISOMER_LOAD_TO \
  "d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {"
  if constexpr (N == 2)
    asm volatile(ISOMER_LOAD "2" ISOMER_LOAD_TO "%5, %6}], [%2], %3, %4;" ::"r"(to), "l"(&map),
                 "r"(barrier.at), "h"(blocks), "l"(keep), "r"(from.of[0]), "r"(from.of[1])
                 : "memory");
  else if constexpr (N == 3)
    asm volatile(ISOMER_LOAD "3" ISOMER_LOAD_TO "%5, %6, %7}], [%2], %3, %4;" ::"r"(to), "l"(&map),
                 "r"(barrier.at), "h"(blocks), "l"(keep), "r"(from.of[0]), "r"(from.of[1]), "r"(from.of[2])
                 : "memory");
  else if constexpr (N == 4)
    asm volatile(ISOMER_LOAD "4" ISOMER_LOAD_TO "%5, %6, %7, %8}], [%2], %3, %4;" ::"r"(to), "l"(&map),
                 "r"(barrier.at), "h"(blocks), "l"(keep), "r"(from.of[0]), "r"(from.of[1]), "r"(from.of[2]),
                 "r"(from.of[3])
                 : "memory");
  else
    asm volatile(ISOMER_LOAD "5" ISOMER_LOAD_TO "%5, %6, %7, %8, %9}], [%2], %3, %4;" ::"r"(to), "l"(&map),
                 "r"(barrier.at), "h"(blocks), "l"(keep), "r"(from.of[0]), "r"(from.of[1]), "r"(from.of[2]),
                 "r"(from.of[3]), "r"(from.of[4])
                 : "memory");
#undef ISOMER_LOAD_TO
#undef ISOMER_LOAD
#elif defined(ISOMER_EMULATED)
  static_cast<void>(keep);
  isomer_emulator_box_load_in(blocks, &map, N, from.of, to, barrier.at);
#endif
}

/// The box in shared memory to `to`; elements outside of the tensor are not written, but the hardware writes
/// a row in whole pieces of 16 bytes: unless the innermost size is a multiple of 16 bytes, it overwrites what
/// lies behind the last element of a row up to the next multiple. Behind fence_async_shared() of those who
/// wrote the box and a barrier; belongs to the group that end_stores() ends.
template <int N>
ISOMER_DEVICE void store(const TensorMap& map, const Coordinates<N>& to, u32 from) {
#if ISOMER_SM90
#define ISOMER_STORE(rank) "cp.async.bulk.tensor." rank "d.global.shared::cta.bulk_group [%0, {"
  if constexpr (N == 2)
    asm volatile(ISOMER_STORE("2") "%2, %3}], [%1];" ::"l"(&map), "r"(from), "r"(to.of[0]), "r"(to.of[1])
                 : "memory");
  else if constexpr (N == 3)
    asm volatile(ISOMER_STORE("3") "%2, %3, %4}], [%1];" ::"l"(&map), "r"(from), "r"(to.of[0]), "r"(to.of[1]),
                 "r"(to.of[2])
                 : "memory");
  else if constexpr (N == 4)
    asm volatile(ISOMER_STORE("4") "%2, %3, %4, %5}], [%1];" ::"l"(&map), "r"(from), "r"(to.of[0]),
                 "r"(to.of[1]), "r"(to.of[2]), "r"(to.of[3])
                 : "memory");
  else
    asm volatile(ISOMER_STORE("5") "%2, %3, %4, %5, %6}], [%1];" ::"l"(&map), "r"(from), "r"(to.of[0]),
                 "r"(to.of[1]), "r"(to.of[2]), "r"(to.of[3]), "r"(to.of[4])
                 : "memory");
#undef ISOMER_STORE
#elif defined(ISOMER_EMULATED)
  isomer_emulator_box_store(&map, N, to.of, from);
#endif
}

/// `bytes`, a multiple of 16, from adjacent global memory; both addresses are multiples of 16.
ISOMER_DEVICE void load_bytes(const void* from, u32 bytes, u32 to, Barrier barrier) {
#if ISOMER_SM90
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier.at)
      : "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_stretch_load(from, bytes, to, barrier.at);
#endif
}

/// Ends a group of this thread's stores.
ISOMER_DEVICE void end_stores() {
#if ISOMER_SM90
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_stores_commit();
#endif
}
/// Until all but the latest kGroups groups of this thread's stores have read shared memory, which may then be
/// written.
template <int kGroups>
ISOMER_DEVICE void wait_stores_read() {
#if ISOMER_SM90
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kGroups) : "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_stores_wait(kGroups);
#endif
}
/// Until all but the latest kGroups have written global memory.
template <int kGroups>
ISOMER_DEVICE void wait_stores() {
#if ISOMER_SM90
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kGroups) : "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_stores_wait(kGroups);
#endif
}

}  // namespace isomer::device::sm90
