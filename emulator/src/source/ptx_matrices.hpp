// Inline PTX of matrices and of tensors' boxes.
#pragma once

#include <string>

#include "source/ptx_operands.hpp"

namespace isomer::emulator::source {

/// What becomes of such an instruction; empty where it is another.
std::string ptx_of_matrices(const Words& parts, const Words& operands, const PtxOperands& of);

}  // namespace isomer::emulator::source
