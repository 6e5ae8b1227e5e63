// What the emulator throws: one sentence.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

/// Of BuildOptions::every_refused_line: the lines of the source, each once, in its order.
class ISOMER_EMULATOR_EXPORT RefusedLines : public Error {
 public:
  RefusedLines(const std::string& first_complaint, std::vector<int> refused)
      : Error(first_complaint), lines(std::move(refused)) {}
  std::vector<int> lines;
};

}  // namespace isomer::emulator
