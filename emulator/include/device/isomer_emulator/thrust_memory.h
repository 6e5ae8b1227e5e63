// Memory of Thrust's device system, which is the host here: device buffers, so that kernels may use them.
// Thrust's algorithms write device memory unseen; a program that has Thrust is not judged for unwritten
// memory.
#pragma once

#include <new>

#include "abi.h"

namespace isomer::emulator {
inline const bool thrust_writes_unseen = (isomer_emulator_host_writes_unseen(), true);

inline void* thrust_malloc(std::size_t bytes) {
  void* begin = nullptr;
  return isomer_emulator_malloc(&begin, bytes, 1) == 0 ? begin : nullptr;
}
inline void thrust_free(void* begin) { isomer_emulator_free(begin); }
}  // namespace isomer::emulator
