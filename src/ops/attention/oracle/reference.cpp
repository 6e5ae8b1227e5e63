#include "ops/attention/oracle/reference.hpp"
#include "core/ceil_div.hpp"

#include "ops/attention/oracle/oracle.hpp"
#include "oracle/attention_bound.hpp"
#include "oracle/online_softmax.hpp"
#include "oracle/part_of_threads.hpp"
#include "oracle/short_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

namespace isomer::ops::attention {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHidden = -5e4;  ///< of a mask that is no −inf

/// Of so many elements of a row of q and k, those that q·k sums.
std::int64_t depth_of(std::int64_t dims, const oracle::Variations& vary) {
  const std::string_view how = vary.after("depth=");
  if (how.empty()) return dims;
  if (how == "half") return dims / 2;
  if (how.starts_with("of-")) return dims;
  if (how == "floor-of-32") return dims / 32 * 32;
  std::int64_t left_out = 0;
  for (const char digit : how.substr(std::string_view("without-last-").size()))
    left_out = 10 * left_out + (digit - '0');
  return std::max<std::int64_t>(dims - left_out, 0);
}

/// Of so many keys those in whole tiles, where what is behind them is left out; otherwise no bound.
std::int64_t whole_keys(std::int64_t keys, const oracle::Variations& vary) {
  for (const std::int64_t tile : {16, 32, 64})
    if (vary.has("keys=whole-" + std::to_string(tile))) return keys / tile * tile;
  return std::numeric_limits<std::int64_t>::max();
}

/// Attention of one query against the keys of its head.
class Row {
 public:
  Row(const core::Call& call, const oracle::Variations& vary, const Sequence& s)
      : a_(call.args<AttentionArgs>()), o_(call.options<AttentionOptions>()), vary_(vary), s_(s) {
    const double dv = static_cast<double>(a_.out.size(-1));
    const bool of_both = a_.qv.defined() && !vary_.has("scale=of-d");
    const double d = static_cast<double>(a_.q.size(-1)) + (of_both ? dv : 0);
    scale_ = o_.scale != 0 ? static_cast<double>(o_.scale) : 1 / std::sqrt(d);
    if (vary_.has("scale=missing")) scale_ = 1;
    if (vary_.has("scale=twice")) scale_ *= scale_;
    if (vary_.has("scale=of-all-heads")) scale_ = 1 / std::sqrt(d * static_cast<double>(a_.q.size(-2)));
    if (vary_.has("scale=without-root")) scale_ = 1 / d;
    if (vary_.has("scale=of-dv") && o_.scale == 0) scale_ = 1 / std::sqrt(dv);
    dims_ = a_.q.size(-1);
    depth_ = depth_of(dims_, vary_);
    of_depth_ = oracle::part_of_threads(vary_, "depth=");
    of_sum_ = oracle::part_of_threads(vary_, "sum=");
    whole_keys_ = whole_keys(s.k_len, vary_);
    without_last_ = vary_.has("keys=without-last");
    without_first_ = vary_.has("keys=without-first");
    before_own_ = o_.causal && vary_.has("causal=before-own");
    before_own_to_nan_ = o_.causal && vary_.has("causal=before-own-to-nan");
    sliding_ = vary_.has("attention_chunk=sliding");
    ahead_ = vary_.has("causal=top-left") ? 0
             : vary_.has("causal=turned") ? s_.q_len - s_.k_len
                                          : s_.k_len - s_.q_len;
    left_ = o_.window_left;
    if (left_ >= 0 && vary_.has("window_left=exclusive")) --left_;
    bounded_left_ = o_.window_left >= 0;
    right_ = o_.causal ? 0 : o_.window_right;
    bounded_right_ = right_ >= 0;
    if (vary_.has("window_right=one-further")) ++right_;
    if (vary_.has("window_right=exclusive")) --right_;
    hidden_ = vary_.has("mask=finite") ? kHidden : -kInfinity;
    asks_hidden_ = vary_.has("sum=of-hidden-too");
    after_mask_ = vary_.has("softcap=after-mask");
    before_scale_ = vary_.has("softcap=before-scale");
    cap_ = static_cast<double>(o_.softcap);
    uncapped_ = cap_ == 0 || vary_.has("softcap=ignored") || after_mask_;
    narrow_logits_ = vary_.has("logits=f16")    ? DType::f16
                     : vary_.has("logits=bf16") ? DType::bf16
                                                : DType::none;
    short_sums_ = vary_.has("sums=short") && a_.q.dtype == DType::e4m3fn && a_.k.dtype == DType::e4m3fn;
    logits_.resize(static_cast<std::size_t>(s.k_len));
    unmasked_.resize(logits_.size());
    weights_.resize(static_cast<std::size_t>(s.k_len));
    out.resize(static_cast<std::size_t>(a_.out.size(-1)));
    bound.resize(out.size());
    absolute_.resize(out.size());
    squares_.resize(out.size());
    lost_.resize(out.size());
    values_.resize(out.size());
  }

