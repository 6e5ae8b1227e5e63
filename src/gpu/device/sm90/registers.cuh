// Registers that warpgroups of a block hand to one another. The kernel's launch bounds fix what each thread
// begins with, and the sum over the block must never exceed that: 384 threads begin with 168 each, and 40 +
// 2·232 = 3·168.
#pragma once

#include "gpu/device/sm90/arch.cuh"

namespace isomer::device::sm90 {

/// Every warp of the warpgroup gives back all but kRegisters of each thread.
template <int kRegisters>
ISOMER_DEVICE void keep_registers() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256);
#if ISOMER_SM90
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
#elif defined(ISOMER_EMULATED)
  isomer_emulator_set_registers(kRegisters, 0);
#endif
}
/// Every warp of the warpgroup takes up to kRegisters for each thread, when they are free.
template <int kRegisters>
ISOMER_DEVICE void take_registers() {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256);
#if ISOMER_SM90
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
#elif defined(ISOMER_EMULATED)
  isomer_emulator_set_registers(kRegisters, 1);
#endif
}

}  // namespace isomer::device::sm90
