#include "ops/attention/cpu_tile.hpp"

#include "ops/attention/cpu_append.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isomer::ops::attention {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

std::int64_t round_down(std::int64_t a) { return a / kKeyStep * kKeyStep; }
std::int64_t round_up(std::int64_t a) { return round_down(a + kKeyStep - 1); }

/// What sums that were taken against `max` count for against m; 0 where they saw no key.
float weight(float max, float m) { return max == kNever ? 0.0f : std::exp(max - m); }

}  // namespace

std::int64_t Tile::count(const Entry& entry, const Tiling& tiling) {
  return (entry.q_len * tiling.unit_heads + tiling.block_m - 1) / tiling.block_m;
}

Tile::Tile(const TileContext& context, const TileScratch& scratch, std::int64_t b, std::int64_t unit,
           std::int64_t index)
    : g_(context.geometry),
      t_(context.tiling),
      kernels_(context.kernels),
      scratch_(scratch),
      b_(b),
      unit_(unit),
      kv_head_(g_.kv_head(unit * t_.unit_heads)),
      entry_(g_.entry(b)) {
  const std::int64_t unit_rows = entry_.q_len * t_.unit_heads;
  first_row_ = index * t_.block_m;
  rows_ = std::min(t_.block_m, unit_rows - first_row_);
  // By the entry alone, so that its bits do not depend on how tiles are cut.
  along_ = unit_rows <= kernels_.few_rows;
  if (t_.split_size > 0) {
    part_keys_ = t_.split_size;
    parts_ = std::max<std::int64_t>((entry_.k_len + part_keys_ - 1) / part_keys_, 1);
  } else {
    parts_ = t_.parts;
    part_keys_ = round_up((entry_.k_len + parts_ - 1) / parts_);
  }
  for (std::int64_t r = 0; r < rows_; ++r) {
    const KeyRange range = g_.visible(entry_, position(r));
    scratch_.visible_begin[r] = range.lo;
    scratch_.visible_end[r] = range.hi;
  }
}

Tile::Span Tile::span(std::int64_t first) const {
  Span s{.first = first};
  s.rows = std::min<std::int64_t>(along_ ? kernels_.along_rows : kernels_.across_rows, rows_ - first);
  s.width =
      static_cast<int>(along_ ? s.rows : (s.rows + kernels_.lanes - 1) / kernels_.lanes * kernels_.lanes);
  return s;
}

/// The row's query as the op has it, rotated where asked, not scaled.
void Tile::query(std::int64_t row, float* to) const {
  const std::int64_t i = position(row);
  const std::byte* from = g_.q.at(entry_.q_outer, entry_.q_row + i, head(row));
  const int d = static_cast<int>(g_.head_dim);
  kernels_.load(g_.q.dtype, &from, 1, d, to, 0, t_.row_stride);
  if (!g_.rotary) return;
  rotate(g_, kernels_, g_.q_position(entry_, i), to, scratch_.rotary);
  // The op rounds a rotated query to its type.
  kernels_.store(g_.q.dtype, to, scratch_.bytes, d);
  from = scratch_.bytes;
  kernels_.load(g_.q.dtype, &from, 1, d, to, 0, t_.row_stride);
}

void Tile::load_queries() {
  loaded_ = true;
  double factor = g_.scale * g_.logit_descale(b_, kv_head_);
  if (g_.softcap > 0) factor /= g_.softcap;
  const float scale = static_cast<float>(factor);
  const std::int64_t d = g_.head_dim;
  for (std::int64_t first = 0; first < rows_;) {
    const Span s = span(first);
    float* q = scratch_.q + first * (along_ ? t_.k_stride : d);
    if (!along_ && s.rows < s.width) std::fill(q, q + d * s.width, 0.0f);
    for (std::int64_t r = 0; r < s.rows; ++r) {
      query(first + r, scratch_.row);
      float* to = along_ ? q + r * t_.k_stride : q + r;
      const std::int64_t step = along_ ? 1 : s.width;
      const std::int64_t count = along_ ? t_.row_stride : d;
      for (std::int64_t c = 0; c < count; ++c) to[c * step] = scratch_.row[c] * scale;
    }
    first += s.rows;
  }
}