  std::vector<double> out, bound;
  double lse = 0, lse_bound = 0;

  void run(std::int64_t i, std::int64_t head) {
    const std::int64_t heads_kv = a_.k.size(-2), group = a_.q.size(-2) / heads_kv;
    const std::int64_t g = vary_.has("heads=modulo")  ? head % heads_kv
                           : vary_.has("heads=next")  ? (head / group + 1) % heads_kv
                           : vary_.has("heads=first") ? 0
                                                      : head / group;
    blur_ = max_products_ = 0;
    const auto head_of = [&](std::string_view of) { return vary_.has(of) ? head % heads_kv : g; };
    const std::int64_t of_k = head_of("k_heads=modulo");
    double scale = scale_;
    if (!vary_.has("descale=ignored"))
      scale *= factor(a_.q_descale, s_.batch, of_k) * factor(a_.k_descale, s_.batch, of_k);
    for (std::int64_t j = 0; j < s_.k_len; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const bool seen = visible(i, j);
      // What nobody sees nobody asks for, but for a variation.
      if (seen || asks_hidden_) unmasked_[at] = logit(i, j, head, of_k, scale, seen);
      logits_[at] = masked(seen ? unmasked_[at] : hidden_);
    }
    behind_ = visible(i, s_.k_len) ? oracle::weighing_tail(vary_, s_.k_len) : 0;
    softmax(head);
    rescale();
    weigh(head_of("v_heads=modulo"));
  }

 private:
  static double factor(const Tensor& descale, std::int64_t b, std::int64_t g) {
    return descale.defined() ? oracle::read(descale, b, g) : 1.0;
  }

  /// S = softcap(scale · q_descale · k_descale · Σ_d q·k).
  double logit(std::int64_t i, std::int64_t j, std::int64_t head, std::int64_t g, double scale, bool seen) {
    const Matrix &q = s_.q[static_cast<std::size_t>(head)], &k = s_.k[static_cast<std::size_t>(g)];
    const double *qi = q.row(i), *kj = k.row(j);
    double dot = 0, products = 0;
    const bool whole = of_depth_.is_whole();
    const auto add = [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t d = begin; d < end; ++d) {
        if (!whole && !of_depth_.has(d)) continue;
        dot += qi[d] * kj[d];
        products += std::fabs(qi[d] * kj[d]);
      }
    };
    add(0, depth_);
    add(dims_, q.columns);  // behind the dimensions of q lie those of qv
    if (seen) {
      blur_ = std::max(blur_, scale * spread(q, i, k, j));
      if (short_sums_ && std::isfinite(products))
        blur_ = std::max(blur_, scale * (spread(q, i, k, j) + oracle::kShortSums * products));
      if (std::isfinite(products)) max_products_ = std::max(max_products_, scale * products);
    }
    if (uncapped_) return scale * dot;
    if (before_scale_) return scale * cap_ * std::tanh(dot / cap_);
    return cap_ * std::tanh(scale * dot / cap_);
  }

  /// How far Σ_d q·k may move because rotated elements of q and k may have been rounded the other way.
  static double spread(const Matrix& q, std::int64_t i, const Matrix& k, std::int64_t j) {
    const double *qi = q.row(i), *kj = k.row(j), *dq = q.spread_row(i), *dk = k.spread_row(j);
    if (dq == nullptr && dk == nullptr) return 0;
    double sum = 0;
    for (std::int64_t d = 0; d < q.columns; ++d) {
      const double a = dq == nullptr ? 0 : dq[d], b = dk == nullptr ? 0 : dk[d];
      sum += a * std::fabs(kj[d]) + b * std::fabs(qi[d]) + a * b;
    }
    return std::isfinite(sum) ? sum : 0;
  }

