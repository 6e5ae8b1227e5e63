#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::gpu {

/// What a plan may ask about a device.
struct Facts {
  std::string name;          ///< "NVIDIA H200"
  std::string architecture;  ///< what kernels are compiled for: "sm_90a", "gfx90a", "emulated"
  int warp_size = 32;
  int multiprocessors = 1;
  int threads_per_block = 1024;
  int threads_per_multiprocessor = 2048;
  int registers_per_multiprocessor = 65536;
  std::int64_t shared_per_block = 48 << 10;  ///< at most, after opting in
  std::int64_t shared_per_multiprocessor = 64 << 10;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
};

/// Whether a launch may begin while the one ahead of it ends: gpu/device/overlap.cuh.
bool launches_overlap(const Facts& facts);

/// A device of that architecture, for planning and compiling where there is none: "sm_80", "sm_90a",
/// "gfx90a", …. Null for an architecture that is not in the table.
const Facts* known_architecture(std::string_view architecture);
/// Those in the table.
std::vector<std::string> known_architectures();

}  // namespace isomer::gpu
