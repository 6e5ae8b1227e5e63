// What differs between NVRTC, nvcc, hipRTC, hipcc and the emulator.
#pragma once

#if defined(ISOMER_EMULATED)
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#elif defined(__HIP__) && !defined(__HIPCC_RTC__)
#include <hip/hip_runtime.h>
#endif

#include "gpu/device/types.h"

#if defined(__HIP__) || defined(__HIP_PLATFORM_AMD__)
#define ISOMER_HIP 1
#else
#define ISOMER_HIP 0
#endif
#if defined(__CUDA_ARCH__) && !defined(ISOMER_EMULATED)
#define ISOMER_CUDA_ARCH __CUDA_ARCH__
#else
#define ISOMER_CUDA_ARCH 0
#endif

#define ISOMER_DEVICE __device__ __forceinline__

namespace isomer::device {

/// Lanes of a warp (a wavefront): a constant of the compiled kernel.
#if defined(ISOMER_LANES)
constexpr int kWarpSize = ISOMER_LANES;
#elif ISOMER_HIP && defined(__AMDGCN_WAVEFRONT_SIZE)
constexpr int kWarpSize = __AMDGCN_WAVEFRONT_SIZE;
#elif ISOMER_HIP
constexpr int kWarpSize = 64;
#else
constexpr int kWarpSize = 32;
#endif

ISOMER_DEVICE int lane() { return static_cast<int>(threadIdx.x) % kWarpSize; }
ISOMER_DEVICE int warp() { return static_cast<int>(threadIdx.x) / kWarpSize; }

/// The second argument of __launch_bounds__ that leaves registers for so many blocks on a multiprocessor at
/// once. AMD's compilers count the wavefronts on one of its four SIMDs.
constexpr int resident_blocks(int threads, int blocks) {
#if ISOMER_HIP
  return threads / kWarpSize * blocks > 4 ? threads / kWarpSize * blocks / 4 : 1;
#else
  return threads > 0 ? blocks : 0;
#endif
}

/// Bytes of one object into another. NVRTC knows memcpy and not the builtin.
ISOMER_DEVICE void copy_bytes(void* to, const void* from, unsigned long bytes) {
#if defined(__CUDACC_RTC__)
  memcpy(to, from, bytes);
#else
  __builtin_memcpy(to, from, bytes);
#endif
}

/// Keeps an address in registers, where the compiler would rather compute it again at each use.
template <class T>
ISOMER_DEVICE void keep_computed(const T*& address) {
#if ISOMER_CUDA_ARCH
  asm volatile("" : "+l"(address));
#else
  (void)address;
#endif
}

/// The same number, from which nothing is computed in front of a loop: for what is cheaper to compute anew
/// than to keep in registers.
ISOMER_DEVICE int computed_here(int value) {
#if ISOMER_CUDA_ARCH
  asm volatile("" : "+r"(value));
#endif
  return value;
}

template <class To, class From>
ISOMER_DEVICE To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  copy_bytes(&to, &from, sizeof(To));
  return to;
}

/// A value of another lane of the warp; every lane takes part.
template <class T>
ISOMER_DEVICE T shuffle_xor(T value, int mask) {
#if ISOMER_HIP
  return __shfl_xor(value, mask, kWarpSize);
#elif defined(ISOMER_EMULATED)
  return __shfl_xor_sync(kWarpSize == 64 ? ~0ull : 0xffffffffull, value, mask, kWarpSize);
#else
  return __shfl_xor_sync(0xffffffffu, value, mask);
#endif
}

template <class T>
ISOMER_DEVICE T shuffle(T value, int from) {
#if ISOMER_HIP
  return __shfl(value, from, kWarpSize);
#elif defined(ISOMER_EMULATED)
  return __shfl_sync(kWarpSize == 64 ? ~0ull : 0xffffffffull, value, from, kWarpSize);
#else
  return __shfl_sync(0xffffffffu, value, from);
#endif
}

/// Whether it is true in some lane of the warp; every lane takes part.
template <class Bool>
ISOMER_DEVICE bool any_lane(Bool is) {
#if ISOMER_HIP
  return __any(is) != 0;
#elif defined(ISOMER_EMULATED)
  return __any_sync(kWarpSize == 64 ? ~0ull : 0xffffffffull, is) != 0;
#else
  return __any_sync(0xffffffffu, is) != 0;
#endif
}

}  // namespace isomer::device
