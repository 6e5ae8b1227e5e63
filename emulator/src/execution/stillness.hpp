// Whether threads that all wait in loops wait in vain: nobody is left who would write what they wait for.
#pragma once

#include <cstdint>

namespace isomer::emulator {

struct Launch;

/// Follows the rounds of one worker's waiting blocks. That they wait for ever is taken as shown when all the
/// launch's threads that are left wait in loops, no memory that a device thread can write has changed over
/// thousands of rounds, and there is none that the host could write meanwhile.
class Stillness {
 public:
  /// After a round in which every thread of the worker's blocks looked for something and none came further.
  void round(Launch& launch, std::uint64_t blocks);
  /// After a round in which one did, or a block has ended.
  void moved(Launch& launch);
  std::uint64_t rounds() const { return rounds_; }

 private:
  std::uint64_t rounds_ = 0, memory_ = 0, held_ = 0;
};

}  // namespace isomer::emulator
