// Rows that are quantised on their way into the stages, with the codes and scales that act_quant gives them.
#pragma once

#include "gpu/device/async_copy.cuh"
#include "gpu/device/block_scale.cuh"
#include "gpu/device/pairs.cuh"
#include "gpu/device/reduce.cuh"
#include "gpu/device/sm90/pipeline.cuh"
#include "ops/fp8_gemm/kernels/sm90_block.cuh"

namespace isomer::device {

/// Rows of x on their way to codes: sixteen lanes have a row's block, eight elements each, and a warp has all
/// kRows rows under way.
template <class X>
class Quantiser {
 public:
  static constexpr int kRows = kMostQuantised;

  ISOMER_DEVICE explicit Quantiser(const Fp8GemmSm90Parameters& p)
      : p_(p), x_(reinterpret_cast<const X*>(p.gemm.a) + lane() % kLanes * kOwn) {}

  /// Asks for a block of K of every row; rows behind the last are zeros.
  ISOMER_DEVICE void ask(i32 block) {
    const i32 last = static_cast<i32>(p_.gemm.rows) - 1;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      const i32 row = 2 * i + lane() / kLanes;
      const X* const from = at(block, row < last ? row : last);
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        in_[i][v] = {};
        if (row <= last) in_[i][v] = load_once<kVector>(from + v * kVector);
      }
    }
  }

  /// Codes of what was asked for into the stage at `a`, scales into the slot's rows.
  ISOMER_DEVICE void put(i32 block, u32 a, u32 scales) const {
    f32 amax[kPairs];
    bool unusual = false;
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      f32 values[kOwn];
      take(i, values);
      f32 most = 0;
#pragma unroll
      for (int e = 0; e < kOwn; ++e) most = max_with_nan(most, fabsf(values[e]));
      most = max_with_nan_lanes<kLanes>(most);
      amax[i] = most < p_.amax_floor ? p_.amax_floor : most;  // NaN stays
      unusual = unusual || is_unusual(amax[i]);
    }
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      f32 values[kOwn];
      take(i, values);
      f32 scale = over_448(amax[i]);
      if (p_.power_of_two) scale = usual_power_of_two_above(scale);
      const Quotient quotient(scale);
#pragma unroll
      for (int e = 0; e < kOwn; ++e) values[e] = quotient.of(values[e]);
      put_row(2 * i + lane() / kLanes, values, scale, a, scales);
    }
    // Blocks whose quotients must be divided out. Each lane overwrites what it has written itself.
    if (unusual) {
#pragma unroll 1
      for (int i = 0; i < kPairs; ++i) {
        f32 most = amax[0];
#pragma unroll
        for (int w = 1; w < kPairs; ++w) most = w == i ? amax[w] : most;
        const i32 row = 2 * i + lane() / kLanes;
        if (!is_unusual(most) || row >= static_cast<i32>(p_.gemm.rows)) continue;
        f32 scale = most / 448.0f;
        if (p_.power_of_two) scale = power_of_two_above(scale);
        f32 values[kOwn];
#pragma unroll
        for (int e = 0; e < kOwn; ++e) values[e] = to_f32(at(block, row)[e]) / scale;
        put_row(row, values, scale, a, scales);
      }
    }
  }

 private:
  static constexpr int kLanes = 16, kOwn = kScaleBlock / kLanes,
                       kVector = 16 / sizeof(X) < kOwn ? 16 / sizeof(X) : kOwn, kVectors = kOwn / kVector,
                       kPairs = kRows / 2;

  ISOMER_DEVICE const X* at(i32 block, i32 row) const {
    return x_ + row * p_.gemm.a_rows.stride[0] + static_cast<i64>(block) * kScaleBlock;
  }
  ISOMER_DEVICE void take(int i, f32 (&values)[kOwn]) const {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      f32 some[kVector];
      to_f32(in_[i][v], some);
#pragma unroll
      for (int e = 0; e < kVector; ++e) values[v * kVector + e] = some[e];
    }
  }
  ISOMER_DEVICE void put_row(i32 row, const f32 (&values)[kOwn], f32 scale, u32 a, u32 scales) const {
    const Vector<e4m3fn, kOwn> codes = from_f32<e4m3fn>(values);
    u32 words[2];
    copy_bytes(words, &codes, sizeof words);
    if (row >= static_cast<i32>(p_.gemm.rows)) return;
    sm90::store_shared(sm90::swizzled_128(a, static_cast<u32>(row), static_cast<u32>(lane()) % kLanes * kOwn),
                       words[0], words[1]);
    if (lane() % kLanes == 0) sm90::store_shared(scales + static_cast<u32>(row) * 4, scale);
  }

  const Fp8GemmSm90Parameters& p_;
  const X* const x_;
  Vector<X, kVector> in_[kPairs][kVectors];
};

