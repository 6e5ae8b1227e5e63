#include "core/ceil_div.hpp"
#include "core/codec.hpp"
#include "ops/attention/oracle/reference.hpp"

#include <cmath>

namespace isomer::ops::attention {
namespace {

std::int64_t at(const Tensor& t, std::int64_t i) { return *t.at<std::int32_t>(i); }

/// The element at an offset from a view's first. Outside of the view's span, where only variations look, 0.
double fetch(const Tensor& t, std::int64_t offset) {
  std::int64_t lowest = 0, highest = 0;
  for (int i = 0; i < t.rank; ++i) {
    if (t.size(i) == 0) return 0;
    (t.stride(i) < 0 ? lowest : highest) += (t.size(i) - 1) * t.stride(i);
  }
  if (offset < lowest || offset > highest) return 0;
  return core::decode(t.dtype, static_cast<const std::byte*>(t.data) + offset * size_of(t.dtype));
}

/// Strides of a tensor as element (outer, row, head, d).
struct Strides {
  std::int64_t outer = 0, row = 0, head = 0, d = 0;
};

Strides strides_of(const Tensor& t, bool column_major = false) {
  Strides s{t.rank == 4 ? t.stride(0) : 0, t.stride(-3), t.stride(-2), t.stride(-1)};
  if (column_major) s = {s.outer, t.stride(-1), t.stride(-3), t.stride(-2)};
  return s;
}

Strides compact_strides(const Tensor& t) {
  const std::int64_t row = t.size(-2) * t.size(-1);
  return {t.size(-3) * row, row, t.size(-1), 1};
}

/// A value rounded to the dtype, where it is FP8 saturating, of its f32 quotient by `divisor`.
double stored(DType type, double x, float divisor) {
  const double quotient = divisor == 1.0f ? x : static_cast<double>(static_cast<float>(x) / divisor);
  return core::round_to(type, quotient, is_fp8(type) ? core::Overflow::saturate : core::Overflow::ieee);
}

/// A value rotated in f32, divided and rounded to a dtype. Products and sum have a relative error of 2^-24
/// each; `spread` is what that makes of the rounding.
struct Rotated {
  double value, spread;
};

Rotated rotate(DType type, float divisor, double x, double cos, double y, double sin) {
  const double exact = x * cos + y * sin;
  // A quotient is rounded to f32 as well.
  const double error = (divisor == 1.0f ? 0x1p-23 : 0x1p-22) * (std::fabs(x * cos) + std::fabs(y * sin));
  const auto rounded = [&](double value) { return stored(type, value, divisor); };
  const double spread = std::fabs(rounded(exact + error) - rounded(exact - error));
  return {rounded(exact), std::isfinite(spread) ? spread : 0};
}

class Unfolding {
 public:
  Unfolding(const core::Call& call, const oracle::Variations& vary, std::int64_t b,
            oracle::Expected& expected)
      : a_(call.args<AttentionArgs>()),
        o_(call.options<AttentionOptions>()),
        vary_(vary),
        b_(b),
        expected_(expected) {}

  Sequence run() {
    queries();
    keys();
    if (a_.k_new.defined()) append();
    Sequence s;
    s.batch = b_;
    s.out_outer = q_outer_;
    s.out_row = q_row_;
    s.q_len = q_len_;
    s.k_len = k_len_;
    for (std::int64_t h = 0; h < a_.q.size(-2); ++h) s.q.push_back(query_rows(h));
    for (std::int64_t h = 0; a_.qv.defined() && !vary_.has("qv=ignored") && h < a_.q.size(-2); ++h)
      s.q[static_cast<std::size_t>(h)] = beside(s.q[static_cast<std::size_t>(h)], qv_rows(h));
    for (std::int64_t g = 0; g < a_.k.size(-2); ++g) {
      s.k.push_back(key_rows(g, 0, k_len_));
      s.v.push_back(value_rows(g, 0, k_len_));
      if (a_.qv.defined() && !vary_.has("qv=ignored")) s.k.back() = beside(s.k.back(), s.v.back());
      if (vary_.has("stale=leaks")) s.stale_v.push_back(value_rows(g, k_len_, stale_end()));
    }
    return s;
  }

 private:
  /// q_len: the padded length, or cu[b + 1] − cu[b]; seqused_q overrides.
  void queries() {
    const bool varlen = a_.cu_seqlens_q.defined();
    q_outer_ = varlen ? 0 : b_;
    q_row_ = varlen ? at(a_.cu_seqlens_q, b_) : 0;
    q_len_ = varlen ? at(a_.cu_seqlens_q, b_ + 1) - q_row_ : a_.q.size(1);
    if (a_.seqused_q.defined() && !vary_.has("seqused_q=ignored")) q_len_ = at(a_.seqused_q, b_);
  }

