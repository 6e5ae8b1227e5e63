// How strangers' code is kept to itself while it is compiled and while it runs.
#pragma once

#include <string>
#include <vector>

#include "isomer/emulator/export.hpp"

namespace isomer::emulator {

/// strict: nothing of a stranger's is compiled or run where it cannot be contained as `best` does at its
/// best. best: by namespaces (bubblewrap), Landlock, seccomp and limits, as far as this machine has them.
/// none: limits alone, for one's own code.
enum class Isolation { strict, best, none };

/// Of this process from now on, and of what it forks. Throws Error where strict cannot be had, with what is
/// missing.
ISOMER_EMULATOR_EXPORT void isolate(Isolation isolation);
ISOMER_EMULATOR_EXPORT Isolation isolation();

/// One means of containing, as `isomer doctor` shows it.
struct Means {
  std::string name;
  bool there = false;
  std::string detail;  ///< what it is for, or why it is not there
  std::string remedy;
};
/// Looked for once in a process, by trying.
ISOMER_EMULATOR_EXPORT const std::vector<Means>& means_of_containment();
/// Names of those that are not there; empty where strangers' code can be contained wholly.
ISOMER_EMULATOR_EXPORT std::vector<std::string> missing_means();

}  // namespace isomer::emulator
