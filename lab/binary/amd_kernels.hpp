#pragma once

#include "lab/binary/elf.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {

/// A kernel of an AMD code object, as its metadata note describes it.
struct AmdKernel {
  std::string name;  ///< mangled
  std::string arch;  ///< "gfx90a"
  std::uint32_t vector_registers = 0, scalar_registers = 0, spilled_registers = 0;
  std::uint32_t group_bytes = 0, private_bytes = 0;  ///< LDS of a block, scratch of a thread; without what a
                                                     ///< launch adds
  std::uint32_t max_threads = 0;
  /// Offset and size of each parameter that the source has.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parameters;
  std::string code_hash;  ///< SHA-256 of the machine code; empty: it has no symbol
  std::uint64_t code_bytes = 0;
};

/// Throws Error io for metadata that is damaged.
std::vector<AmdKernel> amd_kernels(const Elf& elf);

}  // namespace isomer::lab
