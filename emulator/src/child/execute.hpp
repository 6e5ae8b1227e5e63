// Doing a request in this process.
#pragma once

#include <cstddef>

#include "child/wire.hpp"

namespace isomer::emulator {

/// Loads the module, moves the buffers (`shared`: the file that they travel in), runs, and collects what
/// happened. Does not catch what the user's code does to the process.
RunResult execute(const Request& request, std::byte* shared);

/// Everything reported, recorded and refused so far.
void collect(RunResult& result);

}  // namespace isomer::emulator
