// The register-tiled product of a block of a with packed panels of b. Include after hwy/highway.h.
#if defined(ISOMER_FP8_GEMM_PANEL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ISOMER_FP8_GEMM_PANEL_INL
#undef ISOMER_FP8_GEMM_PANEL_INL
#else
#define ISOMER_FP8_GEMM_PANEL_INL
#endif

#include "ops/fp8_gemm/cpu/decode-inl.hpp"
#include "ops/fp8_gemm/cpu/kernel.hpp"

#include <array>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::fp8_gemm::HWY_NAMESPACE {

/// Columns of a panel: two vectors, but never fewer than the 16 of one byte transposition.
constexpr std::int64_t kColumns = std::max<std::int64_t>(16, 2 * kLanes);
constexpr int kVectors = static_cast<int>(kColumns / kLanes);
/// Rows of a strip: kRows·kVectors sums, one row of the panel and one element of a fill the register file (16
/// registers with AVX2, 32 with AVX-512 and NEON).
#if HWY_TARGET == HWY_AVX3
constexpr int kRows = 12;
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON
constexpr int kRows = 6;
#else
constexpr int kRows = 3;
#endif
constexpr std::int64_t kBlockStride = kScaleBlock + kRowPadding;
static_assert(kStripRows % kRows == 0 && kPanelColumns % kColumns == 0 && kScaleBlock % kColumns == 0);

/// Interleaves the first half of 16 vectors with the second: four times over, it transposes 16×16 bytes.
template <class D, class V>
HWY_INLINE void Shuffle(D d, const V (&from)[16], V (&to)[16]) {
  HWY_UNROLL(8)
  for (int i = 0; i < 8; ++i) {
    to[2 * i] = hn::InterleaveLower(d, from[i], from[i + 8]);
    to[2 * i + 1] = hn::InterleaveUpper(d, from[i], from[i + 8]);
  }
}

/// 16-byte parts of a vector; interleaving never crosses them.
constexpr std::int64_t kParts = kBytes / 16;

/// kBytes columns k of 16 rows, transposed part by part: to[i][part] holds the 16 rows' bytes at k + 16·part
/// + i. `seen` is that of SeeNaN.
HWY_INLINE void Transpose(const std::uint8_t* const* rows, std::int64_t k, hn::Vec<U8>& seen,
                          std::uint8_t* to) {
  const U8 d;
  hn::Vec<U8> x[16], y[16];
  HWY_UNROLL(16)
  for (int i = 0; i < 16; ++i) {
    x[i] = hn::LoadU(d, rows[i] + k);
    seen = SeeNaN(x[i], seen);
  }
  Shuffle(d, x, y);
  Shuffle(d, y, x);
  Shuffle(d, x, y);
  Shuffle(d, y, x);
  HWY_UNROLL(16)
  for (int i = 0; i < 16; ++i) hn::Store(x[i], d, to + i * kBytes);
}

/// One block of kColumns rows of b as panel[k][column], divided by 256.
HWY_INLINE void PackPanel(const std::uint8_t* const (&rows)[kColumns], float* HWY_RESTRICT panel) {
  const F32 d;
  const U8 d8;
  HWY_ALIGN std::uint8_t bytes[16 * kBytes];
  auto seen = hn::Zero(d8);
  for (std::int64_t column = 0; column < kColumns; column += 16)
    for (std::int64_t k = 0; k < kScaleBlock; k += kBytes) {
      Transpose(rows + column, k, seen, bytes);
      for (std::int64_t part = 0; part < kParts; ++part) {
        HWY_UNROLL(4)
        for (std::int64_t i = 0; i < 16; ++i) {
          HWY_UNROLL(4)
          for (std::int64_t c = 0; c < 16; c += kLanes)
            hn::Store(Decode(d, bytes + i * kBytes + part * 16 + c), d,
                      panel + (k + part * 16 + i) * kColumns + column + c);
        }
      }
    }
  if (HWY_LIKELY(!SawNaN(seen))) return;
  for (std::int64_t column = 0; column < kColumns; ++column)
    for (std::int64_t k = 0; k < kScaleBlock; ++k)
      if (IsNaN(rows[column][k])) panel[k * kColumns + column] = std::numeric_limits<float>::quiet_NaN();
}

