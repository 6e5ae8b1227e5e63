// What a block of the Hopper kernel is compiled for, and where everything lies in its shared memory.
#pragma once

#include "gpu/device/sm90/barrier.cuh"
#include "ops/fp8_gemm/kernels/sm90_result.cuh"

namespace isomer::device {

using sm90::Barrier;

constexpr int kTileM = ISOMER_TILE_M, kTileN = ISOMER_TILE_N, kChunks = ISOMER_CHUNKS;
constexpr int kStages = ISOMER_STAGES, kCluster = ISOMER_CLUSTER, kSplit = ISOMER_SPLIT;
constexpr GemmRows kLayout = GemmRows::ISOMER_ROWS;
constexpr bool kBulkStore = ISOMER_BULK_STORE, kTerms = ISOMER_TERMS;
constexpr int kScalesAtOnce = ISOMER_SCALES;
using Element = ISOMER_C;
/// The launch ahead does not write b: its first stages come while that one still runs.
constexpr bool kBReady = ISOMER_B_READY;

/// Else so many bytes of them are fetched into the L2 cache meanwhile.
constexpr bool kFetchesAhead = !kBReady && kLayout == GemmRows::single && kCluster == 1;
constexpr int kFetchedBytes = 32 * 1024;

constexpr int kWarpgroups = kTileM / 64, kChunk = kTileN / kChunks, kThreads = 128 * (kWarpgroups + 1);
constexpr u32 kBytesA = kTileM * 128, kBytesB = kTileN * 128;
constexpr int kSlots = sm90_slots(kStages, kScalesAtOnce);  // of kScalesAtOnce blocks of K, 1 or 4
constexpr u32 kBytesRows = kTileM * kScalesAtOnce * 4,
              kBytesSlot = sm90_slot_bytes(kTileM, kTileN, kScalesAtOnce);
constexpr int kScaleColumns = sm90_scale_columns(kTileN);  // blocks of columns that a tile meets at most
/// Rows that a tile of a has not, and no copy brings, are zeros in every stage from the start.
constexpr bool kClearsRows = kLayout == GemmRows::single && kCluster == 1;
constexpr int kOwnColumns = kTileN / kSplit;  // of the tile, that this block stores
using Panels = Sm90Panels<kOwnColumns>;
constexpr int kParts = kSplit > 1 ? 1 : kChunks;  // that a warpgroup's rows of a tile are finished in
constexpr u32 kBytesC = kBulkStore ? kWarpgroups * Panels::kBytes : 0;
constexpr u32 kBytesResults = kBulkStore ? kWarpgroups * kParts * 2 * Barrier::kBytes : 0;
constexpr u32 kBytesHanded = kSplit > 1 ? kTileM* kTileN * 4 : 0;  // sums that this block is handed
// 384 threads begin with 168 registers each; 256 have all they can use.
constexpr bool kShareRegisters = kThreads == 384;
constexpr int kCopyRegisters = 40, kSumRegisters = 232;

static_assert(kTileM == 64 || kTileM == 128);
static_assert(kTileN == 64 || kTileN == 128 || kTileN == 176 || kTileN == 192 || kTileN == 256,
              "a tile meets kScaleColumns blocks of b_s at most");
static_assert(kCluster == 1 || kSplit == 1);
static_assert(kCluster == 1 || kLayout == GemmRows::single, "a cluster has one expert");
static_assert(kStages * (kBytesA + kBytesB + 2 * Barrier::kBytes) + kBytesC + kBytesResults + kBytesHanded +
                  kSlots * (kBytesSlot + 2 * Barrier::kBytes) ==
              sm90_fixed_bytes(kTileM, kTileN, kSplit, kChunks, kBulkStore) +
                  sm90_staged_bytes(kTileM, kTileN, kStages, kScalesAtOnce));
static_assert(kOwnColumns % 16 == 0 && kOwnColumns * kSplit == kTileN);

/// Where everything lies in shared memory.
struct Memory {
  u32 a, b, c, parts, scales;
  Barrier full, empty, brought, read, written, stored;
  ISOMER_DEVICE explicit Memory(u32 base)
      : a(base),
        b(a + kStages * kBytesA),
        c(b + kStages * kBytesB),
        parts(c + kBytesC),
        scales(parts + kBytesHanded),
        full{scales + kSlots * kBytesSlot},
        empty{full.at + kStages * Barrier::kBytes},
        brought{empty.at + kStages * Barrier::kBytes},
        read{brought.at + kSlots * Barrier::kBytes},
        written{read.at + kSlots * Barrier::kBytes},
        stored{written.at + kWarpgroups * kParts * Barrier::kBytes} {}
  ISOMER_DEVICE Panels panels(int warpgroup) const {
    return {c + static_cast<u32>(warpgroup) * Panels::kBytes};
  }
};

using Tiles = Sm90Tiles<kLayout, kTileM, kTileN, kCluster>;

/// The blocks of K [first, end) of this block.
struct Depth {
  i32 first, end;
};

}  // namespace isomer::device
