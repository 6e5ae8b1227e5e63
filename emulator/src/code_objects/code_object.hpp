// A code object: the text that stands for a built module where a program has a real device's machine code.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "isomer/emulator/module.hpp"

namespace isomer::emulator {

/// Options as the running program itself was built with.
BuildOptions as_the_program(const std::filesystem::path& source);
/// Builds a source and gives the code object's text. Throws Error.
std::string code_object_of(const BuildOptions& options);
/// The module that a code object names; empty where the bytes are none of the emulator's. Reads no further than
/// to where they differ.
std::filesystem::path module_of(const char* image);

}  // namespace isomer::emulator
