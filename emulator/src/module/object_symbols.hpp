// What an object file defines for others, and what it takes from them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace isomer::emulator {

struct ObjectSymbols {
  std::vector<std::string> defined, taken;
};
/// Of a 64-bit ELF object; nothing where the file is none.
ObjectSymbols symbols_of_object(const std::filesystem::path& file);

/// A name that the checker's own watch or library has: who defines it switches the watch off, or answers in
/// its place. Empty where none of them is one.
std::string checkers_own(const std::vector<std::string>& defined, const std::string& source);
/// "uses NAME" of functions of the system that look at who calls, reach other processes, or reach out of this
/// one; "defines NAME" of those of the C library that it has in their place. A name that PyTorch's headers
/// use too counts where the source has it.
std::vector<std::string> reaching_out(const ObjectSymbols& symbols, const std::string& source);

}  // namespace isomer::emulator