  /// i + Sk − Sq − left <= j <= i + Sk − Sq + right; causal means right = 0. A chunk holds what lies in it.
  bool visible(std::int64_t i, std::int64_t j) const {
    if (j >= whole_keys_) return false;
    if (without_last_ && j == s_.k_len - 1) return false;
    if (without_first_ && j == 0) return false;
    const std::int64_t diagonal = i + ahead_;
    if (before_own_to_nan_) return j < diagonal;
    if (before_own_) return j < diagonal || (diagonal == 0 && j == 0);
    if (bounded_left_ && diagonal - j > left_) return false;
    if (bounded_right_ && j - diagonal > right_) return false;
    const std::int64_t chunk = o_.attention_chunk;
    if (chunk == 0) return true;
    if (sliding_) return diagonal - j < chunk && j - diagonal < chunk;
    const auto of = [&](std::int64_t place) {
      return place >= 0 ? place / chunk : -1 - (-1 - place) / chunk;
    };
    return of(j) == of(diagonal);
  }

  double masked(double s) const {
    if (cap_ != 0 && after_mask_) s = cap_ * std::tanh(s / cap_);
    return narrow_logits_ != DType::none ? core::round_to(narrow_logits_, s) : s;
  }

  /// weight_j = e^(S_j − m), denominator l = Σ weight + e^(sink − m), lse = m + ln l.
  void softmax(std::int64_t head) {
    double sink = -kInfinity;
    if (a_.sink.defined() && !vary_.has("sink=ignored")) sink = oracle::read(a_.sink, head);
    if (vary_.has("sink=scaled") && std::isfinite(sink)) sink *= scale_;
    double m = behind_ > 0 ? std::max(sink, 0.0) : sink;
    max_abs_logit_ = std::isfinite(sink) ? std::fabs(sink) : 0;
    const bool hides = vary_.has("mask=finite");
    bool any = false;  // a NaN logit counts: the row is NaN then, not empty
    for (const double s : logits_) {
      any = any || s != -kInfinity;
      m = std::max(m, s);
      // What is no logit makes no room for errors of logits.
      if (std::isfinite(s) && !(hides && s < 0.99 * kHidden))
        max_abs_logit_ = std::max(max_abs_logit_, std::fabs(s));
    }
    empty_ = !any && sink == -kInfinity;
    vanished_ = false;
    if (empty_) return;
    const bool raw = vary_.has("max=none"),
               from_zero = vary_.has("max=from-zero") || vary_.has("max=from-zero-to-nan"),
               of_two = vary_.has("weights=base-2");
    if (from_zero) m = std::max(m, 0.0);
    // Without the subtraction f32 overflows above 88, which is the fault.
    const auto weight = [&](double s) {
      if (from_zero)
        return static_cast<double>(std::exp(static_cast<float>(s - m)));  // f32 underflows below −104
      if (raw) return static_cast<double>(std::exp(static_cast<float>(s)));
      return of_two ? std::exp2(s - m) : std::exp(s - m);
    };
    const double sink_weight = std::isfinite(sink) ? weight(sink) : 0;
    denominator_ = sink_weight * (vary_.has("sink=counted-twice") ? 2 : 1);
    if (behind_ > 0) denominator_ += static_cast<double>(behind_) * weight(0);
    const bool squares = vary_.has("sum=of-squares");
    of_half_ = {};
    for (std::size_t j = 0; j < logits_.size(); ++j) {
      weights_[j] = weight(logits_[j]);
      of_half_[j % 32 / 16] += weights_[j];
      if (!of_sum_.is_whole() && !of_sum_.has(static_cast<std::int64_t>(j))) continue;
      denominator_ += squares ? weights_[j] * weights_[j] : weights_[j];
    }
    if (vary_.has("sum=of-hidden-too"))
      for (std::size_t j = 0; j < logits_.size(); ++j)
        if (logits_[j] == -kInfinity) denominator_ += weight(unmasked_[j]);
    empty_ = from_zero && denominator_ == 0;
    vanished_ = empty_;
    if (empty_) return;
    const double sum = vary_.has("lse=without-sink") ? denominator_ - sink_weight : denominator_;
    const double of_sum = vary_.has("lse=maximum")         ? 0
                          : vary_.has("log=base-2-of-sum") ? std::log2(sum)
                                                           : std::log(sum);
    lse = (raw || vary_.has("lse=without-maximum") ? 0 : m) + of_sum;
    if (vary_.has("log=base-2-of-maximum")) lse += m / std::log(2.0) - m;
    if (vary_.has("log=base-2")) lse /= std::log(2.0);
    lse_bound = std::isnan(lse) ? 0 : oracle::lse_bound(lse, std::max(max_products_, max_abs_logit_)) + blur_;
  }

