#pragma once

#include "lab/candidate/candidate.hpp"

#include <filesystem>

namespace isomer::lab {

/// A source file that makes one function of a prebuilt library callable, from its C declaration. Throws
/// Error, one sentence, for a library that cannot run there: no ELF library, a PyTorch extension, device code
/// in it for the emulated device, no declaration.
std::filesystem::path source_for_library(const std::filesystem::path& library, const BuildSettings& settings);

}  // namespace isomer::lab
