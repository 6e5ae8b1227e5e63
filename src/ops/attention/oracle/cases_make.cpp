#include "core/ceil_div.hpp"
#include "core/codec.hpp"
#include "ops/attention/attention.hpp"
#include "ops/attention/oracle/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace isomer::ops::attention {
namespace {

using oracle::Layout;
using Shape = std::vector<std::int64_t>;

std::vector<std::int64_t> cumulative(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> sums(lengths.size() + 1, 0);
  std::partial_sum(lengths.begin(), lengths.end(), sums.begin() + 1);
  return sums;
}

/// Makes the tensors of one case. Whatever no batch entry uses, rows past a sequence, slots of a cache, whole
/// pages, holds NaN, and page table entries that nobody may look behind name no page.
class Maker {
 public:
  Maker(const oracle::Case& c, oracle::Problem& problem)
      : c_(c),
        problem_(problem),
        a_(problem.args<AttentionArgs>()),
        o_(problem.options<AttentionOptions>()),
        l_(lengths_of(c, problem.random())),
        layout_(oracle::layout_of(c.choice("layout"))),
        batch_(c.integer("b")),
        hq_(c.integer("hq")),
        hkv_(c.integer("hkv") == 0 ? hq_ : c.integer("hkv")),
        d_(c.integer("d")),
        dv_(c.integer("dv") == 0 ? d_ : c.integer("dv")),
        type_(c.dtype("dtype")),
        kv_type_(c.choice("kv") == "same"     ? type_
                 : c.choice("kv") == "e4m3fn" ? DType::e4m3fn
                                              : DType::i8),
        new_type_(c.choice("new") == "same" ? kv_type_ : *dtype_of(c.choice("new"))) {}

  void run() {
    choose_rows();
    choose_pages();
    queries();
    cache();
    appended();
    lengths();
    factors();
    options();
    if (problem_.drawn()) {
      stale();
      special_values();
    }
    problem_.bind(bind(a_, o_));
  }

 private:
  bool paged() const { return c_.integer("page") > 0; }
  bool appends() const { return c_.integer("append") > 0; }

  Tensor input(const char* name, char kind, DType type, const Shape& shape, Layout layout) {
    const Values values = values_of(c_, kind, type);
    return problem_.make(name, type, shape, layout, values.regime, values.scale);
  }

  /// Cache row, or row of the page table, of each entry. kv_batch_idx names no entry's own row, and where
  /// nothing is appended two entries share one.
  void choose_rows() {
    rows_ = batch_ + (c_.flag("kv_batch_idx") ? 1 : 0);
    for (std::int64_t b = 0; b < batch_; ++b)
      row_of_.push_back(c_.flag("kv_batch_idx") ? (b + 1) % rows_ : b);
    if (c_.flag("kv_batch_idx") && !appends() && batch_ >= 3) row_of_.back() = row_of_.front();
  }

  /// Pages in random order; three belong to nobody. The rest of the table names no page.
  void choose_pages() {
    if (!paged()) return;
    const std::int64_t size = c_.integer("page"),
                       sk = c_.integer("sk") < 0 ? c_.integer("sq") : c_.integer("sk");
    table_columns_ = core::ceil_div(sk, size) + 1;
    std::vector<std::int64_t> first(static_cast<std::size_t>(rows_), table_columns_), last(first.size(), 0);
    for (std::size_t b = 0; b < row_of_.size(); ++b) {
      const auto row = static_cast<std::size_t>(row_of_[b]);
      if (l_.used[b] == l_.pad[b]) continue;
      first[row] = std::min(first[row], l_.pad[b] / size);
      last[row] = std::max(last[row], core::ceil_div(l_.used[b], size));
    }
    std::int64_t needed = 0;
    for (std::size_t row = 0; row < first.size(); ++row)
      needed += std::max<std::int64_t>(last[row] - first[row], 0);
    pages_ = std::max<std::int64_t>(needed + (c_.flag("far") ? 0 : 3), 1);
    if (!problem_.drawn()) return;
    const std::vector<std::int64_t> order = problem_.random().permutation(pages_);
    const std::int64_t nowhere[] = {-1, std::numeric_limits<std::int32_t>::max(), pages_, pages_ + 7};
    std::size_t next = 0;
    for (std::size_t row = 0; row < first.size(); ++row)
      for (std::int64_t column = 0; column < table_columns_; ++column)
        table_.push_back(column >= first[row] && column < last[row] ? order[next++]
                                                                    : nowhere[table_.size() % 4]);
  }

