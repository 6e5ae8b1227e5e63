#pragma once

#include <isomer/export.hpp>

#include <stdexcept>
#include <string>

namespace isomer {

/// What kind of failure an Error reports. The numbers are those of isomer_status in isomer.h.
enum class ErrorCode : int {
  bad_argument = 1,   ///< a clause of the op's contract does not hold; nothing was written
  unsupported = 2,    ///< the call is valid, but no implementation on this machine accepts it
  out_of_memory = 3,  ///< workspace could not be allocated; nothing was written
  device = 4,         ///< the device or its driver reported a failure
  io = 5,             ///< a file could not be read or written, or is not what it claims to be
  internal = 6,       ///< a fault of the library
};

/// The one exception of the library: a code and one sentence that names op, argument, expected and got.
class ISOMER_API Error : public std::runtime_error {
 public:
  /// An error of that code with that sentence.
  Error(ErrorCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  ErrorCode code() const noexcept { return code_; }  ///< what kind of failure; what() is the sentence

 private:
  ErrorCode code_;
};

}  // namespace isomer
