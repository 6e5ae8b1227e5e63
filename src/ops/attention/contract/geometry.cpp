#include "ops/attention/contract/geometry.hpp"

#include "core/codec.hpp"

#include <cmath>

namespace isomer::ops::attention {
namespace {

/// Windows beyond every length: sums with lengths stay far from overflow.
constexpr std::int64_t kUnboundedWindow = std::int64_t{1} << 60;

/// [outer, row, head, d], or [row, head, d].
RowView row_major(const Tensor& t) {
  RowView view;
  if (!t.defined()) return view;
  view.data = static_cast<std::byte*>(t.data);
  view.dtype = t.dtype;
  const bool flat = t.rank == 3;
  view.outers = flat ? 1 : t.size(0);
  view.rows = t.size(-3);
  view.outer_stride = flat ? 0 : t.stride(0);
  view.row_stride = t.stride(-3);
  view.head_stride = t.stride(-2);
  view.d_stride = t.stride(-1);
  return view;
}

/// [outer, head, d, row], or [head, d, row].
RowView column_major(const Tensor& t) {
  RowView view = row_major(t);
  view.rows = t.size(-1);
  view.head_stride = t.stride(-3);
  view.d_stride = t.stride(-2);
  view.row_stride = t.stride(-1);
  return view;
}

/// Of int8 k or v `t`: t's dimensions but for the last, and groups of channels where that is an eighth of
/// t's.
RowView scales_of(const Tensor& scale, const Tensor& t) {
  RowView view;
  if (!scale.defined()) return view;
  view.data = static_cast<std::byte*>(scale.data);
  view.dtype = scale.dtype;
  const int head = t.rank - 2;
  const bool flat = t.rank == 3, grouped = scale.rank == t.rank && scale.size(-1) != 1;
  view.outers = flat ? 1 : scale.size(0);
  view.rows = scale.size(head - 1);
  view.outer_stride = flat ? 0 : scale.stride(0);
  view.row_stride = scale.stride(head - 1);
  view.head_stride = scale.stride(head);
  view.d_stride = grouped ? scale.stride(-1) : 0;
  return view;
}

/// [outer, head, row], or [head, row].
RowView lse_rows(const Tensor& t) {
  RowView view;
  if (!t.defined()) return view;
  view.data = static_cast<std::byte*>(t.data);
  view.dtype = t.dtype;
  const bool flat = t.rank == 2;
  view.outers = flat ? 1 : t.size(0);
  view.rows = t.size(-1);
  view.outer_stride = flat ? 0 : t.stride(0);
  view.head_stride = t.stride(-2);
  view.row_stride = t.stride(-1);
  return view;
}

std::int64_t whole_at(const Tensor& t, std::int64_t i) { return *t.at<std::int32_t>(i); }

}  // namespace

Geometry::Geometry(const AttentionArgs& a, const AttentionOptions& o) : args(&a) {
  varlen_q = a.cu_seqlens_q.defined();
  varlen_k = a.cu_seqlens_k.defined();
  paged = a.page_table.defined();
  append = a.k_new.defined();
  rotary = a.rotary_cos.defined();
  rotary_interleaved = o.rotary_interleaved;
  v_colmajor = o.v_colmajor;

  q = row_major(a.q);
  k = row_major(a.k);
  v = o.v_colmajor ? column_major(a.v) : row_major(a.v);
  out = row_major(a.out);
  lse = lse_rows(a.lse);
  k_new = row_major(a.k_new);
  v_new = row_major(a.v_new);
  qv = row_major(a.qv);
  k_scale = scales_of(a.k_scale, a.k);
  v_scale = scales_of(a.v_scale, a.v);

  batch = varlen_q ? a.cu_seqlens_q.size(0) - 1 : q.outers;
  heads = a.q.size(-2);
  heads_kv = a.k.size(-2);
  group = heads / heads_kv;
  head_dim = a.q.size(-1);
  head_dim_v = a.out.size(-1);
  page_size = paged ? k.rows : 0;
  rotary_dim = rotary ? 2 * a.rotary_cos.size(1) : 0;
  total_q = q.outers * q.rows;
  total_k = k.outers * k.rows;
  seqlen_q = q.rows;
  if (varlen_q && o.max_seqlen_q > 0) seqlen_q = std::min(seqlen_q, o.max_seqlen_q);
  seqlen_k = paged ? a.page_table.size(1) * page_size : k.rows;
  if (o.max_seqlen_k > 0) seqlen_k = std::min(seqlen_k, o.max_seqlen_k);

  scale = o.scale != 0 ? static_cast<double>(o.scale) : 1.0 / std::sqrt(static_cast<double>(contracted()));
  softcap = static_cast<double>(o.softcap);
  window_left = std::min(o.window_left, kUnboundedWindow);
  window_right = o.causal ? 0 : std::min(o.window_right, kUnboundedWindow);
  chunk = std::min(o.attention_chunk, kUnboundedWindow);
}

Entry Geometry::entry(std::int64_t b) const {
  Entry e;
  e.q_outer = varlen_q ? 0 : b;
  e.q_row = varlen_q ? whole_at(args->cu_seqlens_q, b) : 0;
  e.q_len = varlen_q ? whole_at(args->cu_seqlens_q, b + 1) - e.q_row : q.rows;
  if (args->seqused_q.defined()) e.q_len = whole_at(args->seqused_q, b);

  e.kv_outer = varlen_k ? 0 : args->kv_batch_idx.defined() ? whole_at(args->kv_batch_idx, b) : b;
  e.first_slot = varlen_k ? whole_at(args->cu_seqlens_k, b) : 0;
  std::int64_t length = varlen_k ? whole_at(args->cu_seqlens_k, b + 1) - e.first_slot : k.rows;
  if (args->seqused_k.defined()) length = whole_at(args->seqused_k, b);
  if (append) {
    const bool varlen_new = args->cu_seqlens_k_new.defined();
    e.new_outer = varlen_new ? 0 : b;
    e.new_row = varlen_new ? whole_at(args->cu_seqlens_k_new, b) : 0;
    e.new_len = varlen_new ? whole_at(args->cu_seqlens_k_new, b + 1) - e.new_row : k_new.rows;
    e.position = whole_at(args->cache_seqlens, b);
    length = e.position + e.new_len;
  }
  const std::int64_t leftpad = args->leftpad_k.defined() ? whole_at(args->leftpad_k, b) : 0;
  e.first_slot += leftpad;
  e.k_len = length - leftpad;
  return e;
}

KeyRun Geometry::run(const Entry& e, std::int64_t j) const {
  const std::int64_t slot = e.first_slot + j;
  if (!paged) return {e.kv_outer, slot, e.k_len - j};
  const std::int64_t row = slot % page_size;
  const std::int64_t page = *args->page_table.at<std::int32_t>(e.kv_outer, slot / page_size);
  return {page, row, std::min(page_size - row, e.k_len - j)};
}

KeyRange Geometry::visible(const Entry& e, std::int64_t i) const { return visible(e, i, i + 1); }

KeyRange Geometry::visible(const Entry& e, std::int64_t first, std::int64_t last) const {
  const std::int64_t shift = e.k_len - e.q_len;
  KeyRange range{0, e.k_len};
  if (window_left >= 0) range.lo = std::clamp<std::int64_t>(first + shift - window_left, 0, e.k_len);
  if (window_right >= 0) range.hi = std::clamp<std::int64_t>(last + shift + window_right, 0, e.k_len);
  if (chunk > 0 && first < last) {
    const auto begin = [&](std::int64_t p) { return p - ((p % chunk) + chunk) % chunk; };
    range.lo = std::clamp<std::int64_t>(begin(first + shift), range.lo, e.k_len);
    range.hi = std::clamp<std::int64_t>(begin(last - 1 + shift) + chunk, 0, range.hi);
  }
  if (first >= last || range.hi < range.lo) range.hi = range.lo;
  return range;
}

double Geometry::cos(std::int64_t position, std::int64_t pair) const {
  return core::decode(args->rotary_cos.dtype, args->rotary_cos.at(position, pair));
}

double Geometry::sin(std::int64_t position, std::int64_t pair) const {
  return core::decode(args->rotary_sin.dtype, args->rotary_sin.at(position, pair));
}

double Geometry::logit_descale(std::int64_t b, std::int64_t head) const {
  double factor = 1;
  if (args->q_descale.defined()) factor *= static_cast<double>(*args->q_descale.at<float>(b, head));
  if (args->k_descale.defined()) factor *= static_cast<double>(*args->k_descale.at<float>(b, head));
  return factor;
}

double Geometry::v_descale(std::int64_t b, std::int64_t head) const {
  return args->v_descale.defined() ? static_cast<double>(*args->v_descale.at<float>(b, head)) : 1.0;
}

double Geometry::k_descale(std::int64_t b, std::int64_t head) const {
  return args->k_descale.defined() ? static_cast<double>(*args->k_descale.at<float>(b, head)) : 1.0;
}

double Geometry::sink(std::int64_t head) const { return core::decode(args->sink.dtype, args->sink.at(head)); }

}  // namespace isomer::ops::attention
