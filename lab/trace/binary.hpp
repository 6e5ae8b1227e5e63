#pragma once

#include "lab/trace/kernel_name.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace isomer::lab {

/// One kernel of one architecture in a binary, with no NVIDIA tool.
struct BinaryKernel {
  std::string name;  ///< mangled
  KernelName parsed;
  std::string arch;  ///< "sm_90a", "compute_90" for PTX, "gfx90a"
  std::uint32_t registers = 0, shared_bytes = 0, spill_bytes = 0, stack_bytes = 0, max_threads = 0;
  bool resources_known = false;
  struct Parameter {
    std::uint32_t ordinal = 0, offset = 0, size = 0;
  };
  std::vector<Parameter> parameters;
  std::string code_hash;                              ///< SHA-256 of the machine code
  std::map<std::string, std::uint32_t> instructions;  ///< opcode field histogram, where the code is decoded
  std::string compiler, options;                      ///< ptxas' note, where there is one
};

/// .so, executable, .o, .cubin, .fatbin, AMD code objects. Throws Error io with one sentence for what is
/// none.
std::vector<BinaryKernel> read_binary(const std::filesystem::path& path);
/// One cubin or fatbin in memory.
std::vector<BinaryKernel> read_image(const std::uint8_t* data, std::size_t bytes, const std::string& what);

}  // namespace isomer::lab
