// What this machine has to contain strangers' code with.
#pragma once

#include <string>

namespace isomer::emulator {

/// The path of bubblewrap where it is there and may make namespaces; empty otherwise.
const std::string& bubblewrap();

}  // namespace isomer::emulator
