// Copies from global into shared memory that run beside the arithmetic, from sm_80 on; elsewhere they are
// done at once.
#pragma once

#include "gpu/device/platform.cuh"
#include "gpu/device/vector.cuh"

namespace isomer::device {

/// Copies the first `valid` of kBytes (4, 8 or 16) and writes zeros for the rest. Both addresses are
/// multiples of kBytes; of `from` nothing is read behind the valid bytes.
template <int kBytes>
ISOMER_DEVICE void copy_async(void* to, const void* from, int valid) {
#if ISOMER_CUDA_ARCH >= 800
  const u32 address = static_cast<u32>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(valid)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(kBytes),
                 "r"(valid)
                 : "memory");
#else
  Vector<u8, kBytes> bytes;
  if (valid == kBytes) {
    bytes = load<kBytes>(static_cast<const u8*>(from));
  } else {
    for (int i = 0; i < kBytes; ++i) bytes.of[i] = i < valid ? static_cast<const u8*>(from)[i] : u8{0};
  }
  store<kBytes>(static_cast<u8*>(to), bytes);
#endif
}

/// Ends a group of this thread's copies.
ISOMER_DEVICE void end_copies() {
#if ISOMER_CUDA_ARCH >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most kGroups of this thread's groups are under way. What other lanes or warps copied needs
/// a barrier behind it.
template <int kGroups>
ISOMER_DEVICE void wait_copies() {
#if ISOMER_CUDA_ARCH >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
#endif
}

/// The same copies of one thread, in groups that it waits for by their number. The emulator holds a copy back
/// until its group is waited for, and leaves NaNs in its place until then: who reads too early sees them.
template <int kMost>
class AsyncCopies {
 public:
  /// As copy_async. At most kMost copies are under way.
  template <int kBytes>
  ISOMER_DEVICE void copy(void* to, const void* from, int valid) {
#if defined(ISOMER_EMULATED)
    if (count_ == kMost) __builtin_trap();
    Vector<u8, kBytes> nothing;
    for (int i = 0; i < kBytes; ++i) nothing.of[i] = 0xff;
    store<kBytes>(static_cast<u8*>(to), nothing);
    held_[count_++] = {to, from, valid, kBytes, group_};
#else
    copy_async<kBytes>(to, from, valid);
#endif
  }
  ISOMER_DEVICE void end_group() {
#if defined(ISOMER_EMULATED)
    ++group_;
#else
    end_copies();
#endif
  }
  /// As wait_copies.
  template <int kGroups>
  ISOMER_DEVICE void wait() {
#if defined(ISOMER_EMULATED)
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      const Held& held = held_[i];
      if (held.group + kGroups >= group_)
        held_[kept++] = held;
      else if (held.bytes == 16)
        copy_async<16>(held.to, held.from, held.valid);
      else
        copy_async<4>(held.to, held.from, held.valid);
    }
    count_ = kept;
#else
    wait_copies<kGroups>();
#endif
  }

 private:
#if defined(ISOMER_EMULATED)
  struct Held {
    void* to;
    const void* from;
    int valid, bytes, group;
  };
  Held held_[kMost];
  int count_ = 0, group_ = 0;
#endif
};

/// Orders the accesses of the warp's lanes to shared memory before it and behind it; every lane takes part.
ISOMER_DEVICE void warp_barrier() {
#if ISOMER_HIP
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
#else
  __syncwarp();
#endif
}

}  // namespace isomer::device
