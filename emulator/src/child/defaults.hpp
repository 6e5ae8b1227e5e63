// Arguments that a call leaves off.
#pragma once

#include <string>
#include <vector>

#include "child/session_wire.hpp"
#include "runtime/entries.hpp"

namespace isomer::emulator {

/// The arguments, filled up with the parameters' defaults. A sentence where they do not fit, else nothing.
std::string complete(const OfferedEntry& entry, std::vector<WireValue>& values);

}  // namespace isomer::emulator
