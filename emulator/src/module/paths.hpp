// Where the emulator's own parts lie: beside the library when installed, in the build tree before.
#pragma once

#include <filesystem>

namespace isomer::emulator {

std::filesystem::path own_library();
std::filesystem::path device_headers();
std::filesystem::path runner_program();
std::filesystem::path cache_directory();

}  // namespace isomer::emulator