/// Keys [first, last) of the entry into rows `row`, … of the block, and zeros for those that fill the last
/// step: what lies in the cache behind the last key may be anything, NaN too.
void Tile::load_keys(std::int64_t first, std::int64_t last, std::int64_t row) const {
  const int d = static_cast<int>(g_.head_dim), dv = static_cast<int>(g_.head_dim_v);
  const int v_padded = t_.v_stride - (t_.k_stride - t_.row_stride);
  for (std::int64_t j = first; j < last;) {
    const KeyRun run = g_.run(entry_, j);
    const std::int64_t n = std::min(run.count, last - j);
    float* k = scratch_.k + row * t_.k_stride;
    float* v = scratch_.v + row * t_.v_stride;
    for (std::int64_t i = 0; i < n; ++i) scratch_.pointers[i] = g_.k.at(run.outer, run.row + i, kv_head_);
    kernels_.load(g_.k.dtype, scratch_.pointers, static_cast<int>(n), d, k, t_.k_stride, t_.row_stride);
    if (g_.v.d_stride == 1) {
      for (std::int64_t i = 0; i < n; ++i) scratch_.pointers[i] = g_.v.at(run.outer, run.row + i, kv_head_);
      kernels_.load(g_.v.dtype, scratch_.pointers, static_cast<int>(n), dv, v, t_.v_stride, v_padded);
    } else {
      for (int c = 0; c < dv; ++c) {
        const std::byte* column = g_.v.at(run.outer, run.row, kv_head_, c);
        kernels_.load(g_.v.dtype, &column, 1, static_cast<int>(n), scratch_.row, 0, 0);
        for (std::int64_t i = 0; i < n; ++i) v[i * t_.v_stride + c] = scratch_.row[i];
      }
      for (std::int64_t i = 0; i < n; ++i)
        std::fill(v + i * t_.v_stride + dv, v + i * t_.v_stride + v_padded, 0.0f);
    }
    j += n;
    row += n;
  }
  const std::int64_t rest = round_up(row) - row;
  std::fill_n(scratch_.k + row * t_.k_stride, rest * t_.k_stride, 0.0f);
  std::fill_n(scratch_.v + row * t_.v_stride, rest * t_.v_stride, 0.0f);
}

void Tile::attend(std::int64_t part, const TileState& state) {
  const KeyRange all = g_.visible(entry_, position(0), position(rows_ - 1) + 1);
  const std::int64_t part_begin = part * part_keys_;
  const std::int64_t begin = std::max(part_begin, all.lo);
  const std::int64_t end = std::min(part_begin + part_keys_, all.hi);
  *state.empty = begin >= end;
  if (*state.empty) return;
  if (!loaded_) load_queries();
  std::fill_n(state.o, t_.block_m * (along_ ? t_.v_stride : g_.head_dim_v), 0.0f);
  std::fill_n(state.max, t_.block_m, kNever);
  std::fill_n(state.sum, t_.block_m, 0.0f);
  // Blocks begin at the same keys whatever the tile sees.
  for (std::int64_t j = part_begin + (begin - part_begin) / t_.block_n * t_.block_n; j < end;
       j += t_.block_n) {
    const std::int64_t first = round_down(std::max(begin - j, std::int64_t{0}));
    const std::int64_t last = std::min(end - j, t_.block_n);
    load_keys(j + first, j + last, first);
    for (std::int64_t r = 0; r < rows_;) {
      const Span s = span(r);
      advance(s, state, {begin, end}, j);
      r += s.rows;
    }
  }
}

/// One strip against those keys of `keys` that lie in the block from `block_begin` on, less what none of its
/// rows sees.
void Tile::advance(const Span& s, const TileState& state, const KeyRange& keys,
                   std::int64_t block_begin) const {
  const auto in_block = [&](std::int64_t key) {
    return std::clamp<std::int64_t>(std::clamp(key, keys.lo, keys.hi) - block_begin, 0, t_.block_n);
  };
  std::int64_t least_begin = t_.block_n, most_begin = 0, least_end = t_.block_n, most_end = 0;
  for (std::int64_t r = 0; r < s.width; ++r) {
    const std::int64_t row = s.first + (r < s.rows ? r : 0);
    const std::int64_t begin = in_block(scratch_.visible_begin[row]);
    const std::int64_t end = in_block(scratch_.visible_end[row]);
    scratch_.key_begin[r] = static_cast<int>(begin);
    scratch_.key_end[r] = static_cast<int>(end);
    least_begin = std::min(least_begin, begin);
    most_begin = std::max(most_begin, begin);
    least_end = std::min(least_end, end);
    most_end = std::max(most_end, end);
  }
  const std::int64_t first = round_down(least_begin), last = round_up(most_end);
  if (first >= last) return;
  const bool masked = most_begin > first || least_end < last;
  const KeyBlock block{.k = scratch_.k,
                       .v = scratch_.v,
                       .k_stride = t_.k_stride,
                       .v_stride = t_.v_stride,
                       .score_stride = t_.block_n,
                       .head_dim = static_cast<int>(g_.head_dim),
                       .head_dim_v = static_cast<int>(g_.head_dim_v),
                       .softcap = static_cast<float>(g_.softcap)};
  const Strip strip{.width = s.width,
                    .q = scratch_.q + s.first * (along_ ? t_.k_stride : g_.head_dim),
                    .scores = scratch_.scores,
                    .o = state.o + s.first * (along_ ? t_.v_stride : g_.head_dim_v),
                    .max = state.max + s.first,
                    .sum = state.sum + s.first,
                    .key_begin = scratch_.key_begin,
                    .key_end = scratch_.key_end};
  (along_ ? kernels_.along : kernels_.across)(strip, block, static_cast<int>(first), static_cast<int>(last),
                                              masked);
}

