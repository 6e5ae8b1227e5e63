// The launches of this process, oldest first.
#pragma once

#include <vector>

#include "isomer/emulator/report.hpp"

namespace isomer::emulator {

void add_record(LaunchRecord record);
std::vector<LaunchRecord> take_records();

}  // namespace isomer::emulator
