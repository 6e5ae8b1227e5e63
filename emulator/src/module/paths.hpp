// Where the emulator's own parts lie: beside the library when installed, in the build tree before.
#pragma once

#include <filesystem>
#include <vector>

namespace isomer::emulator {

std::filesystem::path own_library();
/// Where the libraries of this process lie, the system's left out: in a wheel, those that ours need lie in a
/// folder of their own.
std::vector<std::filesystem::path> folders_of_libraries();
std::filesystem::path device_headers();
/// The runtimes' headers as C reads them.
std::filesystem::path c_headers();
/// What stands beside the vendor's own headers where a source is compiled for a real device, and what stands
/// for HIP's headers where its compiler is CUDA's.
std::filesystem::path toolkit_headers();
/// Whether a folder holds the headers of a vendor's installed toolkit. A program's Makefile may name it; what
/// the emulator has itself is read in front of it.
bool is_toolkit(const std::filesystem::path& folder);
std::filesystem::path hip_on_cuda_headers();
std::filesystem::path runner_program();
std::filesystem::path cache_directory();

}  // namespace isomer::emulator
