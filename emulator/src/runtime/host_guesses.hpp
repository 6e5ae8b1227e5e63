// With a sample of the blocks, results are unfinished. What the host makes of one and sends back is a guess,
// as what a device thread makes of one is.
#pragma once

#include <cstddef>

#include "memory/memory.hpp"

namespace isomer::emulator::host_guesses {

/// The host copies these bytes of a buffer out.
void reads(const Buffer& from);
/// The host copies bytes in: whether they may come of an unfinished result. What it had copied in before it
/// saw one does not.
bool sends(const void* from, std::size_t bytes);

}  // namespace isomer::emulator::host_guesses
