// What HIP's device code takes from its compiler: atomics with an order and a scope, and the machine
// intrinsics that portable code uses; the rewriter refuses the others by name. Included by hip_runtime.h.
#pragma once

#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5

namespace isomer::emulator {

/// A scope of the block or less is said to the watch.
struct HipReach {
  bool block;
  explicit HipReach(int scope) : block(scope <= __HIP_MEMORY_SCOPE_WORKGROUP) {
#ifdef ISOMER_EMULATOR_WATCH
    if (block) isomer_emulator_scope(1);
#endif
  }
  ~HipReach() {
#ifdef ISOMER_EMULATOR_WATCH
    if (block) isomer_emulator_scope(0);
#endif
  }
};
template <class T>
ISOMER_EMULATOR_INLINE T hip_atomic_load(const T* at, int order, int scope) {
  const HipReach reach(scope);
  T out;
  __atomic_load(at, &out, order);
  patience();
  return out;
}
template <class T>
ISOMER_EMULATOR_INLINE void hip_atomic_store(T* at, T value, int order, int scope) {
  const HipReach reach(scope);
  __atomic_store(at, &value, order);
}
template <class T>
ISOMER_EMULATOR_INLINE T hip_atomic_exchange(T* at, T value, int order, int scope) {
  const HipReach reach(scope);
  T out;
  __atomic_exchange(at, &value, &out, order);
  return out;
}
template <class T>
ISOMER_EMULATOR_INLINE bool hip_atomic_compare_exchange(T* at, T* expected, T value, int order, int failed,
                                                        int scope) {
  const HipReach reach(scope);
  patience();
  return __atomic_compare_exchange(at, expected, &value, false, order, failed);
}
template <class T, class Next>
ISOMER_EMULATOR_INLINE T hip_atomic_update(T* at, Next next, int order, int scope) {
  const HipReach reach(scope);
  T old;
  __atomic_load(at, &old, __ATOMIC_RELAXED);
  for (T then = next(old); !__atomic_compare_exchange(at, &old, &then, false, order, __ATOMIC_RELAXED);)
    then = next(old);
  return old;
}

}  // namespace isomer::emulator

#define __hip_atomic_load(AT, ORDER, SCOPE) isomer::emulator::hip_atomic_load(AT, ORDER, SCOPE)
#define __hip_atomic_store(AT, VALUE, ORDER, SCOPE)                                                    \
  isomer::emulator::hip_atomic_store(                                                                  \
      AT, static_cast<std::remove_volatile_t<std::remove_reference_t<decltype(*(AT))>>>(VALUE), ORDER, \
      SCOPE)
#define __hip_atomic_exchange(AT, VALUE, ORDER, SCOPE)                                                    \
  isomer::emulator::hip_atomic_exchange(AT, static_cast<std::remove_reference_t<decltype(*(AT))>>(VALUE), \
                                        ORDER, SCOPE)
#define __hip_atomic_compare_exchange_strong(AT, EXPECTED, VALUE, ORDER, FAILED, SCOPE) \
  isomer::emulator::hip_atomic_compare_exchange(                                        \
      AT, EXPECTED, static_cast<std::remove_reference_t<decltype(*(AT))>>(VALUE), ORDER, FAILED, SCOPE)
#define __hip_atomic_compare_exchange_weak __hip_atomic_compare_exchange_strong
// Functions of other names behind macros: clang has these itself.
namespace isomer::emulator {
#define ISOMER_EMULATOR_HIP_UPDATE(NAME, RESULT)                                        \
  template <class T, class V>                                                           \
  ISOMER_EMULATOR_INLINE T hip_atomic_fetch_##NAME(T* at, V by, int order, int scope) { \
    const T value = static_cast<T>(by);                                                 \
    return hip_atomic_update(                                                           \
        at, [value](T old) { return static_cast<T>(RESULT); }, order, scope);           \
  }
ISOMER_EMULATOR_HIP_UPDATE(add, old + value)
ISOMER_EMULATOR_HIP_UPDATE(sub, old - value)
ISOMER_EMULATOR_HIP_UPDATE(and, old& value)
ISOMER_EMULATOR_HIP_UPDATE(or, old | value)
ISOMER_EMULATOR_HIP_UPDATE(xor, old ^ value)
ISOMER_EMULATOR_HIP_UPDATE(min, value < old ? value : old)
ISOMER_EMULATOR_HIP_UPDATE(max, value > old ? value : old)
#undef ISOMER_EMULATOR_HIP_UPDATE
}  // namespace isomer::emulator
#define __hip_atomic_fetch_add isomer::emulator::hip_atomic_fetch_add
#define __hip_atomic_fetch_sub isomer::emulator::hip_atomic_fetch_sub
#define __hip_atomic_fetch_and isomer::emulator::hip_atomic_fetch_and
#define __hip_atomic_fetch_or isomer::emulator::hip_atomic_fetch_or
#define __hip_atomic_fetch_xor isomer::emulator::hip_atomic_fetch_xor
#define __hip_atomic_fetch_min isomer::emulator::hip_atomic_fetch_min
#define __hip_atomic_fetch_max isomer::emulator::hip_atomic_fetch_max

// Lanes. The two counts add up to the lane's place where the mask is full.
ISOMER_EMULATOR_INLINE unsigned isomer_emulator_count_below(unsigned mask, unsigned base, unsigned first) {
  const unsigned lane = isomer_emulator_lane();
  if (lane <= first) return base;
  const unsigned below = lane - first >= 32 ? ~0u : (1u << (lane - first)) - 1;
  return base + static_cast<unsigned>(__builtin_popcount(mask & below));
}
#define __builtin_amdgcn_mbcnt_lo(MASK, BASE) isomer_emulator_count_below(MASK, BASE, 0)
#define __builtin_amdgcn_mbcnt_hi(MASK, BASE) isomer_emulator_count_below(MASK, BASE, 32)
#define __mbcnt_lo(MASK, BASE) isomer_emulator_count_below(MASK, BASE, 0)
#define __mbcnt_hi(MASK, BASE) isomer_emulator_count_below(MASK, BASE, 32)
#define __builtin_amdgcn_readlane(VALUE, LANE) __shfl(VALUE, LANE)
#define __builtin_amdgcn_ballot_w64(PREDICATE) static_cast<unsigned long long>(__ballot(PREDICATE))
#define __builtin_amdgcn_fmed3f(A, B, C) fmaxf(fminf(A, B), fminf(fmaxf(A, B), C))
#define __builtin_amdgcn_sqrtf(X) sqrtf(X)
#define __builtin_amdgcn_fractf(X) ((X)-floorf(X))
#include "hip_bits.h"
#include "hip_lanes.h"
#include "hip_matrix.h"
// A fence of the block's scope or less reaches the block.
#define __builtin_amdgcn_fence(ORDER, SCOPE) \
  ((SCOPE)[0] == 'w' || (SCOPE)[0] == 's' ? __threadfence_block() : __threadfence())
// Hints to the compiler and the scheduler.
#define __builtin_amdgcn_s_waitcnt(N) ((void)0)
#define __builtin_amdgcn_sched_barrier(N) ((void)0)
#define __builtin_amdgcn_sched_group_barrier(...) ((void)0)
#define __builtin_amdgcn_iglp_opt(N) ((void)0)
#define __builtin_amdgcn_s_setprio(N) ((void)0)
#define __builtin_nontemporal_load(AT) (*(AT))
#define __builtin_nontemporal_store(VALUE, AT) ((void)(*(AT) = (VALUE)))
#define __builtin_readcyclecounter() static_cast<unsigned long long>(clock64())
