// The product of at most kSkinnyRows rows: vectors run along K, b is decoded in registers and read once, in
// rows as it lies. Include after hwy/highway.h.
#if defined(ISOMER_FP8_GEMM_SKINNY_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ISOMER_FP8_GEMM_SKINNY_INL
#undef ISOMER_FP8_GEMM_SKINNY_INL
#else
#define ISOMER_FP8_GEMM_SKINNY_INL
#endif

#include <hwy/cache_control.h>

#include "core/codec.hpp"
#include "ops/fp8_gemm/cpu/decode-inl.hpp"
#include "ops/fp8_gemm/cpu/kernel.hpp"

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::fp8_gemm::HWY_NAMESPACE {

/// Columns whose vector sums stay in L1 while K is walked.
constexpr std::int64_t kSkinnyColumns = 64;
/// Elements of a that are decoded at a time, over all rows: 16 KiB of f32, half of a small L1.
constexpr std::int64_t kSkinnyChunk = 4096;
/// Floats of a_s, sums and chunk together: what SkinnyProduct takes of the scratch before the result.
constexpr std::int64_t kSkinnyScratch =
    kSkinnyChunk + kSkinnyRows * kRowPadding + kSkinnyColumns * kSkinnyRows * kLanes;

/// One block of K of R rows of a (f32, `a_stride` apart) against C rows of b: adds the scaled vector of
/// products to totals[C][R]; `seen` is that of SeeNaN.
template <int R, int C>
HWY_INLINE void SkinnyBlock(const float* HWY_RESTRICT a, std::int64_t a_stride,
                            const std::uint8_t* const (&b)[C], const float (&a_s)[R], const float (&b_s)[C],
                            hn::Vec<U8> (&seen)[C], float* HWY_RESTRICT totals) {
  const F32 d;
  VF dot[R][C];
  HWY_UNROLL(8)
  for (int r = 0; r < R; ++r) {
    HWY_UNROLL(4)
    for (int c = 0; c < C; ++c) dot[r][c] = hn::Zero(d);
  }
  HWY_UNROLL(2)
  for (std::int64_t k = 0; k < kScaleBlock; k += kLanes) {
    VF y[C];
    HWY_UNROLL(4)
    for (int c = 0; c < C; ++c) y[c] = Decode(d, b[c] + k);
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) {
      const VF x = hn::Load(d, a + r * a_stride + k);
      HWY_UNROLL(4)
      for (int c = 0; c < C; ++c) dot[r][c] = hn::MulAdd(x, y[c], dot[r][c]);
    }
  }
  HWY_UNROLL(4)
  for (int c = 0; c < C; ++c) {
    seen[c] = SeeNaN(b[c], seen[c]);
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) {
      float* total = totals + (c * R + r) * kLanes;
      const VF scaled = hn::Mul(dot[r][c], hn::Set(d, a_s[r]));
      hn::Store(hn::MulAdd(scaled, hn::Set(d, b_s[c]), hn::Load(d, total)), d, total);
    }
  }
}