  /// Slots in use: what the row holds, or seqused_k, or cache_seqlens and the new keys. Keys are those from
  /// leftpad on.
  void keys() {
    const bool varlen = a_.cu_seqlens_k.defined();
    const bool of_q = vary_.has("cu_seqlens_k=of-q") && a_.cu_seqlens_q.defined();
    const Tensor& cu = of_q ? a_.cu_seqlens_q : a_.cu_seqlens_k;
    outer_ = varlen ? 0 : b_;
    if (a_.kv_batch_idx.defined() && !vary_.has("kv_batch_idx=ignored")) outer_ = at(a_.kv_batch_idx, b_);
    first_slot_ = varlen ? at(cu, b_) : 0;
    std::int64_t used = varlen ? at(cu, b_ + 1) - first_slot_ : a_.k.size(1);
    if (a_.page_table.defined()) used = a_.page_table.size(1) * a_.k.size(1);
    row_end_ = first_slot_ + used;
    if (a_.seqused_k.defined() && !vary_.has("seqused_k=ignored"))
      used = at(a_.seqused_k, vary_.has("seqused_k=first") ? 0 : b_);
    if (a_.k_new.defined()) {
      const bool varlen_new = a_.cu_seqlens_k_new.defined();
      new_outer_ = varlen_new ? 0 : b_;
      new_row_ = varlen_new ? at(a_.cu_seqlens_k_new, b_) : 0;
      new_len_ = varlen_new ? at(a_.cu_seqlens_k_new, b_ + 1) - new_row_ : a_.k_new.size(1);
      cached_ = at(a_.cache_seqlens, b_);
      used = vary_.has("append=not-attended") ? cached_ : cached_ + new_len_;
    }
    const bool padded = a_.leftpad_k.defined() && !vary_.has("leftpad=ignored");
    const std::int64_t pad = padded ? at(a_.leftpad_k, b_) : 0;
    first_slot_ += pad;
    k_len_ = used - pad;
  }

  /// Row of k and v in which key j lies.
  struct Place {
    std::int64_t outer, row;
  };
  Place place(std::int64_t j) const {
    const std::int64_t slot = first_slot_ + j;
    if (!a_.page_table.defined()) return {outer_, slot};
    const std::int64_t page_size = a_.k.size(1), row = vary_.has("page_table=first") ? 0 : outer_;
    if (row >= a_.page_table.size(0) || slot / page_size >= a_.page_table.size(1)) return {-1, 0};
    return {*a_.page_table.at<std::int32_t>(row, slot / page_size), slot % page_size};
  }

  /// True but where a variation looks elsewhere.
  bool exists(Place p) const {
    return p.outer >= 0 && p.outer < a_.k.size(0) && p.row >= 0 && p.row < a_.k.size(1);
  }

  std::int64_t offset(const Strides& s, Place p, std::int64_t head, std::int64_t d) const {
    std::int64_t outer = p.outer * s.outer;
    if (vary_.has("page_index=int32") && a_.page_table.defined())
      outer = static_cast<std::int32_t>(static_cast<std::uint32_t>(p.outer) *
                                        static_cast<std::uint32_t>(s.outer));
    return outer + p.row * s.row + head * s.head + d * s.d;
  }

  Strides k_strides() const {
    return vary_.has("strides=compact") ? compact_strides(a_.k) : strides_of(a_.k);
  }
  Strides v_strides() const {
    if (vary_.has("strides=v-as-k")) return k_strides();
    if (vary_.has("v_colmajor=ignored")) return strides_of(a_.v);
    return vary_.has("strides=compact") && !o_.v_colmajor ? compact_strides(a_.v)
                                                          : strides_of(a_.v, o_.v_colmajor);
  }

  /// Content of the cache: as the call has it, or as appends left it.
  double content(const Tensor& t, const char* name, std::int64_t offset, bool column_major, Place p,
                 std::int64_t head, std::int64_t d) const {
    if (!a_.k_new.defined()) return fetch(t, offset);
    oracle::ExpectedTensor& written = expected_[name];
    if (!exists(p)) return 0;
    return written.value[column_major ? written.index(p.outer, head, d, p.row)
                                      : written.index(p.outer, p.row, head, d)];
  }

