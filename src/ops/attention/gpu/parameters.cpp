#include "ops/attention/gpu/parameters.hpp"

#include <algorithm>
#include <limits>

namespace isomer::ops::attention {
namespace {

device::AttentionRows rows_of(const RowView& view) {
  return {nullptr,       view.outer_stride, view.row_stride, view.head_stride,
          view.d_stride, view.outers,       view.rows};
}

/// Null where the call has no such tensor.
template <class T>
T* address(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.data) : nullptr;
}

device::AttentionFactors factors(const Tensor& t) {
  if (!t.defined()) return {};
  return {nullptr, t.stride(0), t.stride(1)};
}

device::AttentionWide wide(DType type) {
  return type == DType::f32   ? device::AttentionWide::f32
         : type == DType::f16 ? device::AttentionWide::f16
                              : device::AttentionWide::bf16;
}

}  // namespace

device::AttentionParameters parameters_of(const Geometry& g, const GpuTiling& t) {
  const AttentionArgs& a = *g.args;
  device::AttentionParameters p{};
  p.q = rows_of(g.q);
  p.k = rows_of(g.k);
  p.v = rows_of(g.v);
  p.out = rows_of(g.out);
  p.lse = rows_of(g.lse);
  p.k_new = rows_of(g.k_new);
  p.v_new = rows_of(g.v_new);

  if (g.paged) {
    p.page_table_stride = a.page_table.stride(0);
    p.table_rows = a.page_table.size(0);
    p.max_pages = a.page_table.size(1);
    p.page_size = static_cast<std::uint32_t>(
        std::min<std::int64_t>(g.page_size, std::numeric_limits<std::int32_t>::max()));
  }
  if (g.rotary) {
    p.cos_stride = a.rotary_cos.stride(0);
    p.sin_stride = a.rotary_sin.stride(0);
    p.positions = a.rotary_cos.size(0);
    p.rotary_dim = static_cast<std::int32_t>(g.rotary_dim);
    p.rotary_interleaved = g.rotary_interleaved;
    p.rotary_type = wide(a.rotary_cos.dtype);
  }
  p.q_descale = factors(a.q_descale);
  p.k_descale = factors(a.k_descale);
  p.v_descale = factors(a.v_descale);
  if (g.has_sink()) p.sink_type = wide(a.sink.dtype);

  p.batch = g.batch;
  p.heads = g.heads;
  p.heads_kv = g.heads_kv;
  p.group = std::max<std::int64_t>(g.group, 1);
  p.head_dim = static_cast<std::int32_t>(g.head_dim);
  p.head_dim_v = static_cast<std::int32_t>(g.head_dim_v);
  p.window_left = g.window_left;
  p.window_right = g.window_right;
  p.chunk = g.chunk;
  p.scale = static_cast<float>(g.scale);
  p.softcap = static_cast<float>(g.softcap);
  p.out_type = wide(g.out.dtype);

  p.q_vectors = aligned(g.q, g.heads, 16);
  p.k_vectors = aligned(g.k, g.heads_kv, 16);
  p.v_vectors = aligned(g.v, g.heads_kv, 16);
  p.k_new_vectors = aligned(g.k_new, g.heads_kv, 16);
  p.v_new_vectors = aligned(g.v_new, g.heads_kv, 16);
  p.out_vectors = aligned(g.out, g.heads, 4 * size_of(g.out.dtype));

  p.unit_heads = t.unit_heads;
  p.units = t.units;
  p.tiles = t.tiles;
  p.parts = t.parts;
  p.split_size = t.split_size;
  p.workers = t.workers;
  p.least_part = t.least_part;
  p.seqlen_q = g.seqlen_q;
  p.partial_rows = t.partial_rows;
  p.new_rows = g.append ? g.k_new.rows : 0;

  const auto divisor = [](std::int64_t value) {
    return device::divisor_of(std::max<std::int64_t>(value, 1));
  };
  p.of_heads = divisor(p.heads);
  p.of_heads_kv = divisor(p.heads_kv);
  p.of_new_rows = divisor(p.new_rows);
  p.of_group = divisor(p.group);
  p.of_unit_heads = divisor(p.unit_heads);
  p.of_units = divisor(p.units);
  p.of_tiles = divisor(p.tiles);
  p.of_workers = divisor(p.workers);
  p.of_workers_of_entry = divisor(p.workers / std::max<std::int64_t>(p.batch, 1));
  p.of_whole_parts = divisor(p.parts - 1);
  p.of_batch = divisor(p.batch);
  p.of_parts = divisor(p.parts);
  p.of_seqlen_q = divisor(p.seqlen_q);
  return p;
}

device::AttentionQvParameters qv_parameters(const device::AttentionParameters& parameters,
                                            const AttentionArgs& args) {
  device::AttentionQvParameters p{};
  static_cast<device::AttentionParameters&>(p) = parameters;
  p.qv = rows_of(Geometry(args, {}).qv);
  p.qv.data = args.qv.data;
  return p;
}

device::AttentionInt8Parameters int8_parameters(const device::AttentionParameters& parameters,
                                                const AttentionArgs& args) {
  device::AttentionInt8Parameters p{};
  static_cast<device::AttentionParameters&>(p) = parameters;
  const Geometry g(args, {});
  p.k_scale = rows_of(g.k_scale);
  p.v_scale = rows_of(g.v_scale);
  p.k_scale.data = args.k_scale.data;
  p.v_scale.data = args.v_scale.data;
  p.scale_type = wide(args.k_scale.dtype);
  return p;
}

void set_addresses(device::AttentionParameters& p, const AttentionArgs& a, void* workspace) {
  using Integers = const std::int32_t;
  using Factors = const float;
  p.q.data = a.q.data;
  p.k.data = a.k.data;
  p.v.data = a.v.data;
  p.out.data = a.out.data;
  p.lse.data = address<void>(a.lse);
  p.k_new.data = address<void>(a.k_new);
  p.v_new.data = address<void>(a.v_new);
  p.cu_seqlens_q = address<Integers>(a.cu_seqlens_q);
  p.cu_seqlens_k = address<Integers>(a.cu_seqlens_k);
  p.cu_seqlens_k_new = address<Integers>(a.cu_seqlens_k_new);
  p.seqused_q = address<Integers>(a.seqused_q);
  p.seqused_k = address<Integers>(a.seqused_k);
  p.leftpad_k = address<Integers>(a.leftpad_k);
  p.kv_batch_idx = address<Integers>(a.kv_batch_idx);
  p.cache_seqlens = address<Integers>(a.cache_seqlens);
  p.page_table = address<Integers>(a.page_table);
  p.rotary_cos = address<const void>(a.rotary_cos);
  p.rotary_sin = address<const void>(a.rotary_sin);
  p.q_descale.data = address<Factors>(a.q_descale);
  p.k_descale.data = address<Factors>(a.k_descale);
  p.v_descale.data = address<Factors>(a.v_descale);
  p.sink = address<const void>(a.sink);
  if (p.parts == 1) return;
  p.partial_out = static_cast<float*>(workspace);
  p.partial_state = p.partial_out + p.parts * p.heads * p.partial_rows * p.head_dim_v;
  if (p.workers > 0)
    p.division = reinterpret_cast<std::int32_t*>(p.partial_state + p.parts * p.heads * p.partial_rows * 2);
}

}  // namespace isomer::ops::attention