  /// Nothing, but for variations that leave it out.
  void rescale() {
    if (empty_) return;
    const double sum = denominator_;
    oracle::leave_out_rescaling(vary_, logits_, weights_, denominator_);
    if (denominator_ != sum) lse += std::log(denominator_ / sum);
  }

  /// out = Σ_j p_j·v_j, p = weight / l; an empty row is 0 with lse = −inf.
  void weigh(std::int64_t g) {
    std::fill(bound.begin(), bound.end(), 0.0);
    if (empty_) {
      std::fill(
          out.begin(), out.end(),
          vary_.has("empty=nan") || before_own_to_nan_ || (vanished_ && vary_.has("max=from-zero-to-nan"))
              ? std::nan("")
              : 0.0);
      lse = vary_.has("empty_lse=+inf") ? kInfinity : before_own_to_nan_ ? std::nan("") : -kInfinity;
      lse_bound = 0;
      return;
    }
    const double descale = vary_.has("descale=ignored") || vary_.has("v_descale=ignored")
                               ? 1.0
                               : factor(a_.v_descale, s_.batch, g);
    const Matrix& v = s_.v[static_cast<std::size_t>(g)];
    const bool undivided = vary_.has("sum=ignored"), own_half = vary_.has("sum=of-own-half-warp");
    const bool unweighted = vary_.has("merge=unweighted");
    for (std::vector<double>* sums : {&out, &absolute_, &squares_, &lost_})
      std::fill(sums->begin(), sums->end(), 0.0);
    for (std::int64_t j = 0; j < s_.k_len; ++j) {
      // A key that the row does not see has no part in it, whatever its value holds.
      if (logits_[static_cast<std::size_t>(j)] == -kInfinity) continue;
      const double weight = weights_[static_cast<std::size_t>(j)];
      const double whole = undivided ? weight : weight / denominator_ * (unweighted ? part_weight(j) : 1);
      const double* row = v.row(j);
      for (std::size_t d = 0; d < values_.size(); ++d) values_[d] = row[d] * descale;
      if (!own_half) {
        add_weighed(whole, 0, out.size());
        continue;
      }
      for (std::size_t d = 0; d < out.size(); ++d) {
        const double sum = of_half_[d % 32 / 16];
        add_weighed(sum > 0 ? weight / sum : 0, d, d + 1);
      }
    }
    if (!s_.stale_v.empty()) {
      const Matrix& stale = s_.stale_v[static_cast<std::size_t>(g)];
      for (std::int64_t j = 0; j < stale.rows; ++j)
        for (std::size_t d = 0; d < out.size(); ++d) out[d] += 0.0 * stale.row(j)[d];
    }
    for (std::size_t d = 0; d < out.size(); ++d) {
      if (std::isnan(out[d])) continue;
      bound[d] = oracle::attention_bound(a_.out.dtype, a_.q.dtype, out[d], absolute_[d], squares_[d],
                                         max_abs_logit_, lost_[d]) +
                 (2 * blur_ + (short_sums_ ? oracle::kShortSums : 0)) * absolute_[d];
    }
  }

  /// A key of probability p, in these dimensions: what the result and its bound are sums of.
  void add_weighed(double p, std::size_t begin, std::size_t end) {
    const double under = oracle::lost_to_underflow(a_.q.dtype, a_.v.dtype, p, denominator_);
    const double* value = values_.data();
    double *sum = out.data(), *absolute = absolute_.data(), *squares = squares_.data(), *lost = lost_.data();
    for (std::size_t d = begin; d < end; ++d) {
      const double pv = p * value[d];
      sum[d] += pv;
      absolute[d] += std::fabs(pv);
      squares[d] += pv * pv;
      lost[d] += under * std::fabs(value[d]);
    }
  }

