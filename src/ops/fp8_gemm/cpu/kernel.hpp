#pragma once

#include <isomer/dtype.hpp>

#include "cpu/target.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"

#include <cstddef>
#include <cstdint>

namespace isomer::ops::fp8_gemm {

/// Up to this many rows of a, b is read once and never unpacked: the time is that of reading b.
inline constexpr std::int64_t kSkinnyRows = 8;
/// Every target's register tile divides these: rows of a tile (but the last) are multiples of the first,
/// columns of the second.
inline constexpr std::int64_t kStripRows = 12, kPanelColumns = 32;
/// The largest tile: its decoded block of a (120 KiB) and its f32 sums (240 KiB) stay in a 512 KiB L2.
inline constexpr std::int64_t kTileRows = 240, kTileColumns = 256;

/// What one task computes: some rows of a against some rows of b, over all of K.
struct Tile {
  std::int64_t rows = 0, columns = 0, depth = 0;
  bool skinny =
      false;  ///< at most kSkinnyRows rows; decided by the whole product so that tiling never changes results
  const std::uint8_t* const* a = nullptr;  ///< each row
  const float* const* a_s = nullptr;       ///< each row's first scale
  std::int64_t a_s_stride = 0;             ///< between blocks of K
  const std::uint8_t* b = nullptr;         ///< first row of b in the tile
  std::int64_t b_stride = 0;
  const float* b_s = nullptr;  ///< scale of row 0 and block 0 of all of b
  std::int64_t b_s_row_stride = 0, b_s_stride = 0;
  std::int64_t first_column = 0;  ///< index in b of the tile's first row; a multiple of kPanelColumns
  const float* bias = nullptr;    ///< one per column of the tile, or null
  DType c_type = DType::f32;
  std::byte* const* c = nullptr;             ///< each row at the tile's first column
  const std::byte* const* addend = nullptr;  ///< likewise, or null
  float* scratch = nullptr;  ///< scratch_floats() of the tile's largest sizes, 64-byte aligned
};

/// Floats of scratch for tiles up to that size.
std::size_t scratch_floats(std::int64_t rows, std::int64_t columns);

using TileFunction = void (*)(const Tile& tile);
const cpu::PerTarget<TileFunction>& tile_function();

}  // namespace isomer::ops::fp8_gemm
