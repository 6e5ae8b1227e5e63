#include "ops/attention/cpu/tiling.hpp"
#include "core/ceil_div.hpp"

#include <algorithm>
#include <cstdlib>

namespace isomer::ops::attention {
namespace {

/// What a tile's q and o, a block's converted keys and values, and the keys and values of one block of a
/// bundle may take of a core's second-level cache: half a MiB on the smallest of today's servers.
constexpr std::int64_t kTileBytes = 290 << 10;
constexpr std::int64_t kBlockBytes = 160 << 10;
constexpr std::int64_t kBundleBytes = 128 << 10;
/// A strip's scores must leave room for the rest in 32 KiB of first-level cache.
constexpr std::int64_t kMostKeys = 128;
constexpr std::int64_t kMostRows = 288;
/// Tasks per thread below which tiles are made smaller or keys split: causal tiles differ in length.
constexpr std::int64_t kTasksPerThread = 4;
/// A part of fewer keys than this is not worth its combine.
constexpr std::int64_t kLeastPart = 256;
/// What the partial results of parts may take before the parts are done one after the other instead.
constexpr std::int64_t kMostStateBytes = 64 << 20;
/// 16 floats, so that rows of a power-of-two length do not meet in the same cache sets.
constexpr int kPadding = 16;

/// Hands out pieces of a piece of memory; with none, counts what they would take.
class Carver {
 public:
  explicit Carver(std::byte* memory) : memory_(memory) {}
  template <class T>
  void take(T*& to, std::int64_t count) {
    if (memory_ != nullptr) to = reinterpret_cast<T*>(memory_ + used_);
    used_ += core::align_up(static_cast<std::size_t>(count) * sizeof(T), core::kAlignment);
  }
  std::size_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
};

void carve(Carver& carver, TileState& s, const Tiling& t, const Geometry& g) {
  carver.take(s.o, std::max(t.block_m * g.head_dim_v, t.bundle * t.few_rows * t.v_stride));
  carver.take(s.max, t.state_rows);
  carver.take(s.sum, t.state_rows);
  carver.take(s.empty, 1);
}

void carve(Carver& carver, TileScratch& s, const Tiling& t, const Geometry& g) {
  const std::int64_t widest =
      core::align_up(std::max({std::int64_t{t.row_stride}, g.head_dim_v, t.block_n}), kPadding);
  carve(carver, s.whole, t, g);
  carve(carver, s.part, t, g);
  carver.take(s.q, std::max(t.block_m * t.query_dim, t.bundle * t.few_rows * t.k_stride));
  carver.take(s.k, t.block_n * t.k_stride);
  carver.take(s.v, t.block_n * t.v_stride);
  carver.take(s.scores, t.block_n * t.strip_rows);
  carver.take(s.row, widest);
  carver.take(s.rotary, 2 * widest);
  carver.take(s.bytes, widest * 4);
  carver.take(s.key_begin, t.strip_rows);
  carver.take(s.key_end, t.strip_rows);
  carver.take(s.visible_begin, t.state_rows);
  carver.take(s.visible_end, t.state_rows);
  for (BlockRows* rows : {&s.rows, &s.next_rows}) {
    carver.take(rows->k, t.block_n);
    carver.take(rows->v, t.block_n);
    if (!g.scaled()) continue;
    carver.take(rows->k_scale, t.block_n);
    carver.take(rows->v_scale, t.block_n);
  }
}

/// Rows of a tile: as many as the cache holds, but enough tiles for the threads.
std::int64_t rows_of_a_tile(const Tiling& t, const Geometry& g, const Kernels& kernels) {
  const std::int64_t strip = kernels.prefill_rows;
  const std::int64_t rows = std::max<std::int64_t>(g.seqlen_q * t.unit_heads, 1);
  const std::int64_t fit = kTileBytes / (4 * (t.query_dim + g.head_dim_v)) / strip * strip;
  std::int64_t m = std::clamp(fit, strip, std::max(strip, kMostRows / strip * strip));
  const auto tiles = [&] { return g.batch * t.units * core::ceil_div(rows, m); };
  while (m > 2 * strip && rows > m / 2 && tiles() < kTasksPerThread * t.threads)
    m = core::align_up(m / 2, strip);
  // Of equal length.
  return core::align_up(core::ceil_div(rows, core::ceil_div(rows, m)), strip);
}

/// Keys that a row may see, at most.
std::int64_t visible_keys(const Geometry& g) {
  const std::int64_t all = g.chunk > 0 ? std::min(g.seqlen_k, g.chunk + g.seqlen_q) : g.seqlen_k;
  if (g.window_left < 0 || g.window_right < 0) return all;
  return std::min(all, g.window_left + g.window_right + g.seqlen_q);
}

std::int64_t most_parts(const Geometry& g) { return std::max<std::int64_t>(visible_keys(g) / kLeastPart, 1); }

/// Units that a decode tile takes together: as many as lie side by side in the cache and as its block may
/// hold, but not so many that threads go without work.
std::int64_t bundle_of(const Tiling& t, const Geometry& g, const AttentionOptions& options) {
  // int8 rows are converted a block of one head at a time.
  if (std::abs(g.k.head_stride) > std::abs(g.k.row_stride) || g.scaled()) return 1;
  const std::int64_t bytes = Tiling::kDecodeKeys * (g.head_dim + g.head_dim_v) * size_of(g.k.dtype);
  const std::int64_t parts = options.split_size > 0   ? core::ceil_div(g.seqlen_k, options.split_size)
                             : options.num_splits > 0 ? options.num_splits
                                                      : most_parts(g);
  const std::int64_t spare = g.batch * t.units * std::max<std::int64_t>(parts, 1) / (2 * t.threads);
  return std::clamp<std::int64_t>(std::min(kBundleBytes / bytes, spare), 1,
                                  std::max<std::int64_t>(t.units, 1));
}

std::int64_t number_of_parts(const Tiling& t, const Geometry& g, const AttentionOptions& options) {
  if (options.split_size > 0)
    return std::max<std::int64_t>(core::ceil_div(g.seqlen_k, options.split_size), 1);
  if (options.num_splits > 0) return options.num_splits;
  const std::int64_t wanted = kTasksPerThread * t.threads;
  if (t.tiles == 0 || t.tiles * 2 > wanted) return 1;
  return std::clamp<std::int64_t>(core::ceil_div(wanted, t.tiles), 1, most_parts(g));
}

}  // namespace

std::int64_t Tiling::tiles_of(const Entry& entry) const {
  if (decode(entry)) return entry.q_len > 0 ? core::ceil_div(units, bundle) : 0;
  return units * core::ceil_div(entry.q_len * unit_heads, block_m);
}

TileState state_at(std::byte* memory, const Tiling& tiling, const Geometry& geometry) {
  TileState state;
  Carver carver(memory);
  carve(carver, state, tiling, geometry);
  return state;
}

TileScratch scratch_at(std::byte* memory, const Tiling& tiling, const Geometry& geometry) {
  TileScratch scratch;
  Carver carver(memory);
  carve(carver, scratch, tiling, geometry);
  return scratch;
}

Tiling tile_up(const Geometry& g, const AttentionOptions& options, const Kernels& kernels, int threads) {
  Tiling t;
  t.threads = threads;
  t.pack = options.pack_gqa == AttentionOptions::Choice::always ||
           (options.pack_gqa == AttentionOptions::Choice::plan && g.group > 1);
  t.unit_heads = t.pack ? std::max<std::int64_t>(g.group, 1) : 1;
  t.units = g.heads / t.unit_heads;
  t.strip_rows = kernels.prefill_rows;
  t.qv_begin = static_cast<int>(core::align_up(g.head_dim, kPadding));
  t.query_dim = static_cast<int>(g.has_qv() ? t.qv_begin + g.head_dim_v : g.head_dim);
  t.row_stride = static_cast<int>(core::align_up(t.query_dim, kPadding));
  t.k_stride = t.row_stride + kPadding;
  t.v_stride = static_cast<int>(core::align_up(g.head_dim_v, kPadding)) + kPadding;
  t.block_n = std::min(kBlockBytes / (4 * (t.k_stride + t.v_stride)) / kKeyStep * kKeyStep, kMostKeys);
  t.block_m = rows_of_a_tile(t, g, kernels);
  // A column-major row is not in one piece, nor are the keys of q and qv.
  t.few_rows = g.v_colmajor || g.has_qv() ? 0 : kernels.few_rows;
  t.bundle = bundle_of(t, g, options);
  t.state_rows = core::align_up(std::max(t.block_m, t.bundle * t.few_rows), kPadding);

  const std::int64_t most_rows = g.seqlen_q * t.unit_heads;
  if (most_rows <= t.few_rows) {
    t.tiles = most_rows > 0 ? g.batch * core::ceil_div(t.units, t.bundle) : 0;
  } else {
    t.tiles = g.batch * core::ceil_div(most_rows, t.block_m);
    if (g.varlen_q) t.tiles = std::min(t.tiles, g.total_q * t.unit_heads / t.block_m + g.batch);
    t.tiles *= t.units;
  }

  // A part longer than all keys is all keys; so a part's end cannot overflow.
  t.split_size = std::min(options.split_size, std::max<std::int64_t>(g.seqlen_k, 1));
  t.parts = number_of_parts(t, g, options);
  Carver state(nullptr), scratch(nullptr), table(nullptr);
  TileState some_state;
  TileScratch some_scratch;
  std::int64_t* first_tiles = nullptr;
  carve(state, some_state, t, g);
  carve(scratch, some_scratch, t, g);
  table.take(first_tiles, g.batch + 1);
  t.state_bytes = state.used();
  t.scratch_bytes = scratch.used();
  t.table_bytes = table.used();
  // Parts of their own only where the tiles alone would leave threads without work.
  t.split_kv = t.parts > 1 && t.tiles < kTasksPerThread * threads && t.tiles > 0 &&
               t.parts <= kMostStateBytes / static_cast<std::int64_t>(t.state_bytes) / t.tiles;
  return t;
}

}  // namespace isomer::ops::attention
