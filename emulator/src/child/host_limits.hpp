// What the user's code may take of this process while it runs.
#pragma once

#include <cstdint>

namespace isomer::emulator {

/// From now on: so many bytes of host memory on top of what there is, and files of that size at most.
void begin_host_limits(std::uint64_t memory, std::uint64_t file);
void end_host_limits();

}  // namespace isomer::emulator