  /// Under varlen two rows belong to no entry.
  void queries() {
    const bool varlen = c_.flag("varlen_q");
    total_q_ = cumulative(l_.q).back() + 2;
    const Layout out_layout = layout_ == Layout::broadcast ? Layout::contiguous : layout_;
    const DType out_type = c_.choice("out") != "same" ? *dtype_of(c_.choice("out"))
                           : type_ == DType::e4m3fn   ? DType::bf16
                                                      : type_;
    const std::int64_t sq = c_.integer("sq");
    const auto rows = [&](std::int64_t d) {
      return varlen ? Shape{total_q_, hq_, d} : Shape{batch_, sq, hq_, d};
    };
    a_.q = input("q", 'q', type_, rows(d_), layout_);
    if (c_.flag("qv")) a_.qv = input("qv", 'q', type_, rows(dv_), layout_);
    a_.out = problem_.make("out", out_type, rows(dv_), out_layout);
    if (c_.flag("lse"))
      a_.lse = problem_.make("lse", DType::f32, varlen ? Shape{hq_, total_q_} : Shape{batch_, hq_, sq},
                             out_layout);
    if (varlen) a_.cu_seqlens_q = problem_.make("cu_seqlens_q", DType::i32, {batch_ + 1}, cumulative(l_.q));
  }

  /// k and v lie differently wherever the layout leaves a choice.
  void cache() {
    const bool varlen = c_.flag("varlen_k");
    const Layout k_layout = appends() && layout_ == Layout::broadcast ? Layout::contiguous : layout_;
    const Layout v_layout = k_layout == Layout::padded       ? Layout::transposed
                            : k_layout == Layout::transposed ? Layout::padded
                                                             : k_layout;
    std::int64_t outer = paged() ? pages_ : rows_, slots = paged() ? c_.integer("page") : 0;
    if (!paged()) slots = l_.given.empty() ? 0 : l_.given[0];
    if (varlen) slots = cumulative(l_.given).back() + 2;
    const auto shape = [&](std::int64_t d) {
      return varlen ? Shape{slots, hkv_, d} : Shape{outer, slots, hkv_, d};
    };
    Shape v_shape = shape(dv_);
    // [slots, heads, dv] → [heads, dv, slots]
    if (c_.flag("v_colmajor")) std::rotate(v_shape.end() - 3, v_shape.end() - 2, v_shape.end());
    if (c_.flag("far")) {
      a_.k = far("k", 'k', shape(d_));
      a_.v = far("v", 'v', v_shape);
    } else {
      a_.k = input("k", 'k', kv_type_, shape(d_), k_layout);
      a_.v = c_.flag("v_in_k") ? a_.k.slice(a_.k.rank - 1, 0, dv_)
                               : input("v", 'v', kv_type_, v_shape, v_layout);
    }
    if (kv_type_ == DType::i8) {
      a_.k_scale = scales("k_scale", a_.k, k_layout);
      a_.v_scale = scales("v_scale", a_.v, v_layout);
    }
    if (varlen)
      a_.cu_seqlens_k = problem_.make("cu_seqlens_k", DType::i32, {batch_ + 1}, cumulative(l_.given));
    if (paged()) a_.page_table = problem_.make("page_table", DType::i32, {rows_, table_columns_}, table_);
    if (c_.flag("kv_batch_idx"))
      a_.kv_batch_idx = problem_.make("kv_batch_idx", DType::i32, {batch_}, row_of_);
  }

