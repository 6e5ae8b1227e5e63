// Copies into shared memory by the functions of C, which become the same calls as `cp.async`.
#pragma once

#include "cuda_runtime.h"

/// The last `zeros` of the bytes are filled with zeros.
ISOMER_EMULATOR_INLINE void __pipeline_memcpy_async(void* to_shared, const void* from, std::size_t bytes,
                                                    std::size_t zeros = 0) {
  isomer_emulator_copy_begins(to_shared, from, static_cast<unsigned>(bytes),
                              static_cast<unsigned>(bytes - zeros));
}
ISOMER_EMULATOR_INLINE void __pipeline_commit() { isomer_emulator_copies_commit(); }
ISOMER_EMULATOR_INLINE void __pipeline_wait_prior(std::size_t groups) {
  isomer_emulator_copies_wait(static_cast<unsigned>(groups));
}
