// Block-scaled products of e4m3 on the tensor cores, for 32 lanes. A block owns kTileM × kTileN of c, a warp
// kWarpM × kWarpN of that. K runs in steps of one scale block, 128 bytes of every row of a and b, which
// cp.async brings into kStages buffers together with the scales of that step:
//
//   stage:  a  kTileM × 128 bytes | b  kTileN × 128 bytes | a_s  kTileM floats | b_s  one float, padded
//
// Products of e4m3 are taken as products of f16, which is exact; within a scale block they are summed in f32
// by the tensor core, and the block's sum is scaled and added in f32 registers.
#include "ops/fp8_gemm/kernels/stage.cuh"

namespace isomer::device {

constexpr int kTileM = ISOMER_TILE_M, kTileN = ISOMER_TILE_N, kWarpM = ISOMER_WARP_M, kWarpN = ISOMER_WARP_N;
constexpr int kStages = ISOMER_STAGES, kCopy = ISOMER_COPY;
/// Rows belong to experts, who may have few of them: a warp with no more than 16 multiplies only those.
constexpr bool kGrouped = ISOMER_GROUPED;
constexpr int kWarpsN = kTileN / kWarpN, kThreads = kTileM / kWarpM * kWarpsN * 32;
constexpr int kRowFragments = kWarpM / 16, kColumnFragments = kWarpN / 8;
using Element = ISOMER_C;
static_assert(kScaleBlock % kTileN == 0, "a tile lies under one row of b_s");
static_assert(kColumnFragments % 2 == 0 && kWarpSize == 32 && kThreads >= kTileM);

struct Stage {
  u8 a[kTileM * kScaleBlock], b[kTileN * kScaleBlock];
  f32 a_s[kTileM];
  f32 b_s[32];
};
static_assert(sizeof(Stage) == tile_stage_bytes(kTileM, kTileN));
static_assert(sizeof(GemmRowTable<kTileM>) == row_table_bytes(kTileM));

/// What this thread copies of every stage.
struct StageCopies {
  RowCopies<kTileM, kThreads, kCopy> a;
  RowCopies<kTileN, kThreads, kCopy> b;
  const f32 *a_s, *b_s;
  u32 present = ~0u;  ///< rows of a: those of no product need not be read

  ISOMER_DEVICE StageCopies(const Fp8GemmParameters& p, const GemmTile& tile,
                            const GemmRowTable<kTileM>& rows)
      : a(static_cast<int>(threadIdx.x), [&](int r) { return p.a + rows.a[r]; }),
        b(static_cast<int>(threadIdx.x), [&](int r) { return row_of_b(p, tile, r); }),
        a_s(p.a_s + rows.a_s[threadIdx.x % kTileM]),
        b_s(scales_of_b(p, tile)) {
    if constexpr (kGrouped) present = a.rows_where([&](int r) { return rows.multiplied(r); });
  }

  ISOMER_DEVICE void copy(const Fp8GemmParameters& p, Stage& stage, i64 block) const {
    a.copy(stage.a, block, p.depth, kGrouped ? present : ~0u);
    b.copy(stage.b, block, p.depth);
    if (threadIdx.x < kTileM) copy_async<4>(&stage.a_s[threadIdx.x], a_s + block * p.a_s_block, 4);
    if (threadIdx.x == 0) copy_async<4>(&stage.b_s[0], b_s + block * p.b_s_block, 4);
  }
};

/// sum += the scaled products of the warp's first kMany × 16 rows and its columns in one stage.
template <int kMany>
ISOMER_DEVICE void multiply_stage(const Stage& stage, int first_row, int first_column,
                                  f32 (&sum)[kRowFragments][kColumnFragments][4]) {
  f32 part[kMany][kColumnFragments][4] = {};
#pragma unroll
  for (int pair = 0; pair < kScaleBlock / 16; pair += 2) {
    u32 a[kMany][4], b[kColumnFragments / 2][4];
#pragma unroll
    for (int i = 0; i < kMany; ++i) load_rows(a[i], stage.a, first_row + i * 16, pair);
#pragma unroll
    for (int j = 0; j < kColumnFragments / 2; ++j)
      load_matrices(
          b[j], stage.b + place(first_column + j * 16 + lane() / 16 * 8 + lane() % 8, pair + lane() / 8 % 2));
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      u32 columns[kColumnFragments][2];
#pragma unroll
      for (int j = 0; j < kColumnFragments; ++j) columns_of_step(columns[j], b[j / 2][j % 2 * 2 + step]);
#pragma unroll
      for (int i = 0; i < kMany; ++i) {
        u32 row[4];
        rows_of_step(row, a[i], step);
#pragma unroll
        for (int j = 0; j < kColumnFragments; ++j) multiply_add<f16>(part[i][j], row, columns[j]);
      }
    }
  }
  const f32 b_s = stage.b_s[0];
#pragma unroll
  for (int i = 0; i < kMany; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const f32 a_s = stage.a_s[first_row + i * 16 + half * 8 + lane() / 4];
#pragma unroll
      for (int j = 0; j < kColumnFragments; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          f32& total = sum[i][j][half * 2 + e];
          total = fmaf(part[i][j][half * 2 + e] * a_s, b_s, total);
        }
    }
}

