#pragma once

#include <string>
#include <string_view>

namespace isomer::stand_in {

// ISOMER_STAND_IN_FAULT plants faults: names separated by commas, each with an optional value behind a colon.
//
//   no-device                    no device is seen
//   init-failed                  the driver does not start
//   old-driver                   an interface version from before those that Isomer takes
//   old-compiler                 the same of NVRTC
//   context-out-of-memory        the device has no memory for a context (cuda)
//   no-function:NAME             the driver has no such function
//   out-of-memory:N              the Nth allocation, and every later one, finds no memory
//   module-out-of-memory         no module can be loaded for want of memory
//   refused-image:N              the first N images are called invalid
//   refused-architecture         the compiler does not know the architecture
//   padded:N                     code is N bytes longer
//   compile-error                every program has an error
//   lost-device:N                the Nth launch, and everything after it, fails as on a lost device
//   nameless-architecture        the device's architecture has no name (hip)

/// Planted at this moment.
bool planted(std::string_view fault);
/// Its value; empty where it has none or is not planted.
std::string value_of(std::string_view fault);
/// The number behind the colon, 1 without one; 0 where it is not planted.
int number_of(std::string_view fault);

/// ISOMER_STAND_IN_EXECUTE=0, or a build without the emulator: compiling makes an image and launching does
/// nothing.
bool executes();

}  // namespace isomer::stand_in
