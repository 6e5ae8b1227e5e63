// Tiles of a launch whose blocks stay and take one tile after the other, as each gets ready.
#pragma once

#include "gpu/device/sm90/arch.cuh"

namespace isomer::device::sm90 {

/// The first tile of a block is its own number; each later one is the next that nobody took. `next` is 0
/// before the launch and 0 again behind it: every tile is followed by one claim, and the last of them puts it
/// back.
struct TileCounter {
  u32* next;
  u32 tiles;

  /// By one thread of the block, once for each tile that it had. What it returns says the tile by tile_of().
  ISOMER_DEVICE u32 claim() const {
#if ISOMER_CUDA_ARCH || defined(ISOMER_EMULATED)
    return atomicAdd(next, 1u);
#else
    return 0;
#endif
  }
  /// `tiles` or more: there is none left.
  ISOMER_DEVICE u32 tile_of(u32 claimed) const {
    if (claimed == tiles - 1) *next = 0;
    return claimed + gridDim.x;
  }
};

}  // namespace isomer::device::sm90
