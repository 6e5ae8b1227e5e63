#pragma once

#include <string>

namespace isomer::emulator {

/// The last line with letters of what a program printed, cut, without what a terminal would obey.
std::string last_line(const std::string& printed);

}  // namespace isomer::emulator
