#pragma once

#include "lab/names/kernel_name.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// One kernel of one architecture in a binary, with no NVIDIA tool.
struct BinaryKernel {
  std::string name;                          ///< mangled
  std::shared_ptr<const KernelName> parsed;  ///< one for all architectures
  std::string arch;                          ///< "sm_90a", "compute_90" for PTX, "gfx90a"
  std::uint32_t registers = 0, shared_bytes = 0, stack_bytes = 0, max_threads = 0;
  /// Of a thread's local memory: spilled registers and arrays alike, which ptxas does not record apart; AMD's
  /// compiler does.
  std::uint32_t spill_bytes = 0;
  bool resources_known = false;
  struct Parameter {
    std::uint32_t ordinal = 0, offset = 0, size = 0;
  };
  std::vector<Parameter> parameters;
  std::string code_hash;         ///< SHA-256 of the machine code; of PTX, of its text
  std::uint64_t code_bytes = 0;  ///< of the machine code
  struct OpcodeCount {
    std::uint16_t opcode;
    std::uint32_t count;
  };
  std::vector<OpcodeCount> opcodes;  ///< of machine code that is decoded
  std::string compiler, options;     ///< ptxas' note, where there is one
};

/// How often each instruction stands in a kernel's machine code, by its mnemonic.
std::map<std::string, std::uint32_t> instructions_of(const BinaryKernel& kernel);

/// .so, executable, .o, .a, .cubin, .fatbin, PTX, AMD code objects and offload bundles. A kernel that stands
/// there twice with the same machine code is one. Throws Error io with one sentence for what is none of these
/// or damaged. Of several images those that are damaged are left out as long as one is not; `notes` gets a
/// sentence for each of them.
std::vector<BinaryKernel> read_binary(const std::filesystem::path& path, std::vector<std::string>& notes);
std::vector<BinaryKernel> read_binary(const std::filesystem::path& path);
/// One such file in memory; `what` names it in errors.
std::vector<BinaryKernel> read_image(const std::uint8_t* data, std::size_t bytes, const std::string& what,
                                     std::vector<std::string>& notes);
std::vector<BinaryKernel> read_image(const std::uint8_t* data, std::size_t bytes, const std::string& what);
/// Whether a file begins as one of these does.
bool looks_like_binary(const std::filesystem::path& path);

}  // namespace isomer::lab