/// sums[R][kColumns] += a[R][depth] · panel[depth][kColumns], the product scaled by each row's a_s and by
/// b_s; sums of the first block begin at 0. Rows of a are kBlockStride apart.
template <int R>
void Strip(const float* HWY_RESTRICT a, const float* HWY_RESTRICT panel, std::int64_t depth, const float* a_s,
           float b_s, bool first, float* HWY_RESTRICT sums) {
  const F32 d;
  VF dot[R][kVectors];
  HWY_UNROLL(12)
  for (int r = 0; r < R; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) dot[r][v] = hn::Zero(d);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    VF b[kVectors];
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) b[v] = hn::Load(d, panel + k * kColumns + v * kLanes);
    HWY_UNROLL(12)
    for (int r = 0; r < R; ++r) {
      const VF x = hn::Set(d, a[r * kBlockStride + k]);
      HWY_UNROLL(4)
      for (int v = 0; v < kVectors; ++v) dot[r][v] = hn::MulAdd(x, b[v], dot[r][v]);
    }
  }
  HWY_UNROLL(12)
  for (int r = 0; r < R; ++r) {
    HWY_UNROLL(4)
    for (int v = 0; v < kVectors; ++v) {
      float* sum = sums + r * kColumns + v * kLanes;
      const VF before = first ? hn::Zero(d) : hn::Load(d, sum);
      hn::Store(hn::MulAdd(hn::Mul(dot[r][v], hn::Set(d, a_s[r])), hn::Set(d, b_s), before), d, sum);
    }
  }
}

using StripFunction = decltype(&Strip<1>);

template <int... R>
constexpr std::array<StripFunction, sizeof...(R)> StripTable(std::integer_sequence<int, R...>) {
  return {&Strip<R + 1>...};
}

/// Asks for a panel before it is packed. A piece of a row is two cache lines, too short for the hardware to
/// see a stream. Into L2, since rows a power of two apart would evict each other from L1.
HWY_INLINE void PrefetchPanel(const Tile& tile, std::int64_t column, std::int64_t k) {
  if (k >= tile.depth) return;
  const std::int64_t second_line = std::min(k + 64, tile.depth - 1);
  const std::int64_t last = std::min(column + kColumns, tile.columns);
  for (; column < last; ++column) {
    const std::uint8_t* row = tile.b + column * tile.b_stride;
    __builtin_prefetch(row + k, 0, 2);
    __builtin_prefetch(row + second_line, 0, 2);
  }
}

/// The tile's sums as [panel][row][kColumns]; returns where they are.
inline float* PanelProduct(const Tile& tile) {
  static constexpr auto kStrips = StripTable(std::make_integer_sequence<int, kRows>());
  static constexpr std::uint8_t kZeros[kScaleBlock] = {};
  float* block = tile.scratch;
  float* panel = block + tile.rows * kBlockStride;
  float* sums = panel + kScaleBlock * kColumns;
  float a_s[kTileRows];
  if (tile.depth == 0)
    std::fill_n(sums, tile.rows * ((tile.columns + kColumns - 1) / kColumns * kColumns), 0.0f);
  for (std::int64_t begin = 0; begin < tile.depth; begin += kScaleBlock) {
    const std::int64_t kb = begin / kScaleBlock;
    const std::int64_t depth = std::min(kScaleBlock, tile.depth - begin);
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      DecodeRow(tile.a[r] + begin, depth, block + r * kBlockStride);
      a_s[r] = tile.a_s[r][kb * tile.a_s_stride];
    }
    for (std::int64_t column = 0; column < tile.columns; column += kColumns) {
      HWY_ALIGN std::uint8_t copies[kColumns][kScaleBlock];
      const std::uint8_t* rows[kColumns];
      for (std::int64_t c = 0; c < kColumns; ++c)
        rows[c] = column + c < tile.columns
                      ? WholeBlock(tile.b + (column + c) * tile.b_stride + begin, depth, copies[c])
                      : kZeros;
      PackPanel(rows, panel);
      PrefetchPanel(tile, column + kColumns < tile.columns ? column + kColumns : 0,
                    column + kColumns < tile.columns ? begin : begin + kScaleBlock);
      const float b_s =
          tile.b_s[(tile.first_column + column) / kScaleBlock * tile.b_s_row_stride + kb * tile.b_s_stride];
      for (std::int64_t r = 0; r < tile.rows; r += kRows) {
        const auto rows_left = static_cast<std::size_t>(std::min<std::int64_t>(kRows, tile.rows - r));
        kStrips[rows_left - 1](block + r * kBlockStride, panel, depth, a_s + r, b_s, kb == 0,
                               sums + column * tile.rows + r * kColumns);
      }
    }
  }
  return sums;
}

}  // namespace isomer::ops::fp8_gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
