#include "ops/attention/cpu/tile.hpp"
#include "core/ceil_div.hpp"

#include "ops/attention/cpu/append.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isomer::ops::attention {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

/// What sums that were taken against `max` count for against m; 0 where they saw no key.
float weight(float max, float m) { return max == kNever ? 0.0f : std::exp(max - m); }

}  // namespace

Tile::Tile(const TileContext& context, const TileScratch& scratch, std::int64_t b, std::int64_t index)
    : g_(context.geometry),
      t_(context.tiling),
      kernels_(context.kernels),
      scratch_(scratch),
      b_(b),
      entry_(g_.entry(b)),
      decode_(t_.decode(entry_)),
      unit_rows_(entry_.q_len * t_.unit_heads) {
  if (decode_) {
    unit_ = index * t_.bundle;
    rows_ = std::min(t_.bundle, t_.units - unit_) * unit_rows_;
  } else {
    // The last rows first: under a causal mask they see the most keys.
    const std::int64_t of_unit = t_.tiles_of(entry_) / t_.units;
    unit_ = index / of_unit;
    first_row_ = (of_unit - 1 - index % of_unit) * t_.block_m;
    rows_ = std::min(t_.block_m, unit_rows_ - first_row_);
  }
  if (t_.split_size > 0) {
    part_keys_ = t_.split_size;
    parts_ = std::max<std::int64_t>(core::ceil_div(entry_.k_len, part_keys_), 1);
  } else {
    parts_ = t_.parts;
    part_keys_ = core::ceil_div(entry_.k_len, parts_);
    part_keys_ = core::align_up(part_keys_, kKeyStep);
  }
  for (std::int64_t r = 0; r < rows_; ++r) {
    const KeyRange range = g_.visible(entry_, position(r));
    scratch_.visible_begin[r] = range.lo;
    scratch_.visible_end[r] = range.hi;
  }
}

Tile::Span Tile::span(std::int64_t first) const {
  Span s{.first = first};
  if (decode_) {
    const std::int64_t rest = unit_rows_ - first % unit_rows_;
    s.rows = kernels_.decode_rows;
    while (s.rows > rest) s.rows /= 2;
    s.width = static_cast<int>(s.rows);
  } else {
    s.rows = std::min<std::int64_t>(kernels_.prefill_rows, rows_ - first);
    s.width = static_cast<int>(core::align_up(s.rows, kernels_.lanes));
  }
  return s;
}

/// The row's query as the op has it, rotated where asked, not scaled; behind it that of v.
void Tile::query(std::int64_t row, float* to) const {
  const std::int64_t i = position(row);
  const std::byte* from = g_.q.at(entry_.q_outer, entry_.q_row + i, head(row));
  const int d = static_cast<int>(g_.head_dim), padded = g_.has_qv() ? t_.qv_begin : t_.row_stride;
  if (g_.has_qv()) {
    const std::byte* row_of_v = g_.qv.at(entry_.q_outer, entry_.q_row + i, head(row));
    kernels_.load(g_.qv.dtype, &row_of_v, 1, static_cast<int>(g_.head_dim_v), to + t_.qv_begin, 0,
                  t_.row_stride - t_.qv_begin);
  }
  kernels_.load(g_.q.dtype, &from, 1, d, to, 0, padded);
  if (!g_.rotary) return;
  rotate(g_, kernels_, g_.q_position(entry_, i), to, scratch_.rotary);
  // The op rounds a rotated query to its type.
  kernels_.store(g_.q.dtype, to, scratch_.bytes, d);
  from = scratch_.bytes;
  kernels_.load(g_.q.dtype, &from, 1, d, to, 0, padded);
}

void Tile::load_queries() {
  loaded_ = true;
  const std::int64_t d = t_.query_dim;
  for_each_span([&](const Span& s) {
    double factor = g_.scale * g_.logit_descale(b_, kv_head(s.first));
    if (g_.softcap > 0) factor /= g_.softcap;
    const float scale = static_cast<float>(factor);
    float* q = scratch_.q + q_at(s);
    if (s.rows < s.width) std::fill(q, q + d * s.width, 0.0f);
    for (std::int64_t r = 0; r < s.rows; ++r) {
      query(s.first + r, scratch_.row);
      float* to = q + r * (decode_ ? t_.k_stride : 1);
      const std::int64_t count = decode_ ? t_.row_stride : d, step = column_step(s);
      for (std::int64_t c = 0; c < count; ++c) to[c * step] = scratch_.row[c] * scale;
    }
  });
}

void Tile::attend(std::int64_t part, const TileState& state) {
  const std::int64_t part_begin = part * part_keys_;
  const KeyRange all = g_.visible(entry_, position(0), position(rows_ - 1) + 1);
  const KeyRange keys{std::max(part_begin, all.lo), std::min(part_begin + part_keys_, all.hi)};
  *state.empty = keys.lo >= keys.hi;
  if (*state.empty) return;
  if (!loaded_) load_queries();
  std::fill_n(state.o, decode_ ? rows_ * t_.v_stride : t_.block_m * g_.head_dim_v, 0.0f);
  std::fill_n(state.max, t_.state_rows, kNever);
  std::fill_n(state.sum, t_.state_rows, 0.0f);
  if (decode_)
    attend_decode(state, keys, part_begin);
  else
    attend_prefill(state, keys, part_begin);
}

void Tile::join(const TileState& into, const TileState& from) const {
  if (*from.empty) return;
  if (*into.empty) {
    std::copy_n(from.o, decode_ ? rows_ * t_.v_stride : t_.block_m * g_.head_dim_v, into.o);
    std::copy_n(from.max, t_.state_rows, into.max);
    std::copy_n(from.sum, t_.state_rows, into.sum);
    *into.empty = 0;
    return;
  }
  for_each_span([&](const Span& s) {
    const std::int64_t step = column_step(s);
    for (std::int64_t r = 0; r < s.rows; ++r) {
      float& max = into.max[s.first + r];
      float& sum = into.sum[s.first + r];
      const float m = std::max(max, from.max[s.first + r]);
      const float a = weight(max, m), b = weight(from.max[s.first + r], m);
      max = m;
      sum = sum * a + from.sum[s.first + r] * b;
      const std::int64_t offset = o_at(s) + r * (decode_ ? t_.v_stride : 1);
      float* o = into.o + offset;
      const float* other = from.o + offset;
      for (std::int64_t c = 0; c < g_.head_dim_v; ++c) o[c * step] = o[c * step] * a + other[c * step] * b;
    }
  });
}

void Tile::finish(const TileState& state) const {
  for_each_span([&](const Span& s) {
    for (std::int64_t r = 0; r < s.rows; ++r) finish_row(state, s, s.first + r);
  });
}

void Tile::finish_row(const TileState& state, const Span& s, std::int64_t r) const {
  const bool sees_keys = scratch_.visible_begin[r] < scratch_.visible_end[r];
  float max = kNever, sum = 0;
  const float* o = state.o + o_at(s) + (r - s.first) * (decode_ ? t_.v_stride : 1);
  const std::int64_t step = column_step(s);
  if (sees_keys) {
    max = state.max[r];
    sum = state.sum[r];
    float probe = sum * 0.0f;
    for (std::int64_t c = 0; c < g_.head_dim_v; ++c) probe += o[c * step] * 0.0f;
    if (probe != 0.0f || sum == 0.0f) return f64_row(r);
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
  const float factor =
      nothing ? 0.0f : static_cast<float>(g_.v_descale(b_, kv_head(r)) / static_cast<double>(sum)) * decay;
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
