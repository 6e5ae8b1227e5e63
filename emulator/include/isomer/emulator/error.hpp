// What the emulator throws: one sentence.
#pragma once

#include <stdexcept>

#include "isomer/emulator/export.hpp"

namespace isomer::emulator {

/// The message is one sentence that a user can act on: what was expected, what came, where.
class ISOMER_EMULATOR_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What this machine could not do (no room on a disk, no memory, no process), which says nothing of the code.
class ISOMER_EMULATOR_EXPORT MachineError : public Error {
 public:
  using Error::Error;
};

}  // namespace isomer::emulator