/// Adds bias and addend and writes the warp's part of c. kPairs: two columns at a time, and no column is
/// outside.
template <bool kPairs>
ISOMER_DEVICE void finish_warp(const Fp8GemmParameters& p, const GemmTile& tile,
                               const GemmRowTable<kTileM>& rows, int first_row, int first_column,
                               const f32 (&sum)[kRowFragments][kColumnFragments][4]) {
  const i64 column = tile.column + first_column + 2 * (lane() % 4);
  f32 bias[kColumnFragments][2] = {};
  if (p.bias_type != GemmBias::none) {
#pragma unroll
    for (int j = 0; j < kColumnFragments; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) bias[j][e] = bias_of(p, tile.expert, column + j * 8 + e);
  }
#pragma unroll
  for (int i = 0; i < kRowFragments; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = first_row + i * 16 + half * 8 + lane() / 4;
      if (rows.state[r] == GemmRowTable<kTileM>::kAbsent) continue;
      const bool product = rows.multiplied(r);
      Element* const c = static_cast<Element*>(p.c) + rows.c[r] + column;
      const Element* const addend = product && p.addend != nullptr
                                        ? static_cast<const Element*>(p.addend) + rows.addend[r] + column
                                        : nullptr;
#pragma unroll
      for (int j = 0; j < kColumnFragments; ++j) {
        f32 x[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) x[e] = product ? sum[i][j][half * 2 + e] + bias[j][e] : 0.0f;
        if constexpr (kPairs) {
          if (addend != nullptr) {
            const Vector<Element, 2> more = load<2>(addend + j * 8);
#pragma unroll
            for (int e = 0; e < 2; ++e) x[e] += to_f32(more.of[e]);
          }
          store<2>(c + j * 8, Vector<Element, 2>{from_f32<Element>(x[0]), from_f32<Element>(x[1])});
        } else {
#pragma unroll
          for (int e = 0; e < 2; ++e)
            if (column + j * 8 + e < p.columns) {
              if (addend != nullptr) x[e] += to_f32(addend[j * 8 + e]);
              c[j * 8 + e] = from_f32<Element>(x[e]);
            }
        }
      }
    }
}

extern "C" __global__ void __launch_bounds__(kThreads) isomer_fp8_gemm_tile(const Fp8GemmParameters p) {
  extern __shared__ __align__(128) u8 memory[];
  __shared__ GemmRowTable<kTileM> rows;
  Stage* const stages = reinterpret_cast<Stage*>(memory);

  const GemmTile tile = tile_of<kTileM, kTileN>(p, blockIdx.x);
  if (tile.rows == 0) return;
  rows.template fill<kThreads>(p, tile);
  __syncthreads();

  const int first_row = warp() / kWarpsN * kWarpM, first_column = warp() % kWarpsN * kWarpN;
  // A warp without a row to multiply, or without columns, only helps to copy.
  int high = 0;
  for (int r = lane(); r < kWarpM; r += kWarpSize)
    if (rows.multiplied(first_row + r)) high = r + 1;
  high = reduce_lanes(high, [](int x, int y) { return x > y ? x : y; });
  if (tile.column + first_column >= p.columns) high = 0;
  const int blocks = tile.expert < 0 ? 0 : static_cast<int>(p.blocks);

  f32 sum[kRowFragments][kColumnFragments][4] = {};
  const StageCopies copies(p, tile, rows);
#pragma unroll 1
  for (int s = 0; s < kStages - 1; ++s) {
    if (s < blocks) copies.copy(p, stages[s], s);
    end_copies();
  }
  int filled = kStages - 1, current = 0;
  for (int block = 0; block < blocks; ++block) {
    wait_copies<kStages - 2>();
    __syncthreads();  // the stage is whole, and everybody has left the one that is filled next
    if (block + kStages - 1 < blocks) copies.copy(p, stages[filled], block + kStages - 1);
    end_copies();
    if (kGrouped && high > 0 && high <= 16)
      multiply_stage<1>(stages[current], first_row, first_column, sum);
    else if (high > 0)
      multiply_stage<kRowFragments>(stages[current], first_row, first_column, sum);
    filled = filled + 1 == kStages ? 0 : filled + 1;
    current = current + 1 == kStages ? 0 : current + 1;
  }

  if (p.in_pairs && tile.column + first_column + kWarpN <= p.columns)
    finish_warp<true>(p, tile, rows, first_row, first_column, sum);
  else
    finish_warp<false>(p, tile, rows, first_row, first_column, sum);
}

}  // namespace isomer::device
