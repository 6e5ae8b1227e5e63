// How far the process's launches have come: what takes long is told from what never ends.
#pragma once

#include <cstdint>

namespace isomer::emulator {

struct Launch;

/// What comes is given so many seconds; 0: any. As soon as the blocks of a launch show that it would need
/// several times as many, `give_up` is called.
void expect_end_within(double seconds, void (*give_up)());

/// Around the run of each launch, and at the end of each of its blocks.
void launch_begins(const Launch& launch);
void block_ends(Launch& launch);
void launch_ends();

struct Progress {
  bool moves = false;  ///< a block, or one of not too many launches, has ended within the last quarter of the
                       ///< time, or a block within three times of what each took so far
  std::uint64_t ended = 0, blocks = 0;  ///< of the launch under way; no blocks: there is none
  const char* kernel = "";              ///< of that launch
  std::uint64_t launches = 0;           ///< that have ended
};
/// The time that counts for "within" is the clock's for a process that only waits, and the processor's for
/// one that works, however many others want it. Reads nothing but memory and clocks, for a signal's handler.
Progress progress(bool waits);

}  // namespace isomer::emulator
