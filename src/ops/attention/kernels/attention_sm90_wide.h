#pragma once

#include "ops/attention/kernels/attention_sm90.h"

namespace isomer::device {

/// Shared memory of a block of the kernel for wide values, in bytes from a multiple of 1024 on. Everything
/// lies in panels of 64 rows of 128 bytes, swizzled: Q and then its queries of v, K and then V.
struct AttentionSm90WideLayout {
  static constexpr int kRows = 64, kKeys = 64;  ///< queries of a tile, keys of a block
  static constexpr int kPanelColumns = 64, kPanelBytes = 64 * 128;
  static constexpr int kStages = 2;
  static constexpr int kTileSlots = 4, kSlotBytes = 80;
  static constexpr int kReferences = 0, kSums = 2 * kRows * 4, kSlots = 2 * kSums;  ///< from `state` on
  static constexpr int kBarriers = kSlots + kTileSlots * kSlotBytes;
  static constexpr int kNotes =
      kBarriers + (2 + 6 * kStages) * 8;  ///< of the producer's warp, 16 bytes twice
  static constexpr int kStateBytes = (kNotes + 15) / 16 * 16 + 32;

  int panels;        ///< of a row of v
  int stage, state;  ///< bytes of K and V of a block; where what is no panel begins
  int bytes;         ///< all

  constexpr explicit AttentionSm90WideLayout(int head_dim_v)
      : panels(head_dim_v / kPanelColumns),
        stage((1 + panels) * kPanelBytes),
        state((1 + kStages) * stage),
        bytes(state + kStateBytes + 1024) {}  // the base is rounded up
};

/// One call with wide values, or with queries of v.
struct AttentionSm90WideParameters {
  TensorMap qv_map;  ///< as the call's q_map
  AttentionRows qv;  ///< null: none
  AttentionSm90Parameters call;
};

}  // namespace isomer::device
