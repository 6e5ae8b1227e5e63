// Which tiles of c a block of the Hopper kernel owns, one after the other.
#pragma once

#include "gpu/device/platform.cuh"
#include "ops/fp8_gemm/kernels/fp8_gemm_sm90.h"

namespace isomer::device {

ISOMER_DEVICE u32 quotient(u32 number, const TileDivisor& divisor) {
  return static_cast<u32>(static_cast<u64>(number) * divisor.multiplier >> divisor.shift);
}

/// Rows [row, end) of a tile exist, as far as they are its own; columns begin at `column`.
struct Sm90Tile {
  i32 expert, row, end, column;
};

/// The tiles of one block, each role of which goes through them for itself. kRows × kColumns each; kCluster
/// blocks have adjacent tiles of rows. kPadding: instead of the tiles that are multiplied, those of padding
/// (contiguous rows).
template <GemmRows kLayout, int kRows, int kColumns, int kCluster, bool kPadding = false>
class Sm90Tiles {
 public:
  /// Block or cluster `first` of `step`, and its number in the cluster.
  ISOMER_DEVICE Sm90Tiles(const Fp8GemmSm90Parameters& p, u32 first, u32 step, u32 rank)
      : p_(p), index_(first), step_(step), rank_(rank) {}

  /// False behind the last.
  ISOMER_DEVICE bool next(Sm90Tile& tile) {
    const Fp8GemmParameters& g = p_.gemm;
    if constexpr (kLayout == GemmRows::masked) {
      for (; expert_ < static_cast<u32>(g.experts); ++expert_) {
        const i32 count = g.row_counts[expert_ * g.count_step];
        const u32 rows = count < 0 ? 0 : count < g.rows ? count : static_cast<u32>(g.rows);
        const u32 high = (rows + kRows - 1) / kRows, tiles = high * g.column_tiles;
        const u32 at = index_ - before_;
        if (at < tiles) {
          tile.expert = static_cast<i32>(expert_);
          tile.row = static_cast<i32>(at % high * kRows);
          tile.end = static_cast<i32>(rows);
          tile.column = static_cast<i32>(at / high * kColumns);
          index_ += step_;
          return true;
        }
        before_ += tiles;
      }
      return false;
    } else {
      for (; index_ < p_.tiles;) {
        place(tile);
        index_ += step_;
        if constexpr (kLayout == GemmRows::single) return true;
        const i32 id = g.expert_ids[tile.row * g.id_step];
        tile.expert = id;
        if ((id >= 0 && id < g.experts) != kPadding) return true;
      }
      return false;
    }
  }

 private:
  /// Tiles run through groups of tiles of rows, so that what runs at once shares rows of a and of b in the L2
  /// cache.
  ISOMER_DEVICE void place(Sm90Tile& tile) const {
    const Fp8GemmParameters& g = p_.gemm;
    const u32 group = quotient(index_, p_.group), at = index_ - group * p_.group.number;
    const TileDivisor& high = g.row_tiles - group * p_.together < p_.together ? p_.last : p_.high;
    const u32 column = quotient(at, high);
    tile.expert = 0;
    tile.row =
        static_cast<i32>(((group * p_.together + at - column * high.number) * kCluster + rank_) * kRows);
    tile.end = static_cast<i32>(g.rows);
    tile.column = static_cast<i32>(column * kColumns);
  }

  const Fp8GemmSm90Parameters& p_;
  u32 index_, step_, rank_;
  u32 expert_ = 0, before_ = 0;  // masked: where the tiles of an expert begin
};

}  // namespace isomer::device
