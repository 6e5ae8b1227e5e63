#pragma once

#include "ops/attention/cpu/tiling.hpp"

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
  /// Tile `index` of Tiling::tiles_of of batch entry b. Touches no keys.
  Tile(const TileContext& context, const TileScratch& scratch, std::int64_t b, std::int64_t index);

  std::int64_t parts() const { return parts_; }
  /// The tile's rows against the keys of one part.
  void attend(std::int64_t part, const TileState& state);
  /// `into` becomes the result over the keys of both.
  void join(const TileState& into, const TileState& from) const;
  void finish(const TileState& state) const;

 private:
  /// Rows of one kernel call, from a row of the tile on; they are of one unit.
  struct Span {
    std::int64_t first = 0, rows = 0;
    int width = 0;  ///< Strip::width
  };
  Span span(std::int64_t first) const;
  template <class Function>
  void for_each_span(Function&& function) const {
    for (std::int64_t first = 0; first < rows_;) {
      const Span s = span(first);
      function(s);
      first += s.rows;
    }
  }

  std::int64_t position(std::int64_t row) const { return (first_row_ + row) % unit_rows_ / t_.unit_heads; }
  std::int64_t head(std::int64_t row) const {
    const std::int64_t n = first_row_ + row;
    return (unit_ + n / unit_rows_) * t_.unit_heads + n % t_.unit_heads;
  }
  std::int64_t kv_head(std::int64_t row) const { return g_.kv_head(head(row)); }

  // Where a strip's q and o begin, and element (row of the strip, column) in them.
  std::int64_t q_at(const Span& s) const { return s.first * (decode_ ? t_.k_stride : t_.query_dim); }
  std::int64_t o_at(const Span& s) const { return s.first * (decode_ ? t_.v_stride : g_.head_dim_v); }
  std::int64_t column_step(const Span& s) const { return decode_ ? 1 : s.width; }

  void query(std::int64_t row, float* to) const;
  void load_queries();

  void attend_prefill(const TileState& state, const KeyRange& keys, std::int64_t part_begin);
  void attend_decode(const TileState& state, const KeyRange& keys, std::int64_t part_begin);
  /// Pointers to keys [first, last) of the block that begins there, `count` of them from `first` on: the last
  /// again and again past its end.
  void locate(std::int64_t block_begin, std::int64_t first, std::int64_t last, std::int64_t count,
              const BlockRows& rows) const;
  /// The int8 rows [first, last) of a block, of k or of v.
  void convert_int8(const BlockRows& rows, std::int64_t first, std::int64_t last) const;
  void convert(std::int64_t block_begin, std::int64_t first, std::int64_t last, const BlockRows& rows,
               std::int64_t kv_head) const;
  /// What the rows of a strip see of the keys that lie in a block, and the steps that some of them sees.
  struct Seen {
    int first = 0, last = 0;
    bool masked = false;
  };
  Seen look(const Span& span, const KeyRange& keys, std::int64_t block_begin, std::int64_t block_keys) const;
  Strip strip(const Span& span, const TileState& state) const;

  void finish_row(const TileState& state, const Span& span, std::int64_t row) const;
  void write_row(std::int64_t row, float lse) const;
  /// The row in f64, key by key: for logits or sums that f32 does not hold, and for inf and NaN, which must
  /// reach the rows that see them and no other.
  void f64_row(std::int64_t row) const;
  /// Key j or value j of a kv head as f32, into scratch.row.
  void one_row(const RowView& rows, const RowView& scales, const KeyRun& at, std::int64_t head_kv,
               std::int64_t count) const;

  const Geometry& g_;
  const Tiling& t_;
  const Kernels& kernels_;
  TileScratch scratch_;
  std::int64_t b_;
  Entry entry_;
  bool decode_ = false;
  std::int64_t unit_ = 0;  ///< the first
  std::int64_t unit_rows_ = 0, first_row_ = 0,
               rows_ = 0;  ///< rows of a unit; the tile's, from the first unit's first
  std::int64_t parts_ = 1, part_keys_ = 0;
  bool loaded_ = false;  ///< queries
};

}  // namespace isomer::ops::attention
