// What a process that was killed could not remove: its name says whose it is, and the next one removes it.
#pragma once

#include <string>

#include "isomer/emulator/export.hpp"

namespace isomer::emulator {

/// "NAMES.PROCESS" of this process; NAMES says where its number means it: the machine since its start, and
/// the namespace of its numbers.
ISOMER_EMULATOR_EXPORT std::string owners_mark();
/// Whether `mark` is that of a process of this machine and namespace which has ended. False for what is no
/// mark.
ISOMER_EMULATOR_EXPORT bool is_of_ended_process(const std::string& mark);

/// Removes unfinished builds from the cache and empty cgroups, those of processes that have ended.
ISOMER_EMULATOR_EXPORT void remove_leftovers();

}  // namespace isomer::emulator
