#pragma once

#include "ops/attention/gpu/tiling.hpp"

namespace isomer::ops::attention {

/// How the mma.sync kernel cuts a call into blocks, as GpuTiling has it, and what a block has.
struct Sm80Tiling : GpuTiling {
  int warps = 0;
  int stages = 0;           ///< of k and v in shared memory
  int blocks_together = 0;  ///< of a multiprocessor, for which registers are left
  bool pages = false;
  std::int64_t section = 1;  ///< units of all entries whose k and v lie in L2 together
};

/// Why the mma.sync kernel does not take the call, or another does better; empty where it takes it.
std::string refuse_sm80(const Geometry& geometry, const AttentionOptions& options, const gpu::Facts& facts);

/// Of a call that is not refused.
Sm80Tiling tile_up_sm80(const Geometry& geometry, const AttentionOptions& options, const gpu::Facts& facts);

}  // namespace isomer::ops::attention
