// Which accesses are ordered. See clock.hpp for the model.
#pragma once

#include <cstdint>
#include <vector>

#include "execution/block.hpp"

namespace isomer::emulator::watch {

/// A stretch of one thread's work between two steps of its clock.
struct Segment {
  std::uint64_t block = 0;
  std::uint32_t thread = 0;
  std::uint32_t epoch = 0;
  std::uint32_t tick = 0;
};

/// The number of the segment that the thread is in; never 0.
std::uint32_t segment_of(Block& block, Thread& thread);
const Segment& segment(std::uint32_t number);

/// Whether everything in the earlier segment happens before what the thread does now.
bool ordered(std::uint32_t earlier, Block& block, Thread& thread);

void block_barrier(Block& block);
void join(Block& block, const std::vector<Thread*>& members);
void fence(Block& block, Thread& thread);
void publish(Block& block, Thread& thread, const void* address, bool release);
void pick_up(Block& block, Thread& thread, const void* address);

/// Everything so far is ordered before everything that follows: a launch begins, or the grid met.
void new_phase();
void begin_launch();

}  // namespace isomer::emulator::watch
