// How the keys of one part reach a tile.
#include "ops/attention/cpu/tile.hpp"

#include <algorithm>
#include <utility>

namespace isomer::ops::attention {
namespace {

std::int64_t round_down(std::int64_t a) { return a / kKeyStep * kKeyStep; }
std::int64_t round_up(std::int64_t a) { return round_down(a + kKeyStep - 1); }

/// First block of a part that holds the key. Blocks begin at the same keys whatever a tile sees of them.
std::int64_t block_of(std::int64_t key, std::int64_t part_begin, std::int64_t block) {
  return part_begin + (key - part_begin) / block * block;
}

}  // namespace

void Tile::locate(std::int64_t block_begin, std::int64_t first, std::int64_t last, std::int64_t count,
                  const BlockRows& rows) const {
  const std::int64_t head = kv_head(0);
  for (std::int64_t j = first; j < last;) {
    const KeyRun run = g_.run(entry_, block_begin + j);
    const std::int64_t n = std::min(run.count, last - j);
    for (std::int64_t i = 0; i < n; ++i) {
      rows.k[j + i] = g_.k.at(run.outer, run.row + i, head);
      rows.v[j + i] = g_.v.at(run.outer, run.row + i, head);
      if (!g_.scaled()) continue;
      rows.k_scale[j + i] = g_.k_scale.at(run.outer, run.row + i, head);
      rows.v_scale[j + i] = g_.v_scale.at(run.outer, run.row + i, head);
    }
    j += n;
  }
  for (std::int64_t j = last; j < first + count; ++j) {
    rows.k[j] = rows.k[last - 1];
    rows.v[j] = rows.v[last - 1];
    if (!g_.scaled()) continue;
    rows.k_scale[j] = rows.k_scale[last - 1];
    rows.v_scale[j] = rows.v_scale[last - 1];
  }
}

void Tile::convert_int8(const BlockRows& rows, std::int64_t first, std::int64_t last) const {
  const int n = static_cast<int>(last - first);
  const Int8Rows k{rows.k + first, rows.k_scale + first, g_.k_scale.dtype, g_.k_scale.d_stride};
  const Int8Rows v{rows.v + first, rows.v_scale + first, g_.v_scale.dtype, g_.v_scale.d_stride};
  kernels_.load_int8(k, n, static_cast<int>(g_.head_dim), scratch_.k + first * t_.k_stride, t_.k_stride,
                     t_.row_stride);
  kernels_.load_int8(v, n, static_cast<int>(g_.head_dim_v), scratch_.v + first * t_.v_stride, t_.v_stride,
                     t_.v_stride - (t_.k_stride - t_.row_stride));
}

/// Rows [first, last) of a block into scratch.k and scratch.v, and zeros up to the next step: what lies in
/// the cache behind the last key may be anything, NaN too.
void Tile::convert(std::int64_t block_begin, std::int64_t first, std::int64_t last, const BlockRows& rows,
                   std::int64_t head) const {
  const int n = static_cast<int>(last - first), dv = static_cast<int>(g_.head_dim_v);
  const int v_padded = t_.v_stride - (t_.k_stride - t_.row_stride);
  float* k = scratch_.k + first * t_.k_stride;
  float* v = scratch_.v + first * t_.v_stride;
  const std::int64_t rest = round_up(last) - last;
  std::fill_n(k + n * t_.k_stride, rest * t_.k_stride, 0.0f);
  std::fill_n(v + n * t_.v_stride, rest * t_.v_stride, 0.0f);
  if (g_.scaled()) return convert_int8(rows, first, last);
  kernels_.load(g_.k.dtype, rows.k + first, n, static_cast<int>(g_.head_dim), k, t_.k_stride,
                g_.has_qv() ? t_.qv_begin : t_.row_stride);
  if (g_.has_qv())
    kernels_.load(g_.v.dtype, rows.v + first, n, dv, k + t_.qv_begin, t_.k_stride,
                  t_.row_stride - t_.qv_begin);
  if (g_.v.d_stride == 1) return kernels_.load(g_.v.dtype, rows.v + first, n, dv, v, t_.v_stride, v_padded);
  for (std::int64_t j = first; j < last;) {
    const KeyRun run = g_.run(entry_, block_begin + j);
    const std::int64_t count = std::min(run.count, last - j);
    for (int c = 0; c < dv; ++c) {
      const std::byte* column = g_.v.at(run.outer, run.row, head, c);
      kernels_.load(g_.v.dtype, &column, 1, static_cast<int>(count), scratch_.row, 0, 0);
      for (std::int64_t i = 0; i < count; ++i) v[i * t_.v_stride + c] = scratch_.row[i];
    }
    v += count * t_.v_stride;
    j += count;
  }
}

Tile::Seen Tile::look(const Span& s, const KeyRange& keys, std::int64_t block_begin,
                      std::int64_t block_keys) const {
  const auto in_block = [&](std::int64_t key) {
    return static_cast<int>(
        std::clamp<std::int64_t>(std::clamp(key, keys.lo, keys.hi) - block_begin, 0, block_keys));
  };
  int least_begin = static_cast<int>(block_keys), most_begin = 0;
  int least_end = static_cast<int>(block_keys), most_end = 0;
  for (std::int64_t r = 0; r < s.width; ++r) {
    const std::int64_t row = s.first + (r < s.rows ? r : 0);
    const int begin = in_block(scratch_.visible_begin[row]), end = in_block(scratch_.visible_end[row]);
    scratch_.key_begin[r] = begin;
    scratch_.key_end[r] = end;
    least_begin = std::min(least_begin, begin);
    most_begin = std::max(most_begin, begin);
    least_end = std::min(least_end, end);
    most_end = std::max(most_end, end);
  }
  Seen seen{.first = static_cast<int>(round_down(least_begin)), .last = static_cast<int>(round_up(most_end))};
  seen.masked = most_begin > seen.first || least_end < seen.last;
  return seen;
}

Strip Tile::strip(const Span& s, const TileState& state) const {
  return {.width = s.width,
          .q = scratch_.q + q_at(s),
          .scores = scratch_.scores,
          .o = state.o + o_at(s),
          .max = state.max + s.first,
          .sum = state.sum + s.first,
          .key_begin = scratch_.key_begin,
          .key_end = scratch_.key_end,
          .q_stride = t_.k_stride,
          .o_stride = t_.v_stride,
          .score_stride = Tiling::kDecodeKeys,
          .softcap = static_cast<float>(g_.softcap),
          .head_dim = t_.query_dim,
          .head_dim_v = static_cast<int>(g_.head_dim_v)};
}

void Tile::attend_prefill(const TileState& state, const KeyRange& keys, std::int64_t part_begin) {
  const PackedKeys packed{scratch_.k, scratch_.v, t_.k_stride, t_.v_stride};
  for (std::int64_t j = block_of(keys.lo, part_begin, t_.block_n); j < keys.hi; j += t_.block_n) {
    const std::int64_t first = round_down(std::max(keys.lo - j, std::int64_t{0}));
    const std::int64_t last = std::min(keys.hi - j, t_.block_n);
    locate(j, first, last, last - first, scratch_.rows);
    convert(j, first, last, scratch_.rows, kv_head(0));
    for_each_span([&](const Span& s) {
      const Seen seen = look(s, keys, j, t_.block_n);
      if (seen.first < seen.last)
        kernels_.prefill(strip(s, state), packed, seen.first, seen.last, seen.masked);
    });
  }
}

void Tile::attend_decode(const TileState& state, const KeyRange& keys, std::int64_t part_begin) {
  constexpr std::int64_t kBlock = Tiling::kDecodeKeys;
  const auto locate_block = [&](std::int64_t j, const BlockRows& rows) {
    const std::int64_t first = round_down(std::max(keys.lo - j, std::int64_t{0}));
    locate(j, first, std::min(keys.hi - j, kBlock), kBlock - first, rows);
  };
  const std::int64_t begin = block_of(keys.lo, part_begin, kBlock);
  locate_block(begin, scratch_.rows);
  for (std::int64_t j = begin; j < keys.hi; j += kBlock) {
    const bool more = j + kBlock < keys.hi;
    if (more) locate_block(j + kBlock, scratch_.next_rows);
    if (g_.scaled()) {
      const std::int64_t first = round_down(std::max(keys.lo - j, std::int64_t{0}));
      convert_int8(scratch_.rows, first, kBlock);
      for (std::int64_t i = first; i < kBlock; ++i) {
        scratch_.rows.k[i] = reinterpret_cast<const std::byte*>(scratch_.k + i * t_.k_stride);
        scratch_.rows.v[i] = reinterpret_cast<const std::byte*>(scratch_.v + i * t_.v_stride);
      }
    }
    for_each_span([&](const Span& s) {
      const Seen seen = look(s, keys, j, kBlock);
      if (seen.first >= seen.last) return;
      const std::int64_t heads = kv_head(s.first) - kv_head(0);
      KeyRows rows{.dtype = g_.scaled() ? DType::f32 : g_.k.dtype,
                   .k = scratch_.rows.k,
                   .v = scratch_.rows.v,
                   .k_offset = heads * g_.k.head_stride * size_of(g_.k.dtype),
                   .v_offset = heads * g_.v.head_stride * size_of(g_.v.dtype)};
      const std::int64_t next = s.first + unit_rows_;
      if (s.first % unit_rows_ == 0 && (next < rows_ || more) && !g_.scaled()) {
        rows.next = next < rows_ ? scratch_.rows.k : scratch_.next_rows.k;
        rows.next_offset =
            next < rows_ ? (kv_head(next) - kv_head(0)) * g_.k.head_stride * size_of(g_.k.dtype) : 0;
      }
      kernels_.decode(strip(s, state), rows, seen.first, seen.last, seen.masked);
    });
    std::swap(scratch_.rows, scratch_.next_rows);
  }
}

}  // namespace isomer::ops::attention