  /// Numbers of the whole of int8 in `t`, and its scales as quantize_copy_kv makes them of values of order 1:
  /// without the last dimension for pages, with 1 there otherwise.
  Tensor scales(const char* name, const Tensor& t, Layout layout) {
    Shape shape(t.shape.begin(), t.shape.begin() + t.rank);
    if (c_.choice("kv") == "i8x8")
      shape.back() /= 8;
    else if (paged())
      shape.pop_back();
    else
      shape.back() = 1;
    const Tensor scale = problem_.make(name, *dtype_of(c_.choice("kv_scale")), shape, layout);
    if (!problem_.drawn()) return scale;
    oracle::Random random(c_.seed(), name);
    for_each(t,
             [&](std::byte* at) { core::encode(t.dtype, static_cast<double>(random.below(256)) - 128, at); });
    for_each(scale, [&](std::byte* at) {
      core::encode(scale.dtype, std::exp2(3.0 * random.uniform() - 2.0) * 2 / 127, at);
    });
    return scale;
  }

  template <class Function>
  static void for_each(const Tensor& t, Function&& function) {
    std::int64_t count = 1;
    for (int i = 0; i < t.rank; ++i) count *= t.size(i);
    for (std::int64_t n = 0; n < count; ++n) {
      std::int64_t rest = n, offset = 0;
      for (int i = t.rank - 1; i >= 0; --i) {
        offset += rest % t.size(i) * t.stride(i);
        rest /= t.size(i);
      }
      function(static_cast<std::byte*>(t.data) + offset * size_of(t.dtype));
    }
  }

  /// The last page begins at element 2^31 or later.
  Tensor far(const char* name, char kind, const Shape& shape) {
    const std::int64_t steps = std::max<std::int64_t>(shape[0] - 1, 1);
    const Tensor tensor =
        problem_.make_sparse(name, kv_type_, shape, ((std::int64_t{1} << 31) / steps / 4096 + 1) * 4096);
    if (!problem_.drawn()) return tensor;
    oracle::Random random(c_.seed(), name);
    const Values values = values_of(c_, kind, kv_type_);
    oracle::fill(tensor, values.regime, random, values.scale);
    return tensor;
  }

  void appended() {
    if (!appends()) return;
    const bool varlen = c_.flag("varlen_new");
    const auto shape = [&](std::int64_t d) {
      return varlen ? Shape{cumulative(l_.added).back() + 1, hkv_, d}
                    : Shape{batch_, c_.integer("append"), hkv_, d};
    };
    a_.k_new = input("k_new", 'k', new_type_, shape(d_), layout_);
    a_.v_new = input("v_new", 'v', new_type_, shape(dv_), layout_);
    if (varlen)
      a_.cu_seqlens_k_new = problem_.make("cu_seqlens_k_new", DType::i32, {batch_ + 1}, cumulative(l_.added));
    if (c_.choice("rotary") != "none") rotary();
  }

  /// Angles position · 10000^(−pair / pairs), for every position that a query or a key may have.
  void rotary() {
    const std::int64_t dim = c_.integer("rotary_dim") > 0 ? c_.integer("rotary_dim") : d_ / 16 * 16;
    const std::int64_t sk = c_.integer("sk") < 0 ? c_.integer("sq") : c_.integer("sk");
    const std::int64_t positions = sk + c_.integer("sq") + c_.integer("append");
    const bool own = c_.choice("rotary_dtype") == "same" && type_ != DType::e4m3fn;
    a_.rotary_cos = problem_.make("rotary_cos", own ? type_ : DType::f32, {positions, dim / 2});
    a_.rotary_sin = problem_.make("rotary_sin", own ? type_ : DType::f32, {positions, dim / 2});
    for (std::int64_t p = 0; p < positions && problem_.drawn(); ++p)
      for (std::int64_t pair = 0; pair < dim / 2; ++pair) {
        const double angle = static_cast<double>(p) *
                             std::pow(10000.0, -2.0 * static_cast<double>(pair) / static_cast<double>(dim));
        core::encode(a_.rotary_cos.dtype, std::cos(angle), a_.rotary_cos.at(p, pair));
        core::encode(a_.rotary_sin.dtype, std::sin(angle), a_.rotary_sin.at(p, pair));
      }
  }

