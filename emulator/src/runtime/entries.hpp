// The functions and kernels that the loaded module offers to callers outside.
#pragma once

#include <string>
#include <vector>

#include "isomer/emulator/session.hpp"
#include "isomer_emulator/entries_abi.h"

namespace isomer::emulator {

/// One entry with its description and its call.
struct OfferedEntry {
  EntryInfo info;
  CallEntry call;
  std::string launch_name;            ///< of a kernel: keeps the name that records and reports show
  std::vector<std::string> defaults;  ///< as written, one for each parameter; empty where there is none
};

/// Runs what the module registers late (its bindings), then describes everything: exported entries first,
/// then functions and kernels in the order of the source. Lets exceptions of the module's code through.
std::vector<OfferedEntry> offered_entries();

}  // namespace isomer::emulator
