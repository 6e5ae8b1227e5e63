// Registers that warpgroups hand to one another (setmaxnreg).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "execution/block.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator::hopper {

class RegisterPool {
 public:
  explicit RegisterPool(Block& block) : block_(block) {}
  void begin();
  /// The running thread's warpgroup is to have so many registers a thread: it gives back the others, or takes
  /// what is free and waits until enough is.
  void set(unsigned registers, bool takes, const watch::Site& site);
  /// Says what does not add up where warpgroups wait for registers in vain.
  void explain_stuck();
  std::string waits_for(const Thread& thread) const;

 private:
  struct OfWarpgroup {
    unsigned registers = 0;  ///< of each thread
    unsigned wanted = 0;     ///< 0: no change under way
    bool takes = false;
    unsigned arrived = 0;
    watch::Site site;
  };
  unsigned used() const;
  void serve();

  Block& block_;
  unsigned launched_ = 0;
  std::vector<OfWarpgroup> warpgroups_;
  std::vector<bool> waiting_;  ///< by thread
};

}  // namespace isomer::emulator::hopper