  void lengths() {
    if (c_.flag("seqused_q")) a_.seqused_q = problem_.make("seqused_q", DType::i32, {batch_}, l_.q_used);
    if (c_.flag("leftpad_k")) a_.leftpad_k = problem_.make("leftpad_k", DType::i32, {batch_}, l_.pad);
    if (appends()) {
      std::vector<std::int64_t> cached = l_.used;
      for (std::size_t b = 0; b < cached.size(); ++b) cached[b] -= l_.added[b];
      a_.cache_seqlens = problem_.make("cache_seqlens", DType::i32, {batch_}, cached);
    } else if (c_.flag("seqused_k") || paged()) {
      a_.seqused_k = problem_.make("seqused_k", DType::i32, {batch_}, l_.used);
    }
  }

  /// Descales between 1/4 and 2, another for every entry and head; sinks like logits.
  void factors() {
    const auto descale = [&](const char* name, DType type) {
      if (type != DType::e4m3fn) return Tensor();
      const Tensor t = problem_.make(name, DType::f32, {batch_, hkv_}, layout_);
      for (std::int64_t b = 0; b < batch_ && problem_.drawn(); ++b)
        for (std::int64_t h = 0; h < hkv_; ++h)
          *t.at<float>(b, h) = static_cast<float>(0.25 * std::exp2(3.0 * problem_.random().uniform()));
      return t;
    };
    if (c_.flag("descale")) {
      a_.q_descale = descale("q_descale", type_);
      a_.k_descale = descale("k_descale", kv_type_);
      a_.v_descale = descale("v_descale", kv_type_);
    }
    if (c_.choice("sink") == "none") return;
    const DType type = c_.choice("sink") == "same" && type_ != DType::e4m3fn ? type_ : DType::f32;
    a_.sink = problem_.make("sink", type, {hq_}, Layout::contiguous, oracle::Regime::normal, 2.0);
  }

  void options() {
    oracle::set_options(c_, contract(), &o_);
    o_.rotary_interleaved = c_.choice("rotary") == "interleaved";
    if (!c_.flag("max_seqlen")) return;
    if (c_.flag("varlen_q")) o_.max_seqlen_q = c_.integer("sq");
    o_.max_seqlen_k = c_.integer("sk") < 0 ? c_.integer("sq") : c_.integer("sk");
  }

  /// Row of k and v in which a slot of an entry lies.
  std::pair<std::int64_t, std::int64_t> place(std::size_t b, std::int64_t slot) const {
    if (c_.flag("varlen_k")) return {0, cumulative(l_.given)[b] + slot};
    if (!paged()) return {row_of_[b], slot};
    const std::int64_t size = c_.integer("page");
    return {table_[static_cast<std::size_t>(row_of_[b] * table_columns_ + slot / size)], slot % size};
  }

  /// Writes one value of k or v.
  void put(const Tensor& t, bool column_major, std::int64_t outer, std::int64_t row, std::int64_t head,
           std::int64_t d, double value) {
    std::byte* at = t.rank == 3 ? (column_major ? t.at(head, d, row) : t.at(row, head, d))
                                : (column_major ? t.at(outer, head, d, row) : t.at(outer, row, head, d));
    core::encode(t.dtype, value, at);
  }

  /// Writes the first scale of a row of k or v: int8 has no NaN.
  void put_scale(const Tensor& t, std::int64_t outer, std::int64_t row, std::int64_t head, double value) {
    std::int64_t at = row * t.stride(a_.k.rank - 3) + head * t.stride(a_.k.rank - 2);
    if (a_.k.rank == 4) at += outer * t.stride(0);
    core::encode(t.dtype, value, static_cast<std::byte*>(t.data) + at * size_of(t.dtype));
  }

