#pragma once

#include <filesystem>
#include <string>

namespace isomer::lab {

/// A source file that makes one function of a prebuilt library callable, from its C declaration. Throws
/// Error, one sentence, for a library that cannot run here: no ELF library, a PyTorch extension, device code
/// in it, no declaration.
std::filesystem::path source_for_library(const std::filesystem::path& library, const std::string& signature);

}  // namespace isomer::lab
