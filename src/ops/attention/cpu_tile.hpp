#pragma once

#include "ops/attention/cpu_tiling.hpp"

namespace isomer::ops::attention {

/// What every tile of one call works with.
struct TileContext {
  const Geometry& geometry;
  const Tiling& tiling;
  const Kernels& kernels;
};

/// One tile: loads its queries, takes its keys part by part, and writes its rows of out and lse.
class Tile {
 public:
  /// Tile `index` of one unit of batch entry b; loads no keys.
  Tile(const TileContext& context, const TileScratch& scratch, std::int64_t b, std::int64_t unit,
       std::int64_t index);

  std::int64_t parts() const { return parts_; }
  /// The tile's rows against the keys of one part.
  void attend(std::int64_t part, const TileState& state);
  /// `into` becomes the result over the keys of both.
  void join(const TileState& into, const TileState& from) const;
  void finish(const TileState& state) const;

  /// Tiles of one unit of an entry.
  static std::int64_t count(const Entry& entry, const Tiling& tiling);

 private:
  /// Rows of one kernel call: as Strip::width, from which row of the tile on.
  struct Span {
    std::int64_t first = 0, rows = 0;
    int width = 0;
  };
  Span span(std::int64_t first) const;
  std::int64_t position(std::int64_t row) const { return (first_row_ + row) / t_.unit_heads; }
  std::int64_t head(std::int64_t row) const {
    return unit_ * t_.unit_heads + (first_row_ + row) % t_.unit_heads;
  }

  void query(std::int64_t row, float* to) const;
  void load_queries();
  void load_keys(std::int64_t first, std::int64_t last, std::int64_t row) const;
  void advance(const Span& span, const TileState& state, const KeyRange& keys,
               std::int64_t block_begin) const;
  void finish_row(const TileState& state, const Span& span, std::int64_t row) const;
  void write_row(std::int64_t row, float lse) const;
  /// The row in f64, key by key: for logits or sums that f32 does not hold, and for inf and NaN, which must
  /// reach the rows that see them and no other.
  void wide_row(std::int64_t row) const;

  const Geometry& g_;
  const Tiling& t_;
  const Kernels& kernels_;
  TileScratch scratch_;
  std::int64_t b_, unit_, kv_head_;
  Entry entry_;
  std::int64_t first_row_ = 0, rows_ = 0;  ///< of the unit
  std::int64_t parts_ = 1, part_keys_ = 0;
  bool along_ = false;
  bool loaded_ = false;  ///< queries
};

}  // namespace isomer::ops::attention
