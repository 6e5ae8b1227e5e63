// What a block of the Hopper kernel has brought into its shared memory: a, b and their scales.
#pragma once

#include "gpu/device/async_copy.cuh"
#include "gpu/device/overlap.cuh"
#include "gpu/device/sm90/pipeline.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "ops/fp8_gemm/kernels/sm90_block.cuh"

namespace isomer::device {

/// Blocks of K of which b is fetched ahead.
constexpr int kFetched =
    kFetchedBytes < static_cast<int>(kBytesB) ? 1 : kFetchedBytes / static_cast<int>(kBytesB);

/// b of a block of K into a stage: of a cluster's blocks each brings a part to all.
ISOMER_DEVICE void load_b(const Fp8GemmSm90Parameters& p, const Sm90Tile& tile, i32 block, u32 b,
                          Barrier full, u32 rank, sm90::Keep keep) {
  if constexpr (kCluster == 1)
    sm90::load<3>(p.b, {{block * kScaleBlock, tile.column, tile.expert}}, b, full, keep);
  else
    sm90::load_multicast<3>(
        p.b, {{block * kScaleBlock, tile.column + static_cast<i32>(rank) * (kTileN / kCluster), tile.expert}},
        b + rank * (kBytesB / kCluster), full, (1 << kCluster) - 1, keep);
}

/// Of a stage, by the copy engine.
ISOMER_DEVICE u32 bytes_brought(const Fp8GemmSm90Parameters& p) { return kBytesB + p.rows_brought * 128; }

/// One thread: a and b of every tile. Of the first `begun` blocks of K b is under way and announced.
ISOMER_DEVICE void bring_operands(const Fp8GemmSm90Parameters& p, const Memory& memory, Tiles tiles,
                                  Depth depth, u32 rank, i32 begun) {
  const sm90::Keep keep = p.b_once ? sm90::Keep::briefly : sm90::Keep::normal;
  const u32 bytes = bytes_brought(p);
  sm90::Pipeline<kStages> ring;
  Sm90Tile tile;
  while (tiles.next(tile)) {
    const i32 entry = kLayout == GemmRows::masked ? tile.expert : 0;
#pragma unroll 1
    for (i32 block = depth.first; block < depth.end; ++block, ring.advance()) {
      const Barrier full = memory.full[ring.stage];
      memory.empty[ring.stage].wait(ring.phase ^ 1);
      const bool has_b = kBReady && begun > 0;
      if (!has_b) full.arrive_expect(bytes);
      sm90::load<3>(p.a, {{block * kScaleBlock, tile.row, entry}},
                    memory.a + static_cast<u32>(ring.stage) * kBytesA, full);
      if (has_b) {
        --begun;
        continue;
      }
      load_b(p, tile, block, memory.b + static_cast<u32>(ring.stage) * kBytesB, full, rank, keep);
    }
  }
}

/// The same thread, where nothing ahead writes b: b of the first tile's first blocks of K, as many as there
/// are stages, before the launch ahead has ended. How many they are.
ISOMER_DEVICE i32 begin_b(const Fp8GemmSm90Parameters& p, const Memory& memory, Tiles tiles, Depth depth,
                          u32 rank) {
  const sm90::Keep keep = p.b_once ? sm90::Keep::briefly : sm90::Keep::normal;
  Sm90Tile tile;
  if (!tiles.next(tile)) return 0;
  const i32 blocks = depth.end - depth.first, count = blocks < kStages ? blocks : kStages;
#pragma unroll 1
  for (i32 i = 0; i < count; ++i) {
    const Barrier full = memory.full[i];
    full.arrive_expect(bytes_brought(p));
    load_b(p, tile, depth.first + i, memory.b + static_cast<u32>(i) * kBytesB, full, rank, keep);
  }
  return count;
}

/// 128 threads, while the launch ahead may still write b: the first blocks of K of the first tile's columns
/// on their way into the L2 cache. Not by the copy engine, which would come to the stages later.
ISOMER_DEVICE void fetch_b_ahead(const Fp8GemmSm90Parameters& p, Tiles tiles, Depth depth, int thread) {
  Sm90Tile tile;
  if (!p.b_once || !tiles.next(tile)) return;
  const i32 blocks = depth.end - depth.first, count = blocks < kFetched ? blocks : kFetched;
#pragma unroll 1
  for (i32 row = thread; row < kTileN; row += 128) {
    if (tile.column + row >= p.gemm.columns) break;
    const u8* const from =
        p.gemm.b + (tile.column + row) * p.gemm.b_row + static_cast<i64>(depth.first) * kScaleBlock;
#pragma unroll 1
    for (i32 i = 0; i < count; ++i) fetch_ahead(from + i * kScaleBlock);
  }
}

/// One warp: the scales of every tile. Of a, four blocks of a row at once where they lie so, else one by one,
/// whatever their strides are.
ISOMER_DEVICE void bring_scales(const Fp8GemmSm90Parameters& p, u8* base, const Memory& memory, Tiles tiles,
                                Depth depth) {
  constexpr int kCopies = kTileM / 32, kBytes = 4 * kScalesAtOnce;
  const Fp8GemmParameters& g = p.gemm;
  sm90::Pipeline<kSlots> slots;
  Sm90Tile tile;
  while (tiles.next(tile)) {
    const f32* a_s[kCopies];
    int valid[kCopies];
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      // Rows behind the last have scales of zero, of which nothing is read: if all of them asked for those of
      // the last row, every block would, at the same time, and the L2 cache serves one after the other.
      const i32 row = tile.row + i * 32 + lane(), last = tile.end - 1;
      a_s[i] = g.a_s + row_offset(g, g.a_s_rows, tile.expert, row < last ? row : last);
      valid[i] = row <= last ? kBytes : 0;
    }
    const i32 last = static_cast<i32>((g.columns - 1) / kScaleBlock),
              column = tile.column / kScaleBlock + lane() / kScalesAtOnce;
    const f32* const b_s = g.b_s + tile.expert * g.b_s_expert + (column < last ? column : last) * g.b_s_row +
                           lane() % kScalesAtOnce * g.b_s_block;
#pragma unroll 1
    for (i32 block = depth.first / kScalesAtOnce * kScalesAtOnce; block < depth.end;
         block += kScalesAtOnce, slots.advance()) {
      memory.read[slots.stage].wait(slots.phase ^ 1);
      u8* const to = base + (memory.scales - memory.a) + static_cast<u32>(slots.stage) * kBytesSlot;
#pragma unroll
      for (int j = 0; j < kCopies; ++j)
        copy_async<kBytes>(to + (j * 32 + lane()) * kBytes, a_s[j] + block * g.a_s_block, valid[j]);
      if (lane() < kScaleColumns * kScalesAtOnce)
        copy_async<4>(to + kBytesRows + lane() * 4, b_s + block * g.b_s_block, 4);
      memory.brought[slots.stage].arrive_behind_copies();
    }
  }
}

}  // namespace isomer::device
