// A launch that begins before the one ahead of it in the stream has ended: what a step with overlap_previous
// is compiled with. Nothing at all where the hardware has no such launches, or the step was launched after
// the other's end. A kernel that waits does so in every block and before it touches memory: only then does
// its own end say that the others ended.
#pragma once

#include "gpu/device/platform.cuh"

namespace isomer::device {

/// The next launch may begin as soon as every block has said so, or ended.
ISOMER_DEVICE void let_next_begin() {
#if ISOMER_CUDA_ARCH >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Until the launch ahead has ended and what it wrote can be read.
ISOMER_DEVICE void wait_for_previous() {
#if ISOMER_CUDA_ARCH >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Asks for the line of 128 bytes at `at` to be brought into the L2 cache. That reads nothing: what the
/// launch ahead still writes there is what a later load sees. So it may stand in front of
/// wait_for_previous().
ISOMER_DEVICE void fetch_ahead(const void* at) {
#if ISOMER_CUDA_ARCH >= 900
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at) : "memory");
#else
  static_cast<void>(at);
#endif
}

}  // namespace isomer::device
