// The tables of the inline PTX that is executed: what becomes of an instruction, and what a special register
// is.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace isomer::emulator::source {

struct PtxRow {
  const char* name;
  const char* expression;
};

/// Instructions whose value is an expression in their operands $1, $2, …, each of the instruction's type T.
const std::vector<PtxRow>& ptx_values();
/// Instructions without a value that need nothing but their name; operands stand as %1, %2, … where they have
/// any.
const std::vector<PtxRow>& ptx_actions();
/// An instruction of the asynchronous units with so many operands; empty where it is none that is known. `#1`
/// stands for a number, `&1` for an address, `@1` for one in shared memory, `=1` for what gets the value.
std::string ptx_of_units(const std::vector<std::string>& parts, std::size_t operands, bool waits_only);
/// What a register gives, by its name: "%laneid".
const std::map<std::string, std::string>& ptx_registers();
/// The names of isomer_emulator/ptx.h that those expressions, and code made beside them, may have.
const std::set<std::string>& ptx_names();

}  // namespace isomer::emulator::source
