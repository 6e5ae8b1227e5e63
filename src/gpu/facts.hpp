#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::gpu {

/// What a kernel may use of a device beyond what every device has.
struct Capabilities {
  bool mma = false;        ///< a warp of 32 lanes multiplies fragments of 16-bit elements: gpu/device/mma.cuh
  bool fp8_mma = false;    ///< the same of FP8
  bool bulk_copy = false;  ///< tensor maps, and bulk copies that arrive at barriers in shared memory
  bool wgmma = false;      ///< a warpgroup multiplies tiles of shared memory
  bool clusters = false;   ///< blocks of a cluster reach each other's shared memory
  bool overlap = false;    ///< a launch may begin while the one ahead of it ends: gpu/device/overlap.cuh
};

/// What `has` lacks of what `needs` has, in words: "bulk tensor copies and wgmma"; empty where nothing lacks.
std::string lacking(const Capabilities& needs, const Capabilities& has);

/// Of NVIDIA's devices by their compute capability: 90 for 9.0.
Capabilities nvidia_capabilities(int compute_capability);

/// What a plan may ask about a device. The name of the architecture is for compilers, caches and people: what
/// a device can do is asked of `has`.
struct Facts {
  std::string name;          ///< "NVIDIA H200"
  std::string architecture;  ///< what kernels are compiled for: "sm_90a", "gfx90a", "emulated-32"
  Capabilities has = {};
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

/// A device of that architecture, for planning and compiling where there is none: "sm_80", "sm_90a",
/// "gfx90a", …. Null for an architecture that is not in the table.
const Facts* known_architecture(std::string_view architecture);
/// Those in the table.
std::vector<std::string> known_architectures();

}  // namespace isomer::gpu
