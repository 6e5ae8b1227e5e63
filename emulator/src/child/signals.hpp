// What ends the user's code from outside becomes a sentence: signals and the time limit.
#pragma once

#include <vector>

#include "isomer/emulator/module.hpp"

namespace isomer::emulator {

struct Stopped {
  int signal = 0;
  bool too_large = false;  ///< time was up, and not because something does not end
  bool for_ever = false;   ///< time was up, and its threads wait for what never comes
  bool in_kernel = false;
  std::string sentence;
  Place place;  ///< of host code; a kernel's is in the reports
};

/// Device memory that host code of the user's touched while it was closed, the first time.
struct Touched {
  const void* address = nullptr;  ///< null: it touched none
  bool writes = false;
  std::vector<void*> frames;  ///< return addresses, the innermost first
};
/// What was touched since this was asked.
Touched take_touched();

/// "a segmentation fault"
const char* signal_word(int number);
/// From now on a signal ends this process: the handler calls `begin` at once, and `deliver` when it knows the
/// place.
void on_stop(void (*begin)(), void (*deliver)(const Stopped&));
/// SIGALRM when the process has had so many seconds, of the processor's time where it works, of the clock's
/// where it only waits, and at most kPatience as many of the clock's; 0: never. After `idle` seconds already
/// where no block and no launch comes to its end; 0: not before.
void limit_time(double seconds, double idle = 0);
inline constexpr double kPatience = 4;

/// The processor's seconds since `begin_work`.
void begin_work();
double worked_seconds();

}  // namespace isomer::emulator
