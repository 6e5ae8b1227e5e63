#pragma once

#include "ops/attention/contract/geometry.hpp"
#include "ops/attention/cpu/kernel.hpp"

#include <cstddef>
#include <cstdint>

namespace isomer::ops::attention {

/// How the CPU cuts a call into pieces. A row is one query position of one head. A unit is what shares keys:
/// a kv head with its group of query heads, or a query head alone where heads are not packed.
///
/// An entry whose units have more than a few rows is prefill (kernel.hpp): a tile is up to block_m rows
/// of one unit, and its keys are converted in blocks of block_n. An entry with few rows is decode: a tile is
/// up to `bundle` units, because the kv heads of one key lie side by side in most caches, and memory is read
/// best in that order.
///
/// The bits of a row depend on the head dimensions, the options, the lengths of its own entry and the number
/// of parts, never on the rest of the batch: in whatever tile or strip it lies, it goes through the same
/// additions.
struct Tiling {
  bool pack = false;
  std::int64_t unit_heads = 1;  ///< query heads of one unit
  std::int64_t units = 0;       ///< of one entry
  std::int64_t block_m = 0, block_n = 0;
  std::int64_t bundle = 1;
  std::int64_t few_rows = 0;    ///< rows of a unit up to which an entry is decode
  std::int64_t parts = 1;       ///< upper bound of an entry's parts
  std::int64_t split_size = 0;  ///< keys of one part; 0: an entry's keys are divided by `parts`
  bool split_kv = false;   ///< parts are tasks of their own, combined at the end; else one after the other
  std::int64_t tiles = 0;  ///< upper bound over all entries
  int threads = 1;
  std::int64_t state_rows = 0;  ///< most rows of a tile of either form
  int strip_rows = 0;           ///< rows of a full prefill strip
  /// Floats of one converted row of q or k that are multiplied, and with zeros up to a whole vector. With qv,
  /// q's row goes on from qv_begin with qv's, and k's with v's.
  int query_dim = 0, row_stride = 0;
  int qv_begin = 0;
  int k_stride = 0, v_stride = 0;  ///< floats from row to row of a block, and of q and o in decode
  std::size_t state_bytes = 0;     ///< one tile's running result
  std::size_t scratch_bytes = 0;   ///< one thread's working memory
  std::size_t table_bytes = 0;     ///< first tile of every entry

  /// Keys that go through the softmax together in decode: short enough for what comes next to wait in the
  /// cache.
  static constexpr std::int64_t kDecodeKeys = 32;

  bool decode(const Entry& entry) const { return entry.q_len * unit_heads <= few_rows; }
  std::int64_t tiles_of(const Entry& entry) const;

  std::size_t workspace_bytes() const {
    const std::int64_t states = split_kv ? tiles * parts : 0;
    return table_bytes + static_cast<std::size_t>(threads) * scratch_bytes +
           static_cast<std::size_t>(states) * state_bytes;
  }
};

/// Decides from shapes and options alone.
Tiling tile_up(const Geometry& geometry, const AttentionOptions& options, const Kernels& kernels,
               int threads);

/// Running result of one tile over some of its keys: what the online softmax carries.
struct TileState {
  float* o = nullptr;  ///< Σ P·v, strip after strip
  float* max = nullptr;
  float* sum = nullptr;
  int* empty = nullptr;  ///< nonzero: no key yet, and the rest is not set
};

/// Where the keys of one block lie: pointers to the rows of the entry's first kv head.
struct BlockRows {
  const std::byte** k = nullptr;
  const std::byte** v = nullptr;
  const std::byte** k_scale = nullptr;  ///< of int8 rows
  const std::byte** v_scale = nullptr;
};

/// Working memory of one thread.
struct TileScratch {
  TileState whole, part;
  float* q = nullptr;          ///< the tile's rows, scaled, strip after strip
  float* k = nullptr;          ///< one block of keys …
  float* v = nullptr;          ///< … and values as f32
  float* scores = nullptr;     ///< of one strip
  float* row = nullptr;        ///< one row as f32
  float* rotary = nullptr;     ///< cosines and sines of one position
  std::byte* bytes = nullptr;  ///< one row in its element type
  int* key_begin = nullptr;    ///< what the rows of a strip see of a block
  int* key_end = nullptr;
  std::int64_t* visible_begin = nullptr;  ///< keys that each row of the tile sees
  std::int64_t* visible_end = nullptr;
  BlockRows rows, next_rows;
};

/// Places them in memory of state_bytes or scratch_bytes, 64-byte aligned.
TileState state_at(std::byte* memory, const Tiling& tiling, const Geometry& geometry);
TileScratch scratch_at(std::byte* memory, const Tiling& tiling, const Geometry& geometry);

}  // namespace isomer::ops::attention
