#include "ops/attention/gpu/sm90_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace isomer::ops::attention {
namespace {

constexpr std::int64_t kPanelBytes = device::AttentionSm90Layout::kPanelBytes;
/// As far as keys on either side of the diagonal are counted.
constexpr std::int64_t kFar = std::int64_t{1} << 29;

device::AttentionRows rows_of(const RowView& view) {
  return {nullptr,       view.outer_stride, view.row_stride, view.head_stride,
          view.d_stride, view.outers,       view.rows};
}

device::AttentionFactors factors_of(const Tensor& t) {
  if (!t.defined()) return {};
  return {nullptr, t.stride(0), t.stride(1)};
}

/// Null where the call has no such tensor.
template <class T>
T* address(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.data) : nullptr;
}

}  // namespace

gpu::TensorMap map_of(const RowView& view, std::int64_t columns, std::int64_t heads, int rows) {
  const auto stride = [&](std::int64_t count, std::int64_t step) {
    return static_cast<std::uint64_t>(count > 1 ? step * size_of(view.dtype) : 16);
  };
  gpu::TensorMap map;
  map.element = view.dtype;
  map.rank = 4;
  map.size = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(view.rows),
              static_cast<std::uint64_t>(heads), static_cast<std::uint64_t>(view.outers), 0};
  map.stride_bytes = {0, stride(view.rows, view.row_stride), stride(heads, view.head_stride),
                      stride(view.outers, view.outer_stride), 0};
  map.box = {static_cast<std::uint32_t>(kPanelBytes / size_of(view.dtype)), static_cast<std::uint32_t>(rows),
             1, 1, 0};
  map.swizzle_bytes = 128;
  return map;
}

gpu::TensorMap map_of_units(const RowView& view, std::int64_t columns, const Sm90Tiling& t) {
  const auto stride = [&](std::int64_t count, std::int64_t step) {
    return static_cast<std::uint64_t>(count > 1 ? step * size_of(view.dtype) : 16);
  };
  gpu::TensorMap map;
  map.element = view.dtype;
  map.rank = 5;
  map.size = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(t.pack),
              static_cast<std::uint64_t>(view.rows), static_cast<std::uint64_t>(t.units),
              static_cast<std::uint64_t>(view.outers)};
  map.stride_bytes = {0, stride(t.pack, view.head_stride), stride(view.rows, view.row_stride),
                      stride(t.units, t.pack * view.head_stride), stride(view.outers, view.outer_stride)};
  map.box = {static_cast<std::uint32_t>(kPanelBytes / size_of(view.dtype)),
             static_cast<std::uint32_t>(t.pack), static_cast<std::uint32_t>(t.tile_rows / t.pack), 1, 1};
  map.swizzle_bytes = 128;
  return map;
}

device::AttentionSm90Parameters sm90_parameters_of(const Geometry& g, const Sm90Tiling& t) {
  device::AttentionSm90Parameters p{};
  p.q = rows_of(g.q);
  p.k = rows_of(g.k);
  p.v = rows_of(g.v);
  p.out = rows_of(g.out);
  p.lse = rows_of(g.lse);
  if (g.has_sink()) {
    const DType type = g.args->sink.dtype;
    p.sink_type = type == DType::f32   ? device::AttentionWide::f32
                  : type == DType::f16 ? device::AttentionWide::f16
                                       : device::AttentionWide::bf16;
  }
  const auto number = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
  p.lengths = t.lengths;
  p.batch = number(g.batch);
  p.heads = number(g.heads);
  p.heads_kv = number(g.heads_kv);
  p.group = number(std::max<std::int64_t>(g.group, 1));
  p.head_dim = number(g.head_dim);
  p.head_dim_v = number(g.head_dim_v);
  p.left = number(g.window_left < 0 ? kFar : std::min(g.window_left, kFar));
  p.right = number(g.window_right < 0 ? kFar : std::min(g.window_right, kFar));
  p.row_tiles = number(t.row_tiles);
  p.tiles = number(t.tiles);
  p.missing_rows = number(t.missing_rows);
  p.section = number(t.section);
  p.of_section = device::divisor_of(t.section);
  p.of_section_tiles = device::divisor_of(std::max<std::int64_t>(t.section * t.row_tiles, 1));
  p.of_heads = device::divisor_of(std::max<std::int64_t>(g.heads, 1));
  const double scale = g.softcap > 0 ? g.softcap : g.scale;
  p.cap = static_cast<float>(g.softcap > 0 ? g.scale / g.softcap : 0);
  p.scale_log2 = static_cast<float>(scale * std::numbers::log2e);
  p.lowest = static_cast<float>(-0x1p126 / std::max(scale * std::numbers::log2e, 1.0));
  if (!t.pieces) return p;
  device::AttentionSm90Pieces& of = p.pieces;
  of.pack = number(t.pack);
  of.units = number(t.units);
  of.tile_rows = number(t.tile_rows);
  of.ragged = t.ragged;
  of.parts = number(t.parts);
  of.split_size = number(t.split_size);
  of.whole_tiles = number(t.whole_tiles());
  of.box_rows = number(t.box_rows);
  of.of_pack = device::divisor_of(t.pack);
  of.of_page = device::divisor_of(std::max<std::int64_t>(g.page_size, 1));
  if (g.paged) {
    of.table_rows = number(g.args->page_table.size(0));
    of.max_pages = number(g.args->page_table.size(1));
    of.page_table_stride = g.args->page_table.stride(0);
  }
  of.new_rows = g.append ? number(g.k_new.rows) : 0;
  const Geometry divided = divided_of(g, t);
  of.partial_heads = divided.heads;
  of.partial_rows = divided.total_q;
  if (t.divided_units > 0) of.partial_first = (g.batch - 1 + g.heads - divided.heads) * divided.total_q;
  of.q_descale = factors_of(g.args->q_descale);
  of.k_descale = factors_of(g.args->k_descale);
  of.v_descale = factors_of(g.args->v_descale);
  of.v_colmajor = g.v_colmajor;
  of.chunk = number(std::min(g.chunk, kFar));
  of.of_chunk = device::divisor_of(std::max<std::int64_t>(of.chunk, 1));
  return p;
}

void set_sm90_addresses(device::AttentionSm90Parameters& p, const AttentionArgs& a) {
  using Integers = const std::int32_t;
  p.q.data = a.q.data;
  p.k.data = a.k.data;
  p.v.data = a.v.data;
  p.out.data = a.out.data;
  p.lse.data = address<void>(a.lse);
  p.cu_seqlens_q = address<Integers>(a.cu_seqlens_q);
  p.cu_seqlens_k = address<Integers>(a.cu_seqlens_k);
  p.seqused_q = address<Integers>(a.seqused_q);
  p.seqused_k = address<Integers>(a.seqused_k);
  p.leftpad_k = address<Integers>(a.leftpad_k);
  p.kv_batch_idx = address<Integers>(a.kv_batch_idx);
  p.sink = address<const void>(a.sink);
  p.pieces.page_table = address<Integers>(a.page_table);
  p.pieces.cache_seqlens = address<Integers>(a.cache_seqlens);
  p.pieces.cu_seqlens_k_new = address<Integers>(a.cu_seqlens_k_new);
  p.pieces.q_descale.data = address<const float>(a.q_descale);
  p.pieces.k_descale.data = address<const float>(a.k_descale);
  p.pieces.v_descale.data = address<const float>(a.v_descale);
}

}  // namespace isomer::ops::attention