/// K from `begin` to `end` of R rows of a, decoded in `chunk`, against C columns of the tile from `column`
/// on.
template <int R, int C>
HWY_INLINE void SkinnyColumns(const Tile& tile, const std::int64_t (&rows)[R], const float* chunk,
                              std::int64_t chunk_stride, std::int64_t begin, std::int64_t end,
                              std::int64_t column, float* totals) {
  const F32 d;
  const U8 d8;
  const std::uint8_t *b[C], *next[C];
  const float* b_s[C];
  hn::Vec<U8> seen[C];
  for (int c = 0; c < C; ++c) {
    const std::int64_t n = std::min(column + c, tile.columns - 1);
    b[c] = tile.b + n * tile.b_stride;
    next[c] = tile.b + std::min(column + C + c, tile.columns - 1) * tile.b_stride;
    b_s[c] = tile.b_s + (tile.first_column + n) / kScaleBlock * tile.b_s_row_stride;
    seen[c] = hn::Zero(d8);
  }
  for (std::int64_t k = begin; k < end; k += kScaleBlock) {
    HWY_ALIGN std::uint8_t copies[C][kScaleBlock];
    const std::uint8_t* block[C];
    float block_a_s[R], block_b_s[C];
    const std::int64_t kb = k / kScaleBlock;
    for (int c = 0; c < C; ++c) {
      // The same piece of the columns to come: short pieces end before the hardware has learnt the stream.
      hwy::Prefetch(next[c] + k);
      hwy::Prefetch(next[c] + std::min(k + 64, end - 1));
      block[c] = WholeBlock(b[c] + k, tile.depth - k, copies[c]);
      block_b_s[c] = b_s[c][kb * tile.b_s_stride];
    }
    for (int r = 0; r < R; ++r) block_a_s[r] = tile.a_s[rows[r]][kb * tile.a_s_stride];
    SkinnyBlock<R, C>(chunk + k - begin, chunk_stride, block, block_a_s, block_b_s, seen, totals);
  }
  for (int c = 0; c < C; ++c)
    if (HWY_UNLIKELY(SawNaN(seen[c])))
      for (int r = 0; r < R; ++r)
        hn::Store(hn::Set(d, std::numeric_limits<float>::quiet_NaN()), d, totals + (c * R + r) * kLanes);
}

/// One element of the product as it is defined, a block's sum first. Where scales are infinite or overflow,
/// that decides between infinity and the NaN that lanes of both signs would give.
inline float DefinedElement(const Tile& tile, std::int64_t row, std::int64_t column) {
  float sum = 0;
  const std::uint8_t* b = tile.b + column * tile.b_stride;
  const float* b_s = tile.b_s + (tile.first_column + column) / kScaleBlock * tile.b_s_row_stride;
  for (std::int64_t begin = 0; begin < tile.depth; begin += kScaleBlock) {
    const std::int64_t kb = begin / kScaleBlock, end = std::min(begin + kScaleBlock, tile.depth);
    float dot = 0;
    for (std::int64_t k = begin; k < end; ++k)
      dot += core::e4m3fn_to_f32(tile.a[row][k]) * core::e4m3fn_to_f32(b[k]);
    sum += dot * tile.a_s[row][kb * tile.a_s_stride] * b_s[kb * tile.b_s_stride];
  }
  return sum;
}

/// sums[row][column] of the tile, rows sums_stride apart. The tile's rows are made R by repeating the last.
template <int R, int C>
void SkinnyProduct(const Tile& tile, float* sums, std::int64_t sums_stride) {
  const F32 d;
  constexpr std::int64_t kChunk = kSkinnyChunk / R, kChunkStride = kChunk + kRowPadding;
  float* chunk = tile.scratch;
  float* totals = chunk + kSkinnyChunk + R * kRowPadding;
  std::int64_t rows[R];
  for (int r = 0; r < R; ++r) rows[r] = std::min<std::int64_t>(r, tile.rows - 1);
  for (std::int64_t first = 0; first < tile.columns; first += kSkinnyColumns) {
    const std::int64_t last = std::min(first + kSkinnyColumns, tile.columns);
    std::fill_n(totals, kSkinnyColumns * R * kLanes, 0.0f);
    for (std::int64_t begin = 0; begin < tile.depth; begin += kChunk) {
      const std::int64_t end = std::min(begin + kChunk, tile.depth);
      for (int r = 0; r < R; ++r)
        for (std::int64_t k = begin; k < end; k += kScaleBlock)
          DecodeRow(tile.a[rows[r]] + k, tile.depth - k, chunk + r * kChunkStride + k - begin);
      for (std::int64_t column = first; column < last; column += C)
        SkinnyColumns<R, C>(tile, rows, chunk, kChunkStride, begin, end, column,
                            totals + (column - first) * R * kLanes);
    }
    for (std::int64_t column = first; column < last; ++column)
      for (std::int64_t r = 0; r < tile.rows; ++r) {
        float sum = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, totals + ((column - first) * R + r) * kLanes)));
        if (HWY_UNLIKELY(!std::isfinite(sum))) sum = DefinedElement(tile, r, column);
        sums[r * sums_stride + column] = sum;
      }
  }
}

}  // namespace isomer::ops::fp8_gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
