// A device goes on where this machine's processor stops: at an integer division by zero, or of the lowest
// number by -1.
#pragma once

#include <ucontext.h>

namespace isomer::emulator {

/// Gives the registers what a device's have behind the division that stopped the running device thread, so
/// that it goes on behind it, and tells of the division. False where no device thread or no such division
/// stopped.
bool divides_as_a_device(ucontext_t* context);

}  // namespace isomer::emulator
