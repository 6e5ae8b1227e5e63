// The tile's constants, and where things lie in shared memory.
#pragma once

#include "gpu/device/sm90/barrier.cuh"
#include "gpu/device/sm90/shared.cuh"
#include "gpu/device/sm90/warpgroup_mma.cuh"
#include "ops/attention/kernels/attention_sm90_tiles.cuh"

namespace isomer::device::attention_sm90 {

using namespace sm90;
using Element = ISOMER_ELEMENT;
using OutElement = ISOMER_ELEMENT_OUT;
constexpr int kDim = ISOMER_HEAD_DIM, kDimV = ISOMER_HEAD_DIM_V, kKeys = ISOMER_BLOCK_N;
constexpr int kQueries = ISOMER_QUERY_BUFFERS;
constexpr bool kSoftcap = ISOMER_SOFTCAP;
// Keys of a first block of which no more are seen; wide heads leave no registers for a second width, and
// blocks of three warpgroups are short.
constexpr int kNarrow = kDim + kDimV <= 256 && kGroups == 2 ? kKeys / 32 * 16 : kKeys;
constexpr bool kReread = kDimV > 128;  // what masks ask for is read again, not kept in registers
constexpr bool kFp8 = sizeof(Element) == 1;
// Four warpgroups fill one another's gaps: each works by itself, without turns and without a next tile's
// first block beside its last one, and passes over blocks of which none of its rows sees a key.
constexpr bool kAlone = kGroups == 4;
// Who reads V counts its stages by themselves; elsewhere there are two, and V's is the one that K's is not.
constexpr bool kCountsValues = kFp8 || kAlone;
// P of the next block waits in S for the product of this one, and there is no second P.
constexpr bool kOneP = kAlone || (kFp8 && kDimV <= 128);
// So few blocks behind a tile's first come one at a time: the instructions of two at a time are as many
// again, and what a tile runs through is more than the cache of instructions holds.
constexpr int kFewBlocks = kDim <= 64 ? 6 : 4;
// With tanh and finding rows, two at a time would spill a register.
constexpr bool kOneAtATime = kSoftcap && kPieces && !kFp8 && kDimV == 192;
// Its warps ask once a tile, and not in each block, what hardly a block changes; softcap needs the registers.
constexpr bool kRemembers = kOneP && !kSoftcap;
// Σ P·v is multiplied by what references have risen by while the next S is under way. Three warpgroups would
// spill by it.
constexpr bool kRaisesLate = kAlone && kFp8 && !kSoftcap;
// Keys and values of e4m3 under queries of 16 bits become what the queries are.
#ifdef ISOMER_ELEMENT_KV
using KvElement = ISOMER_ELEMENT_KV;
#else
using KvElement = Element;
#endif
constexpr bool kConverts = sizeof(KvElement) != sizeof(Element);
constexpr bool kScaled = kFp8 || kConverts;        // by descales
constexpr bool kClearsHere = kClears && !kScaled;  // otherwise whoever turns or converts V does it
// Of 504 or 512 that the threads of each warpgroup share; 40 of them are enough for whole tiles of 16-bit
// types, and 32 where three warpgroups work on them.
constexpr int kProducerRegisters = kPieces && (kScaled || kQueries == 1 || kChunked) ? 56
                                   : kGroups >= 3                                    ? 32
                                                                                     : 40;
constexpr int kDepth = 32 / static_cast<int>(sizeof(Element));  // of a product
constexpr int kPanelColumns = 128 / static_cast<int>(sizeof(Element)),
              kKvPanelColumns = 128 / static_cast<int>(sizeof(KvElement));
constexpr AttentionSm90Layout kLayout(kDim, kDimV, kKeys, kQueries, static_cast<int>(sizeof(Element)), kRows,
                                      static_cast<int>(sizeof(KvElement)));
// Of what is left when the producer has its own. Five warpgroups begin with 96 each.
constexpr int kWorkRegisters = kGroups == 4   ? (480 - kProducerRegisters) / 4 / 8 * 8
                               : kGroups == 2 ? 252 - kProducerRegisters / 2
                                              : (512 - kProducerRegisters) / kGroups / 8 * 8;
// Warpgroups issue products in turn, unless the plan knows that they gain more by not waiting.
#ifdef ISOMER_FREELY
constexpr bool kInTurn = false;
#else
constexpr bool kInTurn = !kAlone;
#endif
// Where three warpgroups work on 64 dimensions, Q stays in registers: products of so few columns ask shared
// memory for more than it gives. At 128 dimensions it gains nothing.
constexpr bool kHoldsQueries = kFp8 && kGroups == 3 && kDim <= 64;
// Whoever has read the description of a tile gives it back, with Q: of pieces and wide heads every lane, of
// others one of a warp, which passes on what it has read. More arrivals cost short tiles more than 1 %.
constexpr bool kAllRead = kPieces || kDim > 128;
constexpr int kTurnedRow = kFp8 ? AttentionSm90Layout::turned_row(kKeys) : 128;  // bytes: a column's keys
constexpr Swizzle kTurnedSwizzle = kTurnedRow == 64 ? Swizzle::bytes_64 : Swizzle::bytes_128;
static_assert(!kConverts || (kPieces && !kFp8));
static_assert(!kAlone || (kQueries == 2 && !kClearsHere));
static_assert(!kFp8 || (kPieces && (kKeys == 64 || kKeys == 96 || kKeys == 128)));
constexpr int kStages =
    AttentionSm90Layout::stages(static_cast<int>(sizeof(Element)), kKeys, kRows);  // of K and of V
constexpr int kPanelQ = kRows * 128, kPanelKeys = kKeys * 128;                     // bytes
constexpr int kOutColumns = AttentionSm90Layout::kOutPanels * 64;
static_assert((kQueries == 1 || kQueries == 2) && kDim % 16 == 0 && kDimV % 16 == 0 && kKeys % 16 == 0 &&
              kPanelKeys % 1024 == 0);

/// Where things lie. Tile descriptions go round a ring of their own: a tile is stored when the next one but
/// one may already be known.
struct Shared {
  u32 base;
  ISOMER_DEVICE u32 q(int i) const { return base + static_cast<u32>(i * kLayout.q_bytes); }
  ISOMER_DEVICE u32 k(int i) const { return base + static_cast<u32>(kLayout.k + i * kLayout.k_bytes); }
  ISOMER_DEVICE u32 v(int i) const { return base + static_cast<u32>(kLayout.v + i * kLayout.v_bytes); }
  ISOMER_DEVICE u32 out(int group) const {
    return base + static_cast<u32>(kLayout.out + group * kLayout.out_bytes / kGroups);
  }
  ISOMER_DEVICE Barrier q_full() const { return {base + kLayout.barriers}; }
  ISOMER_DEVICE Barrier q_empty() const { return q_full()[2]; }
  ISOMER_DEVICE Barrier k_full() const { return q_full()[4]; }
  ISOMER_DEVICE Barrier k_empty() const { return k_full()[kStages]; }
  ISOMER_DEVICE Barrier v_full() const { return kCountsValues ? v_rows_full()[4] : k_empty()[kStages]; }
  ISOMER_DEVICE Barrier v_empty() const { return v_full()[kStages]; }
  ISOMER_DEVICE u32 v_rows(int i) const {
    return base + static_cast<u32>(kLayout.v_rows + i * kLayout.v_row_bytes);
  }
  ISOMER_DEVICE Barrier v_rows_full() const {
    return {base + static_cast<u32>(kLayout.barriers + AttentionSm90Layout::kRowBarriers)};
  }
  ISOMER_DEVICE Barrier v_rows_empty() const { return v_rows_full()[2]; }
  ISOMER_DEVICE u32 k_rows(int i) const {
    return base + static_cast<u32>(kLayout.k_rows + i * kLayout.k_row_bytes);
  }
  ISOMER_DEVICE Barrier k_rows_full() const { return v_rows_full()[4]; }
  ISOMER_DEVICE Barrier k_rows_empty() const { return v_rows_full()[6]; }
  ISOMER_DEVICE u32 tile(int i) const {
    return base + kLayout.barriers + AttentionSm90Layout::kSlots +
           static_cast<u32>(
               i * (kPieces ? AttentionSm90Layout::kPieceSlotBytes : AttentionSm90Layout::kSlotBytes));
  }
  ISOMER_DEVICE u32 scratch() const { return base + kLayout.barriers + 96; }  ///< nobody reads it
  ISOMER_DEVICE u32 found() const {
    return base + static_cast<u32>(kLayout.barriers + AttentionSm90Layout::kFound);
  }
  ISOMER_DEVICE u32 notes() const { return base + kLayout.barriers + 104; }  ///< of the producer's warp
};

}  // namespace isomer::device::attention_sm90