/// All threads, before anything is brought: rows that a has not are zeros in every stage, and so are their
/// scales.
ISOMER_DEVICE void clear_rows_behind(const Fp8GemmSm90Parameters& p, const Memory& memory) {
  constexpr u32 kZeros[4] = {};
  const u32 rows = static_cast<u32>(p.gemm.rows), thread = threadIdx.x;
  for (u32 stage = 0; stage < kStages; ++stage)
    for (u32 i = rows * 8 + thread; i < kTileM * 8; i += kThreads)
      sm90::store_shared(memory.a + stage * kBytesA + i * 16, kZeros);
  for (u32 slot = 0; slot < kSlots; ++slot)
    for (u32 row = rows + thread; row < kTileM; row += kThreads)
      sm90::store_shared(memory.scales + slot * kBytesSlot + row * 4, 0.0f);
  sm90::fence_async_shared();
}

/// Warp `number` of kQuantisers: its blocks of K of every tile, which are the blocks' own turn; the rows are
/// the same for all tiles. What it asked for last is for its next block. There are at least as many slots as
/// stages, so that a stage which is free says the same of the slot.
template <class X>
ISOMER_DEVICE void quantise_rows(const Fp8GemmSm90Parameters& p, u8* base, const Memory& memory, Tiles tiles,
                                 Depth depth, int number) {
  const Fp8GemmParameters& g = p.gemm;
  const i32 blocks = depth.end - depth.first;
  sm90::Pipeline<kStages> ring;
  sm90::Pipeline<kSlots> slots;
  const auto advance = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ring.advance();
      slots.advance();
    }
  };
  advance(number);
  Quantiser<X> rows_of(p);
  rows_of.ask(depth.first + number % blocks);
  Sm90Tile tile;
  i32 at = number;  // of `blocks` of a tile
  for (; tiles.next(tile); at -= blocks) {
    const i32 last = static_cast<i32>((g.columns - 1) / kScaleBlock),
              column = tile.column / kScaleBlock + lane();
    const f32* const b_s = g.b_s + (column < last ? column : last) * g.b_s_row;
#pragma unroll 1
    for (; at < blocks; at += kQuantisers, advance(kQuantisers)) {
      const u32 a = memory.a + static_cast<u32>(ring.stage) * kBytesA,
                slot = static_cast<u32>(slots.stage) * kBytesSlot;
      memory.empty[ring.stage].wait(ring.phase ^ 1);
      if (lane() < kScaleColumns)
        copy_async<4>(base + (memory.scales - memory.a) + slot + kBytesRows + lane() * 4,
                      b_s + (depth.first + at) * g.b_s_block, 4);
      memory.brought[slots.stage].arrive_behind_copies();
      const Quantiser<X> these = rows_of;
      rows_of.ask(depth.first + (at + kQuantisers) % blocks);
      these.put(depth.first + at, a, memory.scales + slot);
      sm90::fence_async_shared();
      warp_barrier();
      if (lane() == 0) {
        memory.full[ring.stage].arrive();
        memory.brought[slots.stage].arrive();
      }
    }
  }
}

}  // namespace isomer::device
