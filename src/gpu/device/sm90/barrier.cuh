// Barriers in shared memory that count arrivals and bytes (mbarrier), and the numbered barriers of a block's
// threads.
#pragma once

#include "gpu/device/sm90/arch.cuh"

namespace isomer::device::sm90 {

/// Eight bytes of shared memory, aligned to eight. A phase ends when `count` have arrived and all bytes that
/// were announced in it have landed; the next begins at once. Phases have parities 0, 1, 0, …: a wait for
/// parity p returns when the phase in progress has the other parity, so one for parity 1 passes a fresh
/// barrier.
struct Barrier {
  static constexpr u32 kBytes = 8;
  u32 at;

  /// The i-th of an array of barriers that begins here.
  ISOMER_DEVICE Barrier operator[](int i) const { return {at + kBytes * static_cast<u32>(i)}; }

  /// By one thread; others use it behind fence_barriers() and a barrier of the block, or of the cluster.
  ISOMER_DEVICE void init(int count) const {
#if ISOMER_SM90
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
#elif defined(ISOMER_EMULATED)
    isomer_emulator_barrier_init(at, static_cast<u32>(count));
#endif
  }
  ISOMER_DEVICE void arrive() const {
#if ISOMER_SM90
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
#elif defined(ISOMER_EMULATED)
    isomer_emulator_barrier_arrive(at, 1, 0);
#endif
  }
  /// Arrives and announces bytes that copies will bring.
  ISOMER_DEVICE void arrive_expect(u32 bytes) const {
#if ISOMER_SM90
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
#elif defined(ISOMER_EMULATED)
    isomer_emulator_barrier_arrive(at, 1, bytes);
#endif
  }
  /// Announces bytes without arriving.
  ISOMER_DEVICE void expect(u32 bytes) const {
#if ISOMER_SM90
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
#elif defined(ISOMER_EMULATED)
    isomer_emulator_barrier_arrive(at, 0, bytes);
#endif
  }
  /// Arrives at the barrier that lies at the same address in another block of the cluster.
  ISOMER_DEVICE void arrive_in(u32 rank) const {
#if ISOMER_SM90
    asm volatile(
        "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n}" ::"r"(at),
        "r"(rank)
        : "memory");
#elif defined(ISOMER_EMULATED)
    isomer_emulator_barrier_arrive_in(rank, at);
#endif
  }
  /// The same by one who has only read and has nothing to show: a release to the cluster would wait for all
  /// its stores.
  ISOMER_DEVICE void arrive_in_having_read(u32 rank) const {
#if ISOMER_SM90
    asm volatile(
        "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(at),
        "r"(rank)
        : "memory");
#elif defined(ISOMER_EMULATED)
    isomer_emulator_barrier_arrive_in(rank, at);
#endif
  }
  /// Arrives when all copies that this thread began with copy_async() have landed: one of the arrivals that
  /// are counted.
  ISOMER_DEVICE void arrive_behind_copies() const {
#if ISOMER_SM90
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at) : "memory");
#elif defined(ISOMER_EMULATED)
    isomer_emulator_barrier_arrive(at, 1, 0);  // there the copies are done at once
#endif
  }
  ISOMER_DEVICE bool is_over(u32 parity) const {
    u32 over = 1;
#if ISOMER_SM90
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
        : "=r"(over)
        : "r"(at), "r"(parity)
        : "memory");
#elif defined(ISOMER_EMULATED)
    over = isomer_emulator_barrier_wait(at, parity, 1);
#endif
    return over != 0;
  }
  ISOMER_DEVICE void wait(u32 parity) const {
#if ISOMER_SM90
    asm volatile(
        "{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
        "@p bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(at),
        "r"(parity)
        : "memory");
#elif defined(ISOMER_EMULATED)
    isomer_emulator_barrier_wait(at, parity, 0);
#endif
  }
  /// The same by one who has asked before: is_over() said `over` of that parity.
  ISOMER_DEVICE void wait_unless(u32 over, u32 parity) const {
#if ISOMER_SM90
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p bra DONE;\nWAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(at),
        "r"(parity), "r"(over)
        : "memory");
#elif defined(ISOMER_EMULATED)
    if (over == 0) isomer_emulator_barrier_wait(at, parity, 0);
#endif
  }
  /// The same where arrivals may come from other blocks of the cluster: what they did before is seen.
  ISOMER_DEVICE void wait_cluster(u32 parity) const {
#if ISOMER_SM90
    asm volatile(
        "{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
        "@p bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(at),
        "r"(parity)
        : "memory");
#elif defined(ISOMER_EMULATED)
    isomer_emulator_barrier_wait(at, parity, 0);
#endif
  }
};

/// Fresh barriers are seen by the copy engine and by the cluster's other blocks behind the next barrier of
/// the block, or of the cluster. kShared: of what was written before, shared memory alone is waited for; all
/// memory is a way to the L2 cache and back.
template <bool kShared = false>
ISOMER_DEVICE void fence_barriers() {
#if ISOMER_SM90
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  if constexpr (kShared)
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  else
    asm volatile("fence.proxy.async;" ::: "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_proxy_fence();
#endif
}

/// Barrier `number` of the block, 1 to 15, of kThreads threads (0 is __syncthreads): waits until so many have
/// come, by sync or by arrive. Whole warps take part.
template <int kThreads>
ISOMER_DEVICE void sync_threads(int number) {
#if ISOMER_SM90
  asm volatile("bar.sync %0, %1;" ::"r"(number), "n"(kThreads) : "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_named_barrier(static_cast<u32>(number), kThreads);
#endif
}
/// Comes and does not wait.
template <int kThreads>
ISOMER_DEVICE void arrive_threads(int number) {
#if ISOMER_SM90
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "n"(kThreads) : "memory");
#elif defined(ISOMER_EMULATED)
  isomer_emulator_named_arrive(static_cast<u32>(number), kThreads);
#endif
}

}  // namespace isomer::device::sm90