void Tile::join(const TileState& into, const TileState& from) const {
  if (*from.empty) return;
  if (*into.empty) {
    std::copy_n(from.o, t_.block_m * (along_ ? t_.v_stride : g_.head_dim_v), into.o);
    std::copy_n(from.max, t_.block_m, into.max);
    std::copy_n(from.sum, t_.block_m, into.sum);
    *into.empty = 0;
    return;
  }
  for (std::int64_t first = 0; first < rows_;) {
    const Span s = span(first);
    for (std::int64_t r = first; r < first + s.rows; ++r) {
      const float m = std::max(into.max[r], from.max[r]);
      const float a = weight(into.max[r], m), b = weight(from.max[r], m);
      into.max[r] = m;
      into.sum[r] = into.sum[r] * a + from.sum[r] * b;
      const std::int64_t offset = along_ ? r * t_.v_stride : first * g_.head_dim_v + (r - first);
      const std::int64_t step = along_ ? 1 : s.width;
      for (std::int64_t c = 0; c < g_.head_dim_v; ++c) {
        float& o = into.o[offset + c * step];
        o = o * a + from.o[offset + c * step] * b;
      }
    }
    first += s.rows;
  }
}

void Tile::finish(const TileState& state) const {
  for (std::int64_t first = 0; first < rows_;) {
    const Span s = span(first);
    for (std::int64_t r = first; r < first + s.rows; ++r) finish_row(state, s, r);
    first += s.rows;
  }
}

void Tile::finish_row(const TileState& state, const Span& s, std::int64_t r) const {
  const bool sees_keys = scratch_.visible_begin[r] < scratch_.visible_end[r];
  float max = kNever, sum = 0;
  if (!*state.empty && sees_keys) {
    max = state.max[r];
    sum = state.sum[r];
  }
  const std::int64_t offset = along_ ? r * t_.v_stride : s.first * g_.head_dim_v + (r - s.first);
  const std::int64_t step = along_ ? 1 : s.width;
  const float* o = state.o + offset;
  // Left f32, or holds inf or NaN: the few rows of which that is true are taken again in f64.
  if (sees_keys) {
    float probe = sum * 0.0f;
    for (std::int64_t c = 0; c < g_.head_dim_v; ++c) probe += o[c * step] * 0.0f;
    if (probe != 0.0f || sum == 0.0f) return wide_row(r);
  }
  float decay = 1;
  if (g_.has_sink()) {
    const float sink = static_cast<float>(g_.sink(head(r)));
    const float m = std::max(max, sink);
    decay = weight(max, m);
    sum = sum * decay + (sink == kNever ? 0.0f : std::exp(sink - m));
    max = m;
  }
  const bool nothing = sum == 0.0f;
  const float factor = nothing ? 0.0f : static_cast<float>(g_.v_descale(b_, kv_head_) / sum) * decay;
  for (std::int64_t c = 0; c < g_.head_dim_v; ++c) scratch_.row[c] = sees_keys ? o[c * step] * factor : 0.0f;
  write_row(r, nothing ? kNever : max + std::log(sum));
}

/// scratch.row as the row's result.
void Tile::write_row(std::int64_t r, float lse) const {
  const std::int64_t row = entry_.q_row + position(r);
  kernels_.store(g_.out.dtype, scratch_.row, g_.out.at(entry_.q_outer, row, head(r)),
                 static_cast<int>(g_.head_dim_v));
  if (g_.lse.defined()) *reinterpret_cast<float*>(g_.lse.at(entry_.q_outer, row, head(r))) = lse;
}

}  // namespace isomer::ops::attention
