#pragma once

#include "gpu/facts.hpp"
#include "ops/attention/contract/geometry.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace isomer::ops::attention {

/// How a GPU cuts a call into blocks. A row is one query position of one head; a unit is what shares keys, a
/// kv head with its group of query heads or, where heads are not packed, one query head. A block takes
/// block_m rows of one unit through the keys of one part, block_n at a time.
struct GpuTiling {
  DType mma = DType::none;  ///< the 16-bit type that tensor cores multiply; none: plain multiply-adds in f32
  bool decode = false;      ///< few rows: K and V are read once, straight into fragments, and bound the call
  int plain = 0;            ///< of decode, nothing but what a plain call has: 1, and 2 with new keys
                            ///< (kernels/attention.h); 0: anything
  int resident = 0;         ///< blocks of decode that registers let onto a multiprocessor
  int head_dim = 0, head_dim_v = 0;  ///< compile-time: the call's, rounded up
  int block_m = 0, block_n = 0, threads = 0;
  std::int64_t shared_bytes = 0;
  bool pack = false;
  std::int64_t unit_heads = 1, units = 0;
  std::int64_t tiles = 0;       ///< of a unit, at most
  std::int64_t parts = 1;       ///< of an entry's keys, at most
  std::int64_t split_size = 0;  ///< keys of one part; 0: an entry's keys are divided by `parts`
  /// Of stream-K, which the keys of all entries are divided over, each a block for every tile of every unit;
  /// 0: an entry's keys are divided by themselves.
  std::int64_t workers = 0;
  std::int64_t least_part = 0;  ///< keys of a worker at least
  std::int64_t partial_rows = 0;

  std::int64_t blocks(std::int64_t batch) const {
    return tiles * units * (workers > 0 ? workers : batch * parts);
  }
  /// Of a row; `parts` where every entry has as many.
  std::int64_t expected_parts(const Geometry& g) const;
  /// Partial results, f32: Σ P·v of every part, head and row of q, then maximum and sum.
  std::size_t partial_out_bytes(const Geometry& g) const;
  std::size_t workspace_bytes(const Geometry& g) const;
};

/// Every row of every head begins at a multiple of that many bytes and its elements are adjacent.
bool aligned(const RowView& view, std::int64_t heads, std::int64_t bytes);

/// Decides from shapes, options, alignment and facts alone.
GpuTiling tile_up(const Geometry& geometry, const AttentionOptions& options, const gpu::Facts& facts);

/// Why it cannot be done; empty where it can.
std::string refuse(const Geometry& geometry, const AttentionOptions& options, const gpu::Facts& facts);

}  // namespace isomer::ops::attention