  /// 1. For the variation in which split results are averaged instead of weighed: what turns a key's weight
  /// into that of the plain mean over the parts that see any key.
  double part_weight(std::int64_t j) const {
    const std::int64_t parts = o_.num_splits;
    if (parts <= 1) return 1;
    const std::int64_t size = core::ceil_div(s_.k_len, parts);
    double mine = 0;
    std::int64_t seen = 0;
    for (std::int64_t first = 0; first < s_.k_len; first += size) {
      double sum = 0;
      for (std::int64_t k = first; k < std::min(first + size, s_.k_len); ++k)
        sum += weights_[static_cast<std::size_t>(k)];
      seen += sum > 0;
      if (j / size == first / size) mine = sum;
    }
    return denominator_ / mine / static_cast<double>(seen);
  }

  const AttentionArgs& a_;
  const AttentionOptions& o_;
  const oracle::Variations& vary_;
  const Sequence& s_;
  double scale_ = 1, denominator_ = 0;
  bool short_sums_ = false;      ///< tensor cores sum e4m3 products in fewer bits
  double blur_ = 0;              ///< of a logit, by rotary rounding and short sums
  double max_abs_logit_ = 0;     ///< of the visible keys and the sink
  double max_products_ = 0;      ///< largest scale·Σ_d |q·k| of a visible key
  std::int64_t whole_keys_ = 0;  ///< those that are left out come behind so many
  std::int64_t behind_ = 0;      ///< keys behind the last that weigh in a variation
  bool empty_ = false;
  bool vanished_ = false;  ///< of keys whose weights are all too small
  oracle::PartOfThreads of_depth_, of_sum_;
  std::array<double, 2> of_half_{};    ///< of the weights: what each half of a warp has summed
  std::int64_t dims_ = 0, depth_ = 0;  ///< elements of a row of q, and those of them that q·k sums
  std::vector<double> unmasked_, logits_, weights_;
  std::vector<double> values_, absolute_, squares_, lost_;  ///< of a row of v, and what bounds are sums of
  // What is asked for each key, once: options and variations of them.
  bool without_last_ = false, without_first_ = false, before_own_ = false, before_own_to_nan_ = false,
       sliding_ = false;
  bool bounded_left_ = false, bounded_right_ = false;
  bool asks_hidden_ = false, after_mask_ = false, before_scale_ = false, uncapped_ = false;
  DType narrow_logits_ = DType::none;              ///< that they are rounded to
  std::int64_t ahead_ = 0, left_ = 0, right_ = 0;  ///< of the diagonal, and keys seen beside it
  double hidden_ = 0, cap_ = 0;
};

void record(const core::Call& call, const Sequence& s, std::int64_t i, std::int64_t head, const Row& row,
            oracle::Expected& expected) {
  const auto& a = call.args<AttentionArgs>();
  const std::int64_t r = s.out_row + i;
  oracle::ExpectedTensor& out = expected["out"];
  for (std::size_t d = 0; d < row.out.size(); ++d)
    out.set(a.q.rank == 3 ? out.index(r, head, d) : out.index(s.out_outer, r, head, d), row.out[d],
            row.bound[d]);
  if (!expected.has("lse")) return;
  oracle::ExpectedTensor& lse = expected["lse"];
  lse.set(a.q.rank == 3 ? lse.index(head, r) : lse.index(s.out_outer, head, r), row.lse, row.lse_bound);
}

}  // namespace

/// Every query of every head of every batch entry: S = q·kᵀ, mask, softmax, ·v, all in double.
void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected) {
  const auto& a = call.args<AttentionArgs>();
  for (std::int64_t b = 0; b < batch_of(a); ++b) {
    const Sequence s = unfold(call, vary, b, expected);
    Row row(call, vary, s);
    for (std::int64_t head = 0; head < a.q.size(-2); ++head)
      for (std::int64_t i = 0; i < s.q_len; ++i) {
        row.run(i, head);
        record(call, s, i, head, row, expected);
      }
  }
}

}  // namespace isomer::ops::attention
