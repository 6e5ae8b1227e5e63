// Everything of the language that both runtimes share.
#pragma once

#include "atomics.h"
#include "language.h"
#include "math.h"
#include "simd.h"
#include "special_functions.h"
#include "surface.h"
#include "texture.h"
#include "warp.h"

// Addresses of shared memory as its instructions have them: 32 bits.
#include "hopper.h"
ISOMER_EMULATOR_INLINE std::size_t __cvta_generic_to_shared(const void* p) {
  return isomer_emulator_shared_address(p);
}
ISOMER_EMULATOR_INLINE std::size_t __cvta_generic_to_global(const void* p) {
  return reinterpret_cast<std::size_t>(p);
}
