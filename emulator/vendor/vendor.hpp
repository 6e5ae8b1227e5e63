#pragma once

namespace isomer::emulator {

/// Adds `emulated` to Isomer's vendors: GPU kernels of the library run on the CPU, watched. emulated:0 has
/// warps of 32 lanes, emulated:1 of 64. ISOMER_EMULATED_WATCH=0 compiles without hooks: faster, and sees no
/// fault.
void register_vendor();

}  // namespace isomer::emulator
