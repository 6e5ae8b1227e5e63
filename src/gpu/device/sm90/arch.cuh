// Words for what Hopper (sm_90a) has: bulk copies, barriers that count bytes, products of warpgroups. Each
// says what the hardware does and has its PTX body behind ISOMER_SM90, and one for the emulator, which
// carries out copies and products as late as it may and reports what breaks their rules. Kernels that use
// them write no PTX and touch shared memory that copies or products see through words alone. Shared memory is
// named by its address there, a u32: swizzles are functions of its bits.
#pragma once

#include "gpu/device/platform.cuh"

#if ISOMER_CUDA_ARCH >= 900 && ISOMER_CUDA_ARCH < 1000
#define ISOMER_SM90 1
#else
#define ISOMER_SM90 0
#endif

#if defined(ISOMER_EMULATED)
#include <isomer_emulator/hopper.h>
namespace isomer::device::sm90 {
static const emulator::WordsBeside words_beside(__FILE__);
}
#endif
