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

}  // namespace isomer::device
