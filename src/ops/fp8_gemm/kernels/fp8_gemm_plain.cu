// Block-scaled products of e4m3 by f32 multiply-adds: any device, any number of lanes. A block of 16 × 16
// threads owns kTileM × kTileN of c, a thread every element of kRows adjacent rows and kColumns adjacent
// columns. Tiles of 32 columns of a and b are decoded to f32 in shared memory, K outermost, so that a thread
// reads its rows and columns as vectors.
#include "ops/fp8_gemm/kernels/tile.cuh"

namespace isomer::device {

constexpr int kTileM = ISOMER_TILE_M, kTileN = ISOMER_TILE_N, kCopy = ISOMER_COPY;
constexpr int kSide = 16, kThreads = kSide * kSide, kRows = kTileM / kSide, kColumns = kTileN / kSide,
              kStep = 32;
using Element = ISOMER_C;
static_assert(kScaleBlock % kTileN == 0, "a tile lies under one row of b_s");

/// Decodes kStep columns of kMany rows, 16 codes of a row at a time; neighbouring threads take neighbouring
/// rows.
template <int kMany, class From>
ISOMER_DEVICE void decode_rows(f32 (&to)[kStep][kMany], i64 k, i64 depth, From from) {
  for (int piece = static_cast<int>(threadIdx.x); piece < kMany * kStep / 16; piece += kThreads) {
    const int row = piece % kMany, first = piece / kMany * 16;
    Vector<u32, 4> codes{};
    if (k + first < depth) codes = load_codes<kCopy>(from(row), k + first, depth);
#pragma unroll
    for (int i = 0; i < 16; ++i)
      to[first + i][row] = to_f32(e4m3fn{static_cast<u8>(codes.of[i / 4] >> i % 4 * 8)});
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 2) isomer_fp8_gemm_plain(const Fp8GemmParameters p) {
  __shared__ GemmRowTable<kTileM> rows;
  __shared__ __align__(16) f32 a[kStep][kTileM];
  __shared__ __align__(16) f32 b[kStep][kTileN];
  const GemmTile tile = tile_of<kTileM, kTileN>(p, blockIdx.x);
  if (tile.rows == 0) return;
  rows.template fill<kThreads>(p, tile);
  __syncthreads();

  const int first_row = static_cast<int>(threadIdx.x) / kSide * kRows;
  const int first_column = static_cast<int>(threadIdx.x) % kSide * kColumns;
  const i64 blocks = tile.expert < 0 ? 0 : p.blocks;
  const f32* const b_s = scales_of_b(p, tile);

  f32 sum[kRows][kColumns] = {};
  for (i64 block = 0; block < blocks; ++block) {
    f32 part[kRows][kColumns] = {};
    const i64 begin = block * kScaleBlock, left = p.depth - begin;
    const i64 end = begin + (left < kScaleBlock ? left : kScaleBlock);
    for (i64 k = begin; k < end; k += kStep) {
      __syncthreads();
      decode_rows<kTileM>(a, k, p.depth, [&](int r) { return p.a + rows.a[r]; });
      decode_rows<kTileN>(b, k, p.depth, [&](int r) { return row_of_b(p, tile, r); });
      __syncthreads();
#pragma unroll 8
      for (int i = 0; i < kStep; ++i) {
        const Vector<f32, kRows> x = load<kRows>(&a[i][first_row]);
        const Vector<f32, kColumns> y = load<kColumns>(&b[i][first_column]);
#pragma unroll
        for (int r = 0; r < kRows; ++r)
#pragma unroll
          for (int n = 0; n < kColumns; ++n) part[r][n] = fmaf(x.of[r], y.of[n], part[r][n]);
      }
    }
    const f32 scale = b_s[block * p.b_s_block];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const f32 a_s = p.a_s[rows.a_s[first_row + r] + block * p.a_s_block];
#pragma unroll
      for (int n = 0; n < kColumns; ++n) sum[r][n] = fmaf(part[r][n] * a_s, scale, sum[r][n]);
    }
  }

#pragma unroll
  for (int n = 0; n < kColumns; ++n) {
    const f32 bias = bias_of(p, tile.expert, tile.column + first_column + n);
#pragma unroll
    for (int r = 0; r < kRows; ++r)
      finish<Element>(p, rows, first_row + r, tile.column + first_column + n, sum[r][n], bias);
  }
}

}  // namespace isomer::device
