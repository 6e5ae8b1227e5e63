#pragma once

#include "gpu/facts.hpp"
#include "ops/attention/contract/geometry.hpp"

#include <cstdint>
#include <string>

namespace isomer::ops::attention {

/// How the Hopper kernel cuts a call: tiles of 128, 192 or 256 queries of one head, worked through in blocks
/// of keys; in pieces where that is asked for or shorter: rows of several heads share a tile, keys are
/// divided or paged.
struct Sm90Tiling {
  int head_dim = 0, head_dim_v = 0;  ///< compile-time: the call's, rounded up
  int block_n = 0;                   ///< keys of a block
  std::int64_t rows = 0;             ///< of a tile, 64 to a warpgroup
  bool freely = false;               ///< its warpgroups do not take turns
  int stages = 0;                    ///< of K and of V
  int query_buffers = 0;             ///< with one, a tile begins when the one before it has ended
  std::int64_t shared_bytes = 0;
  bool lengths = false;           ///< some lie on the device: row_tiles and tiles are upper bounds
  bool clears = false;            ///< a block may hold slots behind an entry's keys, which may hold NaN
  std::int64_t row_tiles = 0;     ///< of a head of one entry
  std::int64_t missing_rows = 0;  ///< the first tile of a head has so many rows less
  std::int64_t tiles = 0;         ///< of the call
  std::int64_t section = 1;       ///< heads whose K and V lie in L2 together
  std::int64_t grid = 0;

  bool pieces = false;
  std::int64_t pack = 1;                   ///< query heads that share a tile
  std::int64_t units = 0;                  ///< of an entry: heads / pack
  std::int64_t tile_rows = 0;              ///< in use, whole queries
  std::int64_t parts = 1, split_size = 0;  ///< of an entry's keys, as GpuTiling has them
  std::int64_t divided_units = 0;          ///< the last entry's last ones, which alone are; 0: all are
  std::int64_t box_rows = 0;               ///< of K and V in one copy
  bool ragged = false;                     ///< entries have different numbers of queries

  /// That come first and have all of their keys, where others do not; 0 where all are alike.
  std::int64_t whole_tiles() const {
    return divided_units > 0 ? tiles - divided_units * row_tiles * parts : 0;
  }

  // What the model of its schedule asks for.
  double border = 2;  ///< of a tile beside its blocks of keys, in blocks: first S and softmax, last P·V, out
  std::int64_t heads = 0;  ///< of all entries; units where they are packed
  std::int64_t seqlen_q = 0, seqlen_k = 0;
  std::int64_t window_left = -1, window_right = -1;
  std::int64_t chunk = 0;
};

/// Rows and windows are counted in 32 bits, and sums of two of them too.
constexpr std::int64_t kMostSm90Rows = std::int64_t{1} << 29;

// Why no Hopper kernel takes the call; empty where one may.

/// What a tensor map asks of q, k, v, qv or out.
std::string misfit(const char* name, const RowView& view, std::int64_t heads);
/// What is more than the kernels count, or a scale beyond f32. `pieces`: rows of all heads are counted.
std::string beyond_counts(const Geometry& geometry, const AttentionOptions& options, bool pieces);

/// Why the Hopper kernel does not take the call, or another does better; empty where it takes it.
std::string refuse_sm90(const Geometry& geometry, const AttentionOptions& options, const gpu::Facts& facts);

/// Of a call that is not refused.
Sm90Tiling tile_up_sm90(const Geometry& geometry, const AttentionOptions& options, const gpu::Facts& facts);

/// The part of a call whose tiles are divided: all of it, or the last heads of its last entry.
Geometry divided_of(const Geometry& geometry, const Sm90Tiling& tiling);

/// How a call's tiles fall on multiprocessors that each take the next one when they are ready, in units of
/// one block of keys. A tile costs its blocks and a border; nothing else is modelled.
struct Sm90Schedule {
  double makespan = 0, mean = 0;
  /// Of the multiprocessors' time until the last has ended.
  double idle() const { return makespan > 0 ? 1 - mean / makespan : 0; }
};
Sm90Schedule schedule_sm90(const Sm90Tiling& tiling);

/// Where a head's tiles do not fill up, its last one is short, or its first one where that saves blocks:
/// under a causal mask the last one sees the most keys. Rows that the first one lacks.
std::int64_t missing_rows_of(const Sm90Tiling& tiling);

}  // namespace isomer::ops::attention
