// The headers at the beginning of a source, compiled once for all sources that begin with them: PyTorch's
// take seven of the eight seconds that a candidate takes, the emulator's own half of the rest, and a batch has
// hundreds of sources that begin alike.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isomer/emulator/module.hpp"

namespace isomer::emulator {

/// What to compile in place of `text`: the same, with its beginning taken from a precompiled header where one
/// is worth its making (text that is long enough and has been seen some times). Empty where there is none.
/// `command` is the compiler, which must be g++, and the flags of the compilation.
std::string with_precompiled_headers(const BuildOptions& options, const std::vector<std::string>& command,
                                     const std::vector<std::string>& folders, const std::string& text);

}  // namespace isomer::emulator
