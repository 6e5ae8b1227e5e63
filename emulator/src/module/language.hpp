// Which language a source is written in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace isomer::emulator {

bool is_hip(const std::vector<std::filesystem::path>& sources);
/// Whether a source has kernels or launches them, whatever its ending is.
bool has_kernels(const std::filesystem::path& source);
/// Whether a source may be C of the host: what such a compiler takes, C++ refuses here and there, and its
/// functions go by their plain names.
bool may_be_c(const std::filesystem::path& source);
/// Whether a source includes headers of a runtime or its libraries, or calls them.
bool names_runtime(const std::filesystem::path& source);
/// The emulator's headers are C++17: a source of an older standard is read as that.
std::string at_least_17(const std::string& standard);

}  // namespace isomer::emulator
