// What is thrown where an argument does not fit its parameter.
#pragma once

#include <stdexcept>

namespace isomer::emulator {

/// An argument that does not fit its parameter, or is not there: the function was not entered.
struct CallMismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A tensor whose element type the headers that the code is compiled against do not have.
struct UnknownElement : CallMismatch {
  using CallMismatch::CallMismatch;
};

}  // namespace isomer::emulator
