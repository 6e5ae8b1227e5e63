#pragma once

#include "ops/attention/gpu/sm90_tiling.hpp"

namespace isomer::ops::attention {

/// Why the Hopper kernel for wide values does not take the call, or another does better; empty where it takes
/// it.
std::string refuse_sm90_wide(const Geometry& geometry, const AttentionOptions& options,
                             const gpu::Facts& facts);

/// Of a call that is not refused: tiles of 64 rows, always in pieces.
Sm90Tiling tile_up_sm90_wide(const Geometry& geometry, const AttentionOptions& options,
                             const gpu::Facts& facts);

}  // namespace isomer::ops::attention
