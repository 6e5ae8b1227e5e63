// With a sample of the blocks, what those that are left out would have written is guessed: who reads it is judged
// no further.
#pragma once

#include <cstddef>

#include "memory/memory.hpp"

namespace isomer::emulator::watch {

/// The host wrote these bytes, and what it wrote comes of an unfinished result.
void mark_guessed(const void* address, std::size_t bytes);
/// A launch has ended of which blocks were left out: what they would have written to the buffer is guessed.
void leave_guesses(Buffer& buffer);

/// What the atomics of such a launch count, the blocks left out would have counted on: from its end on it is
/// guessed. True while one runs.
extern bool counts_a_sample;
void begin_counting();
void note_count(const void* address, std::size_t bytes);
void end_counting(bool left_out);

}  // namespace isomer::emulator::watch