  void stale() {
    // A broadcast row is everybody's.
    if (layout_ == Layout::broadcast) return;
    const double nan = std::nan("");
    const bool varlen = c_.flag("varlen_q");
    for (std::int64_t b = 0, first = 0; b < batch_; ++b) {
      const auto i = static_cast<std::size_t>(b);
      for (std::int64_t row = l_.q_used[i]; row < l_.q[i]; ++row) query_row(varlen ? 0 : b, first + row, nan);
      if (varlen) first += l_.q[i];
    }
    for (std::int64_t row = total_q_ - 2; varlen && row < total_q_; ++row) query_row(0, row, nan);

    const std::int64_t outers = a_.k.rank == 3 ? 1 : a_.k.size(0), rows = a_.k.size(-3);
    std::vector<bool> used(static_cast<std::size_t>(outers * rows), false);
    for (std::size_t b = 0; b < row_of_.size(); ++b)
      for (std::int64_t slot = l_.pad[b]; slot < l_.used[b] - l_.added[b]; ++slot) {
        const auto [outer, row] = place(b, slot);
        used[static_cast<std::size_t>(outer * rows + row)] = true;
      }
    for (std::int64_t outer = 0; outer < outers; ++outer)
      for (std::int64_t row = 0; row < rows; ++row) {
        if (used[static_cast<std::size_t>(outer * rows + row)]) continue;
        for (std::int64_t head = 0; head < hkv_; ++head) {
          if (a_.k_scale.defined()) {
            put_scale(a_.k_scale, outer, row, head, nan);
            put_scale(a_.v_scale, outer, row, head, nan);
            continue;
          }
          for (std::int64_t d = 0; d < d_; ++d) put(a_.k, false, outer, row, head, d, nan);
          for (std::int64_t d = 0; d < dv_; ++d) put(a_.v, c_.flag("v_colmajor"), outer, row, head, d, nan);
        }
      }
  }

  void query_row(std::int64_t outer, std::int64_t row, double value) {
    for (std::int64_t head = 0; head < hq_; ++head)
      for (std::int64_t d = 0; d < d_; ++d) put(a_.q, false, outer, row, head, d, value);
    for (std::int64_t head = 0; a_.qv.defined() && head < hq_; ++head)
      for (std::int64_t d = 0; d < dv_; ++d) put(a_.qv, false, outer, row, head, d, value);
  }

  /// In the middle of the last entry's keys: a mask may leave it to some rows alone.
  void hide_value(oracle::Regime regime) {
    const auto b = static_cast<std::size_t>(batch_ - 1);
    const std::int64_t first = l_.pad[b], end = l_.used[b] - l_.added[b];
    if (b == 0 || end - first < 2 || a_.k_scale.defined()) return;
    const auto [outer, row] = place(b, first + (end - first) / 2);
    put(a_.v, c_.flag("v_colmajor"), outer, row, 0, 1, special(regime));
  }
  static double special(oracle::Regime regime) {
    return regime == oracle::Regime::nan ? std::nan("") : std::numeric_limits<double>::infinity();
  }

  /// NaN and inf where the definition says what follows: in a query (its row), in the last key of the first
  /// head (the rows that see it; an inf logit is NaN, a −inf one weighs nothing) and in a value that every
  /// row sees (its column), and in one of the last entry's.
  void special_values() {
    const oracle::Regime regime = oracle::regime_of(c_.choice("regime"));
    if ((regime != oracle::Regime::nan && regime != oracle::Regime::inf) || batch_ == 0) return;
    hide_value(regime);
    if (l_.used[0] - l_.added[0] <= l_.pad[0]) return;
    const double value = special(regime);
    const auto [last_outer, last_row] = place(0, l_.used[0] - l_.added[0] - 1);
    const auto [first_outer, first_row] = place(0, l_.pad[0]);
    if (regime == oracle::Regime::nan) put(a_.q, false, 0, 0, hq_ - 1, 1, value);
    if (a_.k_scale.defined()) {
      // As quantize_copy_kv leaves a row with a NaN or an inf.
      put_scale(a_.k_scale, last_outer, last_row, 0, value);
      put_scale(a_.v_scale, first_outer, first_row, hkv_ - 1, value);
      return;
    }
    put(a_.k, false, last_outer, last_row, 0, 0, value);
    put(a_.v, c_.flag("v_colmajor"), first_outer, first_row, hkv_ - 1, 2, value);
  }

  const oracle::Case& c_;
  oracle::Problem& problem_;
  AttentionArgs& a_;
  AttentionOptions& o_;
  Lengths l_;
  Layout layout_;
  std::int64_t batch_, hq_, hkv_, d_, dv_;
  DType type_, kv_type_, new_type_;
  std::int64_t rows_ = 0, pages_ = 0, table_columns_ = 0, total_q_ = 0;
  std::vector<std::int64_t> row_of_, table_;
};

}  // namespace

void make(const oracle::Case& c, oracle::Problem& problem) { Maker(c, problem).run(); }

}  // namespace isomer::ops::attention
