// Who called: the host's return addresses, innermost first.
#pragma once

#include <execinfo.h>

#include <vector>

namespace isomer::emulator {

inline std::vector<void*> callers() {
  std::vector<void*> frames(16);
  frames.resize(static_cast<std::size_t>(backtrace(frames.data(), static_cast<int>(frames.size()))));
  return frames;
}

}  // namespace isomer::emulator
