// Block-scaled products of e4m3 for at most kTokens (8 or 16) rows of a, on the tensor cores, for 32 lanes: b
// is read once. A block owns kColumns rows of b (columns of c); its warps take the scale blocks of K in turn
// and add their sums up in shared memory at the end, always in the same order. Rows of b are the 16 rows of a
// product, rows of a its 8 columns.
//
// Every warp has kStages buffers of its own, which cp.async fills, and waits for no other warp before the
// end:
//
//   stage:  b  kColumns × 128 bytes | a  kTokens × 128 bytes | a_s  kTokens floats | b_s  one float, padded
#include "ops/fp8_gemm/kernels/stage.cuh"

namespace isomer::device {

constexpr int kTokens = ISOMER_TOKENS, kColumns = ISOMER_COLUMNS, kWarps = ISOMER_WARPS,
              kStages = ISOMER_STAGES;
constexpr int kCopy = ISOMER_COPY;
constexpr int kFragments = kColumns / 16, kTokenFragments = kTokens / 8, kThreads = kWarps * 32;
using Element = ISOMER_C;
static_assert(kScaleBlock % kColumns == 0, "a block's columns lie under one row of b_s");
static_assert(kTokens % 8 == 0 && kColumns % 16 == 0 && kWarpSize == 32);

struct Stage {
  u8 b[kColumns * kScaleBlock], a[kTokens * kScaleBlock];
  f32 a_s[kTokens];
  f32 b_s[32 - kTokens];
};
using Sums = f32[kWarps][kTokens][kColumns + 1];
static_assert(sizeof(Stage) == skinny_stage_bytes(kTokens, kColumns));
static_assert(sizeof(GemmRowTable<kTokens>) == row_table_bytes(kTokens));
static_assert(sizeof(Sums) == skinny_sums_bytes(kWarps, kTokens, kColumns));

/// What this lane copies of every stage.
struct StageCopies {
  RowCopies<kColumns, 32, kCopy> b;
  RowCopies<kTokens, 32, kCopy> a;
  const f32 *a_s, *b_s;

  ISOMER_DEVICE StageCopies(const Fp8GemmParameters& p, const GemmTile& tile,
                            const GemmRowTable<kTokens>& rows)
      : b(lane(), [&](int r) { return row_of_b(p, tile, r); }),
        a(lane(), [&](int r) { return p.a + rows.a[r]; }),
        a_s(p.a_s + rows.a_s[lane() % kTokens]),
        b_s(scales_of_b(p, tile)) {}

  ISOMER_DEVICE void copy(const Fp8GemmParameters& p, Stage& stage, i64 block) const {
    b.copy(stage.b, block, p.depth);
    a.copy(stage.a, block, p.depth);
    if (lane() < kTokens) copy_async<4>(&stage.a_s[lane()], a_s + block * p.a_s_block, 4);
    if (lane() == kTokens) copy_async<4>(&stage.b_s[0], b_s + block * p.b_s_block, 4);
  }
};

/// part = the products of all rows in one stage.
ISOMER_DEVICE void multiply_stage(const Stage& stage, f32 (&part)[kFragments][kTokenFragments][4]) {
#pragma unroll
  for (int four = 0; four < kScaleBlock / 16; four += 4) {
    u32 tokens[kTokenFragments][4];  // four steps of K
#pragma unroll
    for (int i = 0; i < kTokenFragments; ++i)
      load_matrices(tokens[i], stage.a + place(i * 8 + lane() % 8, four + lane() / 8));
#pragma unroll
    for (int pair = 0; pair < 4; pair += 2)
#pragma unroll
      for (int f = 0; f < kFragments; ++f) {
        u32 loaded[4];
        load_rows(loaded, stage.b, f * 16, four + pair);
#pragma unroll
        for (int step = 0; step < 2; ++step) {
          u32 row[4];
          rows_of_step(row, loaded, step);
#pragma unroll
          for (int i = 0; i < kTokenFragments; ++i) {
            u32 columns[2];
            columns_of_step(columns, tokens[i][pair + step]);
            multiply_add<f16>(part[f][i], row, columns);
          }
        }
      }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2) isomer_fp8_gemm_skinny(const Fp8GemmParameters p) {
  extern __shared__ __align__(128) u8 memory[];
  __shared__ GemmRowTable<kTokens> rows;
  __shared__ Sums sums;
  Stage* const stages = reinterpret_cast<Stage*>(memory) + warp() * kStages;

  const GemmTile tile = tile_of<kTokens, kColumns>(p, blockIdx.x);
  if (tile.rows == 0) return;
  rows.template fill<kThreads>(p, tile);
  __syncthreads();

  const int g = lane() / 4, t = lane() % 4, blocks = static_cast<int>(p.blocks);
  f32 sum[kFragments][kTokenFragments][4] = {};
  const StageCopies copies(p, tile, rows);
#pragma unroll 1
  for (int s = 0; s < kStages - 1; ++s) {
    const int block = warp() + s * kWarps;
    if (block < blocks) copies.copy(p, stages[s], block);
    end_copies();
  }
  int filled = kStages - 1, current = 0;
  for (int block = warp(); block < blocks; block += kWarps) {
    wait_copies<kStages - 2>();
    warp_barrier();  // the stage is whole, and every lane has left the one that is filled next
    const int ahead = block + (kStages - 1) * kWarps;
    if (ahead < blocks) copies.copy(p, stages[filled], ahead);
    end_copies();
    const Stage& stage = stages[current];
    f32 part[kFragments][kTokenFragments][4] = {};
    multiply_stage(stage, part);
    const f32 b_s = stage.b_s[0];
#pragma unroll
    for (int i = 0; i < kTokenFragments; ++i)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const f32 a_s = stage.a_s[i * 8 + 2 * t + e];
#pragma unroll
        for (int f = 0; f < kFragments; ++f)
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            f32& total = sum[f][i][half * 2 + e];
            total = fmaf(part[f][i][half * 2 + e] * a_s, b_s, total);
          }
      }
    filled = filled + 1 == kStages ? 0 : filled + 1;
    current = current + 1 == kStages ? 0 : current + 1;
  }

#pragma unroll
  for (int f = 0; f < kFragments; ++f)
#pragma unroll
    for (int i = 0; i < kTokenFragments; ++i)
#pragma unroll
      for (int e = 0; e < 4; ++e) sums[warp()][i * 8 + 2 * t + e % 2][f * 16 + e / 2 * 8 + g] = sum[f][i][e];
  __syncthreads();
  for (int at = static_cast<int>(threadIdx.x); at < tile.rows * kColumns; at += kThreads) {
    const int token = at / kColumns, n = at % kColumns;
    f32 total = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) total += sums[w][token][n];
    finish<Element>(p, rows, token, tile.column + n, total, bias_of(p, tile.expert, tile.column + n));
  }
}

}  // namespace isomer::device
