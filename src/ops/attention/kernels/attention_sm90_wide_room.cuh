// The constants of the kernel for wide values, and where things lie in shared memory.
#pragma once

// Its tiles are pieces, whose blocks may hold slots that are not used.
#define ISOMER_PIECES 1
#define ISOMER_CLEARS 1

#include "gpu/device/sm90/barrier.cuh"
#include "gpu/device/sm90/shared.cuh"
#include "gpu/device/sm90/warpgroup_mma.cuh"
#include "ops/attention/kernels/attention_sm90_tiles.cuh"
#include "ops/attention/kernels/attention_sm90_wide.h"

namespace isomer::device::attention_sm90 {

using namespace sm90;
using Element = ISOMER_ELEMENT;
using Layout = AttentionSm90WideLayout;
using WideParameters = AttentionSm90WideParameters;
constexpr int kDimV = ISOMER_HEAD_DIM_V, kHalf = kDimV / 2;  // a warpgroup has half of the columns of out
constexpr int kKeys = Layout::kKeys, kTileRows = Layout::kRows, kStages = Layout::kStages;
constexpr bool kQv = ISOMER_QV, kSoftcap = ISOMER_SOFTCAP;
constexpr Layout kLayout(kDimV);
constexpr int kPanel = Layout::kPanelBytes, kHalfPanels = kLayout.panels / 2;
constexpr int kProducerRegisters = 56;
static_assert(ISOMER_HEAD_DIM == Layout::kPanelColumns && ISOMER_BLOCK_N == kKeys && kDimV % 128 == 0 &&
              kDimV <= 512 && kStages == 2);

/// Where things lie. Halves are those of the columns of v. What is counted by blocks is of a stage.
struct Shared {
  u32 base;
  /// Panel 0 is Q, from 1 on the queries of v; out takes their place on its way.
  ISOMER_DEVICE u32 q(int panel = 0) const { return base + static_cast<u32>(panel * kPanel); }
  /// Panel 0 is K, whose place P takes; from 1 on V.
  ISOMER_DEVICE u32 keys(int stage, int panel = 0) const {
    return base + static_cast<u32>((1 + stage) * kLayout.stage + panel * kPanel);
  }
  ISOMER_DEVICE u32 state(int offset) const { return base + static_cast<u32>(kLayout.state + offset); }
  /// References of the rows in the latest block of a warpgroup, and their sums over its blocks of a tile.
  ISOMER_DEVICE u32 references(int group) const { return state(Layout::kReferences + group * kTileRows * 4); }
  ISOMER_DEVICE u32 sums(int group) const { return state(Layout::kSums + group * kTileRows * 4); }
  ISOMER_DEVICE u32 tile(int i) const { return state(Layout::kSlots + i * Layout::kSlotBytes); }
  ISOMER_DEVICE Barrier q_full() const { return {state(Layout::kBarriers)}; }
  ISOMER_DEVICE Barrier q_empty() const { return q_full()[1]; }
  ISOMER_DEVICE Barrier k_full() const { return q_full()[2]; }
  ISOMER_DEVICE Barrier k_empty() const { return k_full()[kStages]; }
  ISOMER_DEVICE Barrier v_full(int stage, int half) const { return k_empty()[kStages + 2 * stage + half]; }
  ISOMER_DEVICE Barrier v_empty(int stage, int half) const { return v_full(stage, half)[2 * kStages]; }
  // What the producer's warp notes for itself.
  ISOMER_DEVICE u32 notes() const { return state((Layout::kNotes + 15) / 16 * 16); }
  ISOMER_DEVICE u32 found() const { return notes() + 16; }
};

/// A block of keys, counted over all tiles of a launch: its stage, and the parity of that stage's round.
struct Turn {
  u32 block = 0;
  ISOMER_DEVICE int stage() const { return static_cast<int>(block & 1); }
  ISOMER_DEVICE u32 parity() const { return block >> 1 & 1; }
};

// Numbered barriers: of both warpgroups; of one; and where one has made P for the other.
constexpr int kBoth = 1, kOne = 2, kMade = 4;

}  // namespace isomer::device::attention_sm90
