#pragma once

#include <isomer/attention.hpp>

#include <algorithm>
#include <cstdint>

/// An attention call with its layouts made one: what the contract's clauses and every implementation on the
/// CPU ask for lengths, addresses, visibility and heads. The words of FlashAttention-3: an entry is one
/// sequence of the batch.
namespace isomer::ops::attention {

/// A tensor of q, k, v, out, lse, k_new or v_new as element (outer, row, head, d) whatever its rank and
/// order. `outer` is the batch entry, the cache row or the page; it has size 1 where the rows of all entries
/// lie in one dimension.
struct RowView {
  std::byte* data = nullptr;
  DType dtype = DType::none;
  std::int64_t outers = 0, rows = 0;
  std::int64_t outer_stride = 0, row_stride = 0, head_stride = 0;
  std::int64_t d_stride = 1;  ///< 1 but for a column-major v, whose row_stride is then 1

  bool defined() const { return dtype != DType::none; }
  std::byte* at(std::int64_t outer, std::int64_t row, std::int64_t head, std::int64_t d = 0) const {
    return data +
           (outer * outer_stride + row * row_stride + head * head_stride + d * d_stride) * size_of(dtype);
  }
};

/// Keys [lo, hi) of an entry, lo <= hi.
struct KeyRange {
  std::int64_t lo = 0, hi = 0;
  bool empty() const { return lo == hi; }
  std::int64_t count() const { return hi - lo; }
};

/// One batch entry: its effective lengths and where its rows lie.
struct Entry {
  std::int64_t q_outer = 0, q_row = 0;  ///< query i is row (q_outer, q_row + i) of q, out and lse
  std::int64_t q_len = 0;               ///< effective number of queries; later rows stay untouched
  std::int64_t kv_outer = 0;            ///< cache row, or row of the page table
  std::int64_t first_slot = 0;          ///< key j lies in slot first_slot + j of that row
  std::int64_t k_len = 0;  ///< effective number of keys, the appended ones among them: the last new_len
  std::int64_t new_outer = 0,
               new_row = 0;  ///< appended key t is row (new_outer, new_row + t) of k_new and v_new
  std::int64_t new_len = 0;
  std::int64_t position = 0;  ///< rotary position of the first appended key: cache_seqlens[b]
};

/// Keys that lie at a constant row stride: key j … j + count − 1 are rows row … row + count − 1 of (outer) in
/// k and v.
struct KeyRun {
  std::int64_t outer = 0, row = 0, count = 0;
};

/// Everything about a valid call that its shapes, strides and options say, plus the pointers to look up the
/// rest. Cheap: made once for the plan (which must not keep pointers) and again for the run.
struct Geometry {
  explicit Geometry(const AttentionArgs& args, const AttentionOptions& options);

  std::int64_t batch = 0, heads = 0, heads_kv = 0, group = 1;  ///< group: query heads of one kv head
  std::int64_t head_dim = 0, head_dim_v = 0;
  std::int64_t seqlen_q = 0;              ///< upper bound of every q_len
  std::int64_t seqlen_k = 0;              ///< upper bound of every k_len
  std::int64_t total_q = 0, total_k = 0;  ///< rows of q; slots of k over all entries, cache rows or pages

  bool varlen_q = false, varlen_k = false;  ///< by cu_seqlens
  bool paged = false;
  bool append = false, rotary = false, rotary_interleaved = false;
  bool v_colmajor = false;
  std::int64_t page_size = 0;   ///< 0 unless paged
  std::int64_t rotary_dim = 0;  ///< 0 without rotary

  double scale = 0;  ///< multiplies q·k + qv·v; 1/sqrt(contracted()) where the call does not say
  double softcap = 0;
  std::int64_t window_left = -1, window_right = -1;  ///< causal folded in; −1 unbounded
  std::int64_t chunk = 0;                            ///< keys of a chunk; 0 none

  RowView q, k, v, out, lse, k_new, v_new, qv;
  /// Of int8 k and v; d counts groups of 8 channels, and d_stride is 0 where a row has one scale.
  RowView k_scale, v_scale;

  /// Elements that a logit sums over: those of q·k, and of qv·v.
  std::int64_t contracted() const { return head_dim + (has_qv() ? head_dim_v : 0); }
  bool has_qv() const { return qv.defined(); }
  /// k and v are int8, with scales.
  bool scaled() const { return k_scale.defined(); }
  /// The append divides by the descales and rounds to e4m3.
  bool quantises() const { return append && k_new.dtype != k.dtype; }

  bool causal() const { return window_right == 0 && window_left < 0 && chunk == 0; }
  bool local() const { return window_left >= 0 || window_right > 0 || chunk > 0; }
  bool masked() const { return window_left >= 0 || window_right >= 0 || chunk > 0; }

  /// Kv head that a query head reads.
  std::int64_t kv_head(std::int64_t head) const { return head / group; }

  /// The entry's lengths and rows. Reads cu_seqlens, seqused, cache_seqlens, leftpad and kv_batch_idx on the
  /// CPU.
  Entry entry(std::int64_t b) const;

  /// Where key j of the entry lies; run.count is what lies in one piece from there on. Reads one entry of the
  /// page table, never one past the keys. 0 <= j < entry.k_len.
  KeyRun run(const Entry& entry, std::int64_t j) const;

  /// Keys that query i of the entry sees: i + k_len − q_len − left <= j <= i + k_len − q_len + right, and of
  /// its own chunk.
  KeyRange visible(const Entry& entry, std::int64_t i) const;
  /// The smallest range that holds what every query of [first, last) sees.
  KeyRange visible(const Entry& entry, std::int64_t first, std::int64_t last) const;

  /// Rotary position of query i: its own where causal or windowed, that of the first appended key otherwise.
  std::int64_t q_position(const Entry& entry, std::int64_t i) const {
    return entry.position + (masked() ? i : 0);
  }
  /// cos and sin of a rotary pair, 0 <= pair < rotary_dim / 2.
  double cos(std::int64_t position, std::int64_t pair) const;
  double sin(std::int64_t position, std::int64_t pair) const;

  /// What multiplies the logits beside the scale (q_descale·k_descale), and what multiplies the output; 1
  /// where absent.
  double logit_descale(std::int64_t b, std::int64_t kv_head) const;
  double v_descale(std::int64_t b, std::int64_t kv_head) const;
  /// As v_descale, of k alone.
  double k_descale(std::int64_t b, std::int64_t kv_head) const;

  bool has_sink() const { return args->sink.defined(); }
  double sink(std::int64_t head) const;

  const AttentionArgs* args;  ///< borrowed
};

}  // namespace isomer::ops::attention