  /// Channel d of an int8 row, x, times the row's scale or that of its 8 channels, in f32.
  double scaled(double x, const Tensor& scales, const Tensor& of, Place p, std::int64_t head,
                std::int64_t d) const {
    if (!scales.defined() || vary_.has("kv_scale=ignored")) return x;
    std::int64_t at = p.row * scales.stride(of.rank - 3) + head * scales.stride(of.rank - 2);
    if (of.rank == 4) at += p.outer * scales.stride(0);
    if (scales.rank == of.rank && scales.size(-1) > 1)
      at += (vary_.has("kv_scale=of-first-group") ? 0 : d / 8) * scales.stride(-1);
    return static_cast<double>(static_cast<float>(x) * static_cast<float>(fetch(scales, at)));
  }

  Matrix key_rows(std::int64_t head, std::int64_t first, std::int64_t last) const {
    Matrix rows(std::max<std::int64_t>(last - first, 0), a_.q.size(-1));
    const Strides s = k_strides();
    for (std::int64_t j = first; j < last; ++j) {
      const Place p = place(j);
      for (std::int64_t d = 0; d < rows.columns; ++d)
        rows.row(j - first)[d] = scaled(content(a_.k, "k", offset(s, p, head, d), false, p, head, d),
                                        a_.k_scale, a_.k, p, head, d);
      if (a_.rotary_cos.defined() && j >= k_len_ - new_len_ && !key_spread_.empty()) {
        const std::int64_t t = j - (k_len_ - new_len_);
        const double* from = key_spread_[static_cast<std::size_t>(head)].row(t);
        std::copy(from, from + rows.columns, rows.spread_row(j - first));
      }
    }
    return rows;
  }

  Matrix value_rows(std::int64_t head, std::int64_t first, std::int64_t last) const {
    Matrix rows(std::max<std::int64_t>(last - first, 0), a_.out.size(-1));
    const Strides s = v_strides();
    for (std::int64_t j = first; j < last; ++j)
      for (std::int64_t d = 0; d < rows.columns; ++d) {
        const Place p = place(j);
        rows.row(j - first)[d] = scaled(content(a_.v, "v", offset(s, p, head, d), o_.v_colmajor, p, head, d),
                                        a_.v_scale, a_.v, p, head, d);
      }
    return rows;
  }

  Matrix query_rows(std::int64_t head) const {
    Matrix rows(q_len_, a_.q.size(-1));
    const Strides s = vary_.has("strides=compact") ? compact_strides(a_.q) : strides_of(a_.q);
    for (std::int64_t i = 0; i < q_len_; ++i) {
      for (std::int64_t d = 0; d < rows.columns; ++d)
        rows.row(i)[d] = fetch(a_.q, q_outer_ * s.outer + (q_row_ + i) * s.row + head * s.head + d * s.d);
      if (!a_.rotary_cos.defined()) continue;
      // Without a mask a query has no place of its own: all stand where the new keys begin.
      const bool masked = o_.causal || o_.window_left >= 0 || o_.window_right >= 0 || o_.attention_chunk > 0;
      const bool advances = masked || vary_.has("rotary_q=advances");
      if (position(advances ? i : 0) >= a_.rotary_cos.size(0)) continue;
      rotate_row(a_.q.dtype, 1, rows.row(i), rows.spread_row(i), position(advances ? i : 0));
    }
    return rows;
  }

  Matrix qv_rows(std::int64_t head) const {
    Matrix rows(q_len_, a_.qv.size(-1));
    const Strides s = vary_.has("strides=compact") ? compact_strides(a_.qv) : strides_of(a_.qv);
    for (std::int64_t i = 0; i < q_len_; ++i)
      for (std::int64_t d = 0; d < rows.columns; ++d)
        rows.row(i)[d] = fetch(a_.qv, q_outer_ * s.outer + (q_row_ + i) * s.row + head * s.head + d * s.d);
    return rows;
  }

  /// Row for row, the second behind the first.
  static Matrix beside(const Matrix& a, const Matrix& b) {
    Matrix both(a.rows, a.columns + b.columns);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      std::copy_n(a.row(i), a.columns, both.row(i));
      std::copy_n(b.row(i), b.columns, both.row(i) + a.columns);
      if (!a.spread.empty()) std::copy_n(a.spread_row(i), a.columns, both.spread_row(i));
    }
    return both;
  }

  std::int64_t position(std::int64_t i) const {
    return vary_.has("rotary_position=from-0") ? i : cached_ + i;
  }

