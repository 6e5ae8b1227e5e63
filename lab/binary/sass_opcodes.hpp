#pragma once

#include "lab/binary/binary.hpp"
#include "lab/binary/bytes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace isomer::lab {

/// The mnemonic of an opcode field of sm_70 and later, "0x1a3" where it is not known.
std::string opcode_name(std::uint16_t field);

/// How often each opcode stands in a kernel's machine code: 128-bit instructions, the opcode in the lowest
/// bits.
std::vector<BinaryKernel::OpcodeCount> count_opcodes(const Bytes& code);

}  // namespace isomer::lab
