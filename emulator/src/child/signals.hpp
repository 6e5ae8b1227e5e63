// What ends the user's code from outside becomes a sentence: signals and the time limit.
#pragma once

#include "isomer/emulator/module.hpp"

namespace isomer::emulator {

struct Stopped {
  int signal = 0;
  bool too_large = false;  ///< time was up, and not because something does not end
  std::string sentence;
  Place place;  ///< of host code; a kernel's is in the reports
};

/// From now on a signal ends this process: the handler calls `begin` at once, and `deliver` when it knows the
/// place.
void on_stop(void (*begin)(), void (*deliver)(const Stopped&));
/// SIGALRM after so many seconds; 0: never.
void limit_time(double seconds);

}  // namespace isomer::emulator
