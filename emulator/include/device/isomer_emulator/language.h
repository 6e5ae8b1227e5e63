// The language: specifiers, block and warp operations, fences. What is a keyword to the device compilers
// (`__global__`, `__shared__`, `__launch_bounds__`, `<<<>>>`) is handled by the rewriter before compiling;
// the macros here serve code that the rewriter leaves alone.
#pragma once

// With those of the C library that the device compilers overload for every type: abs of a float.
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "abi.h"
#include "cmath.h"
#include "conversions.h"
#include "local_values.h"
#include "launch.h"
#include "shared.h"

#ifndef ISOMER_EMULATOR_LANES
#define ISOMER_EMULATOR_LANES 32
#endif

#define ISOMER_EMULATOR_INLINE static inline __attribute__((always_inline))
// A function of values alone, which has nothing that the watch could see: host and device call it without
// hooks.
#define ISOMER_EMULATOR_OF_VALUES inline __attribute__((no_sanitize("thread")))

constexpr int warpSize = ISOMER_EMULATOR_LANES;

ISOMER_EMULATOR_INLINE void __syncthreads() { isomer_emulator_barrier(0, 0); }
ISOMER_EMULATOR_INLINE int __syncthreads_or(int p) { return isomer_emulator_barrier(1, p); }
ISOMER_EMULATOR_INLINE int __syncthreads_and(int p) { return isomer_emulator_barrier(2, p); }
ISOMER_EMULATOR_INLINE int __syncthreads_count(int p) { return isomer_emulator_barrier(3, p); }
ISOMER_EMULATOR_INLINE void __barrier_sync(unsigned id) { isomer_emulator_named_barrier(id, 0); }
ISOMER_EMULATOR_INLINE void __barrier_sync_count(unsigned id, unsigned n) {
  isomer_emulator_named_barrier(id, n);
}

ISOMER_EMULATOR_INLINE void __threadfence() { isomer_emulator_fence(1); }
ISOMER_EMULATOR_INLINE void __threadfence_block() { isomer_emulator_fence(0); }
ISOMER_EMULATOR_INLINE void __threadfence_system() { isomer_emulator_fence(2); }
ISOMER_EMULATOR_INLINE void __nanosleep(unsigned) { isomer_emulator_yield(); }
ISOMER_EMULATOR_INLINE void __trap() { isomer_emulator_trap("executes a trap"); }
ISOMER_EMULATOR_INLINE void __brkpt() { isomer_emulator_trap("executes a breakpoint"); }
ISOMER_EMULATOR_INLINE unsigned __lane_id() { return isomer_emulator_lane(); }

// What the device compilers are told of values; nothing is made of it here.
#define __builtin_assume(CONDITION) ((void)0)
#define __assume(CONDITION) ((void)0)

ISOMER_EMULATOR_INLINE long long clock64() { return isomer_emulator_clock(); }
ISOMER_EMULATOR_INLINE long long __clock64() { return isomer_emulator_clock(); }
ISOMER_EMULATOR_INLINE long __clock() { return static_cast<long>(isomer_emulator_clock()); }
ISOMER_EMULATOR_INLINE long long wall_clock64() { return isomer_emulator_clock(); }

namespace isomer::emulator {
ISOMER_EMULATOR_INLINE void returns() {
#ifdef ISOMER_EMULATOR_WATCH
  isomer_emulator_returns();
#endif
}
}  // namespace isomer::emulator

template <class T>
ISOMER_EMULATOR_INLINE T __ldg(const T* p) {
  return *p;
}
template <class T>
ISOMER_EMULATOR_INLINE T __ldcg(const T* p) {
  return *p;
}
template <class T>
ISOMER_EMULATOR_INLINE T __ldca(const T* p) {
  return *p;
}
template <class T>
ISOMER_EMULATOR_INLINE T __ldcs(const T* p) {
  return *p;
}
template <class T>
ISOMER_EMULATOR_INLINE T __ldcv(const T* p) {
  return *p;
}
template <class T>
ISOMER_EMULATOR_INLINE T __ldlu(const T* p) {
  return *p;
}
// What is stored is converted to what the pointer points to.
template <class T>
ISOMER_EMULATOR_INLINE void __stcg(T* p, std::enable_if_t<true, T> v) {
  *p = v;
}
template <class T>
ISOMER_EMULATOR_INLINE void __stcs(T* p, std::enable_if_t<true, T> v) {
  *p = v;
}
template <class T>
ISOMER_EMULATOR_INLINE void __stwb(T* p, std::enable_if_t<true, T> v) {
  *p = v;
}
template <class T>
ISOMER_EMULATOR_INLINE void __stwt(T* p, std::enable_if_t<true, T> v) {
  *p = v;
}

// Not alignas: in a typedef it may stand behind the type.
#define __align__(N) __attribute__((aligned(N)))
#define __builtin_align__(N) __attribute__((aligned(N)))