  /// Rotates the first rotary_dim elements of a row, pair by pair: (x, y) → (x·cos − y·sin, y·cos + x·sin).
  void rotate_row(DType type, float divisor, double* row, double* spread, std::int64_t position) const {
    const std::int64_t pairs = a_.rotary_cos.size(1);
    const bool interleaved = o_.rotary_interleaved != vary_.has("rotary=other-style");
    for (std::int64_t p = 0; p < pairs; ++p) {
      const std::int64_t first = interleaved ? 2 * p : p, second = interleaved ? 2 * p + 1 : p + pairs;
      const double cos = oracle::read(a_.rotary_cos, position, p),
                   sin = oracle::read(a_.rotary_sin, position, p);
      const double x = row[first], y = row[second];
      const Rotated a = rotate(type, divisor, x, cos, y, -sin), b = rotate(type, divisor, y, cos, x, sin);
      row[first] = a.value;
      row[second] = b.value;
      spread[first] = a.spread;
      spread[second] = b.spread;
    }
  }

  /// What new rows of a head are divided by: the cache's descale, where they are wider than an FP8 cache.
  float divisor(const Tensor& descale, std::int64_t head) const {
    if (a_.k_new.dtype == a_.k.dtype || !descale.defined() || vary_.has("append=unscaled")) return 1;
    return static_cast<float>(oracle::read(descale, b_, head));
  }

  /// Writes new key and value t into the slot after the cached ones.
  void append() {
    oracle::ExpectedTensor &k = expected_["k"], &v = expected_["v"];
    const Strides ks = strides_of(a_.k_new), vs = strides_of(a_.v_new);
    for (std::int64_t head = 0; head < a_.k.size(-2); ++head) {
      Matrix keys(new_len_, a_.k.size(-1)), spreads(new_len_, a_.k.size(-1));
      const float k_divisor = divisor(a_.k_descale, head), v_divisor = divisor(a_.v_descale, head);
      for (std::int64_t t = 0; t < new_len_; ++t) {
        const std::int64_t row = new_row_ + t;
        for (std::int64_t d = 0; d < keys.columns; ++d)
          keys.row(t)[d] = fetch(a_.k_new, new_outer_ * ks.outer + row * ks.row + head * ks.head + d * ks.d);
        std::int64_t rotated = 0;
        if (a_.rotary_cos.defined() && position(t) < a_.rotary_cos.size(0)) {
          rotate_row(a_.k.dtype, k_divisor, keys.row(t), spreads.row(t), position(t));
          rotated = 2 * a_.rotary_cos.size(1);
        }
        for (std::int64_t d = rotated; d < keys.columns; ++d)
          keys.row(t)[d] = stored(a_.k.dtype, keys.row(t)[d], k_divisor);
        // Slots count from the row's start, left padding included; j counts keys from first_slot_ on.
        std::int64_t slot = cached_ + t;
        if (vary_.has("append=at-row-start")) slot = t;
        if (vary_.has("append=one-late")) slot = std::min(slot + 1, row_end_ - 1);
        const Place p = place(slot - first_slot_);
        if (!exists(p)) continue;
        for (std::int64_t d = 0; d < keys.columns; ++d)
          k.set(k.index(p.outer, p.row, head, d), keys.row(t)[d], spreads.row(t)[d]);
        for (std::int64_t d = 0; d < a_.out.size(-1); ++d) {
          const double value = stored(
              a_.v.dtype, fetch(a_.v_new, new_outer_ * vs.outer + row * vs.row + head * vs.head + d * vs.d),
              v_divisor);
          v.set(o_.v_colmajor ? v.index(p.outer, head, d, p.row) : v.index(p.outer, p.row, head, d), value);
        }
      }
      key_spread_.push_back(std::move(spreads));
    }
  }

  /// First key past the page, or past the 64 slots, in which the last key lies: where a careless tile stops.
  std::int64_t stale_end() const {
    const std::int64_t tile = a_.page_table.defined() ? a_.k.size(1) : 64;
    const std::int64_t slots = first_slot_ + k_len_;
    return std::min(core::align_up(slots, tile), row_end_) - first_slot_;
  }

  const AttentionArgs& a_;
  const AttentionOptions& o_;
  const oracle::Variations& vary_;
  std::int64_t b_;
  oracle::Expected& expected_;
  std::int64_t q_outer_ = 0, q_row_ = 0, q_len_ = 0;
  std::int64_t outer_ = 0, first_slot_ = 0, row_end_ = 0, k_len_ = 0;
  std::int64_t new_outer_ = 0, new_row_ = 0, new_len_ = 0, cached_ = 0;
  std::vector<Matrix> key_spread_;  ///< per kv head
};

}  // namespace

std::int64_t batch_of(const AttentionArgs& a) {
  return a.cu_seqlens_q.defined() ? a.cu_seqlens_q.size(0) - 1 : a.q.size(0);
}

Sequence unfold(const core::Call& call, const oracle::Variations& vary, std::int64_t b,
                oracle::Expected& expected) {
  return Unfolding(call, vary, b, expected).run();
}

}  // namespace isomer::ops::attention
