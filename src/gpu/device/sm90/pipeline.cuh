// A ring of stages in shared memory between one that fills and those that use: a place in it.
#pragma once

#include "gpu/device/sm90/barrier.cuh"

namespace isomer::device::sm90 {

/// Stage and phase of one who goes round the ring. Users wait for a stage's `full` barrier with parity
/// `phase`; the one who fills waits for its `empty` barrier with parity phase ^ 1, which passes in the first
/// round.
template <int kStages>
struct Pipeline {
  int stage = 0;
  u32 phase = 0;

  ISOMER_DEVICE void advance() {
    if constexpr (kStages == 2) {
      stage ^= 1;
      phase ^= stage == 0;
    } else if (++stage == kStages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

}  // namespace isomer::device::sm90
