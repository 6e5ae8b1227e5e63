// Tiles of a launch whose blocks stay and take one tile after the other, as each gets ready.
#pragma once

#include "gpu/device/sm90/arch.cuh"

namespace isomer::device::sm90 {

/// The first tile of a block is its own number; each later one is the next that nobody took. `next` is 0
/// before the launch and 0 again behind it: every tile is followed by one claim, and the last puts it back.
struct TileCounter {
  u32* next;

  static ISOMER_DEVICE u32 first() { return blockIdx.x; }
  /// By one thread of the block, once for each tile that it had. What it returns takes a while to arrive: the
  /// tile is asked for by tile_of() where it is needed.
  ISOMER_DEVICE u32 claim() const {
#if ISOMER_CUDA_ARCH || defined(ISOMER_EMULATED)
    return atomicAdd(next, 1u);
#else
    return 0;
#endif
  }
  static ISOMER_DEVICE u32 tile_of(u32 claimed) { return claimed + gridDim.x; }
  /// By the same thread, with the tile that does not exist: there are `tiles`.
  ISOMER_DEVICE void end(u32 tile, u32 tiles) const {
    if (tile - gridDim.x == tiles - 1) *next = 0;
  }
};

}  // namespace isomer::device::sm90
