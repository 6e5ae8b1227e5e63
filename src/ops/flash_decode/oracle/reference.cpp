#include "core/ceil_div.hpp"
#include "ops/flash_decode/flash_decode.hpp"
#include "ops/flash_decode/oracle/oracle.hpp"
#include "oracle/attention_bound.hpp"
#include "oracle/online_softmax.hpp"
#include "oracle/part_of_threads.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isomer::ops::flash_decode {
namespace {

using core::round_to;
using oracle::Variations;

constexpr double kNothing = -std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Tokens of a block of a varied fused call where the options leave them to the plan.
constexpr std::int64_t kPlansBlock = 256;

/// What one element carries besides its value, for the bound: Σp|v|, Σp²v², what p loses to underflow, and
/// what sums in a narrow type lose.
struct Sums {
  double value = 0, weighted = 0, squared = 0, lost = 0, narrow = 0;
};

/// One block of one query head: softmax over its tokens.
struct Part {
  std::vector<Sums> out;  ///< [D]
  double lse = kNothing;
  double largest = 0;    ///< max|S|
  double products = 0;   ///< max of scale·Σ|q·k|
  double narrow = 0;     ///< of lse, as Sums has it of out
  bool unknown = false;  ///< a variation reads rows of k and v that there are not
};

/// What sums kept in f16 lose of Σ|terms| = 1. Which sums a port keeps so (the values', the weights', both),
/// and in which order it rescales and adds, is its own: of n roundings of 2^-11 this is four deviations.
double lost_by_f16_sums(std::size_t terms, const Variations& vary) {
  return vary.has("accumulate=f16") ? 4 * std::sqrt(static_cast<double>(terms)) * 0x1p-11 : 0.0;
}

/// A tensor as a faulty kernel may read it: by other strides than its own. 0 beyond its memory.
class Memory {
 public:
  /// Addressed with the strides of `as`, the innermost 1 where `inner_one`.
  Memory(const Tensor& tensor, const Tensor& as, bool inner_one)
      : data_(static_cast<const std::byte*>(tensor.data)), dtype_(tensor.dtype), strides_(as.strides) {
    for (int i = 0; i < tensor.rank; ++i) {
      const std::int64_t reach = tensor.stride(i) * (tensor.size(i) - 1);
      (reach < 0 ? first_ : last_) += reach;
    }
    if (inner_one) strides_[static_cast<std::size_t>(tensor.rank - 1)] = 1;
  }

  template <class... Index>
  double operator()(Index... index) const {
    std::int64_t offset = 0;
    std::size_t dim = 0;
    ((offset += static_cast<std::int64_t>(index) * strides_[dim++]), ...);
    if (offset < first_ || offset > last_) return 0.0;
    return core::decode(dtype_, data_ + offset * size_of(dtype_));
  }

 private:
  const std::byte* data_;
  DType dtype_;
  std::array<std::int64_t, Tensor::kMaxRank> strides_;
  std::int64_t first_ = 0, last_ = 0;
};

/// Int8 k or v with its scales: int8 · scale in f32; other k and v as they are.
class Rows {
 public:
  Rows(const Tensor& rows, const Tensor& as, const Tensor& scales, bool inner_one, const Variations& vary)
      : rows_(rows, as, inner_one), scales_(scales, scales, false) {
    scaled_ = scales.defined() && !vary.has("kv_scale=ignored");
    group_ =
        scales.defined() && scales.rank == 3 && scales.size(2) != 1 && !vary.has("kv_scale=of-first-group")
            ? 8
            : rows.size(2);
  }
  double operator()(std::int64_t slot, std::int64_t head, std::int64_t d) const {
    const double x = rows_(slot, head, d);
    if (!scaled_) return x;
    return static_cast<double>(static_cast<float>(x) * static_cast<float>(scales_(slot, head, d / group_)));
  }

 private:
  Memory rows_, scales_;
  bool scaled_ = false;
  std::int64_t group_ = 1;  ///< channels of a scale
};

/// The sum of exact products in a narrow type as lightllm's kernel has it on a GPU: lanes of eight products,
/// each lane a chain of fused multiply-adds that begins with the second product (the first addition is fused
/// with the first), then the lanes by halves.
double sum_in(DType type, const std::vector<double>& products) {
  std::size_t count = 1;
  while (count * 8 < products.size()) count *= 2;
  std::vector<double> lanes(count);
  for (const std::size_t turn : {1u, 0u, 2u, 3u, 4u, 5u, 6u, 7u})
    for (std::size_t i = turn; i < products.size(); i += 8)
      lanes[i / 8] = round_to(type, lanes[i / 8] + products[i]);
  for (; count > 1; count /= 2)
    for (std::size_t i = 0; i < count / 2; ++i) lanes[i] = round_to(type, lanes[i] + lanes[i + count / 2]);
  return lanes[0];
}

/// p_t = e^(S_t − m) / l with S_t = scale·q·k_t; out = Σ p_t·v_t; lse = m + ln l; over tokens [begin, end).
Part attend(const Inputs& in, const Variations& vary, std::int64_t b, std::int64_t h, std::int64_t begin,
            std::int64_t end) {
  const std::int64_t head_dim = in.q.size(2), heads_kv = in.k.size(1);
  const std::int64_t kv = vary.has("heads=modulo") ? h % heads_kv : h / (in.q.size(1) / heads_kv);
  const auto head_of = [&](std::string_view of) { return vary.has(of) ? h % heads_kv : kv; };
  const std::int64_t kv_of_k = head_of("k_heads=modulo"), kv_of_v = head_of("v_heads=modulo");
  const bool inner_one = vary.has("strides=inner-one");
  const bool in_input_type = vary.has("logits=input-type");
  const Memory q(in.q, in.q, inner_one);
  const Rows k(in.k, in.k, in.k_scale, inner_one, vary);
  const Rows v(in.v, vary.has("strides=v-as-k") ? in.k : in.v, in.v_scale, inner_one, vary);
  const Memory tokens(in.req_to_tokens, in.req_to_tokens, inner_one);
  double scale =
      in.scale != 0.0f ? static_cast<double>(in.scale) : 1.0 / std::sqrt(static_cast<double>(head_dim));
  if (vary.has("scale=missing")) scale = 1.0;
  if (vary.has("scale=twice")) scale *= scale;
  const oracle::PartOfThreads of_depth = oracle::part_of_threads(vary, "depth="),
                              of_sum = oracle::part_of_threads(vary, "sum=");

  // A row of the table that there is not is another fault's.
  const std::int64_t own = std::min(b, in.req_to_tokens.size(0) - 1);
  const std::int64_t request = vary.has("b_req_idx=ignored") ? own : index_at(in.b_req_idx, b);
  std::vector<std::int64_t> slots;
  std::vector<double> s;
  Part part;
  for (std::int64_t t = begin; t < end; ++t) {
    slots.push_back(static_cast<std::int64_t>(tokens(request, t)));
    part.unknown = part.unknown || slots.back() < 0 || slots.back() >= in.k.size(0);
    double dot = 0, absolute = 0;
    std::vector<double> products;
    for (std::int64_t d = 0; d < head_dim; ++d) {
      products.push_back(q(b, h, d) * k(slots.back(), kv_of_k, d));
      if (!of_depth.has(d)) products.back() = 0;
      absolute += std::fabs(products.back());
      dot += products.back();
    }
    s.push_back(scale * (in_input_type ? sum_in(in.q.dtype, products) : dot));
    if (std::isfinite(absolute)) part.products = std::max(part.products, std::fabs(scale) * absolute);
  }

  const std::int64_t behind = oracle::weighing_tail(vary, end - begin);
  double m = behind > 0 ? 0.0 : kNothing;
  for (const double value : s) {
    m = std::isnan(value) || value > m ? value : m;
    if (std::isfinite(value)) part.largest = std::max(part.largest, std::fabs(value));
  }
  part.out.resize(static_cast<std::size_t>(head_dim));
  if (m == kNothing) return part;
  const bool from_zero = vary.has("max=from-zero");
  if (from_zero) m = std::max(m, 0.0);
  const auto half = [&](double value) {
    return vary.has("accumulate=f16") ? round_to(DType::f16, value) : value;
  };
  std::vector<double> p;
  double l = 0;
  for (const double value : s) {
    p.push_back(vary.has("max=none") ? round_to(DType::f32, std::exp(value))
                : from_zero          ? round_to(DType::f32, std::exp(value - m))
                                     : std::exp(value - m));
    if (of_sum.has(static_cast<std::int64_t>(p.size()) - 1)) l = half(l + p.back());
  }
  if (behind > 0) l += static_cast<double>(behind) * (vary.has("max=none") ? 1.0 : std::exp(-m));
  oracle::leave_out_rescaling(vary, s, p, l);
  const double ln = vary.has("log=base-2-of-sum") ? std::log2(l) : std::log(l);
  part.lse = (vary.has("max=none") ? 0.0 : vary.has("log=base-2-of-maximum") ? m / std::log(2.0) : m) + ln;
  part.narrow = lost_by_f16_sums(s.size(), vary);
  for (std::int64_t d = 0; d < head_dim; ++d) {
    Sums& sums = part.out[static_cast<std::size_t>(d)];
    double acc = 0;
    for (std::size_t t = 0; t < s.size(); ++t) {
      const double value = v(slots[t], kv_of_v, d);
      acc = half(acc + p[t] * value);
      const double weight = p[t] / l;
      sums.weighted += weight * std::fabs(value);
      sums.squared += weight * weight * value * value;
      sums.lost += oracle::lost_to_underflow(in.q.dtype, in.v.dtype, weight, l) * std::fabs(value);
    }
    sums.value = acc / l;
    sums.narrow = part.narrow * sums.weighted;
  }
  return part;
}

/// w_j = e^(lse_j − m) / Σ; out = Σ w_j·part_j. Parts whose lse is −inf are left out; none left gives 0.
Part merge(const std::vector<Part>& parts, std::int64_t head_dim, const Variations& vary) {
  Part whole;
  whole.out.resize(static_cast<std::size_t>(head_dim));
  const auto e = [&](double x) { return vary.has("log=base-2") ? std::exp2(x) : std::exp(x); };
  const auto half = [&](double value) {
    return vary.has("accumulate=f16") ? round_to(DType::f16, value) : value;
  };
  double m = kNothing;
  for (const Part& part : parts) {
    m = std::isnan(part.lse) || part.lse > m ? part.lse : m;
    if (std::isfinite(part.lse)) whole.largest = std::max(whole.largest, part.largest);
  }
  if (m == kNothing) {
    if (vary.has("empty=nan") || (vary.has("infinity=unguarded") && !parts.empty()))
      for (Sums& sums : whole.out) sums.value = kNaN;
    return whole;
  }
  const bool from_zero = vary.has("max=from-zero");
  if (from_zero) m = std::max(m, 0.0);
  // An online merge that begins with −inf computes −inf − −inf.
  const bool poisoned = vary.has("infinity=unguarded") && parts.front().lse == kNothing;
  std::vector<double> weights;
  double total = 0;
  for (const Part& part : parts) {
    weights.push_back(part.lse == kNothing   ? 0.0
                      : vary.has("max=none") ? round_to(DType::f32, e(part.lse))
                      : from_zero            ? round_to(DType::f32, e(part.lse - m))
                                             : e(part.lse - m));
    total = half(total + weights.back());
  }
  std::vector<double> logits;
  for (const Part& part : parts) logits.push_back(part.lse);
  if (!from_zero && !vary.has("max=none"))
    oracle::leave_out_rescaling(vary, logits, weights, total, vary.has("log=base-2"));
  for (std::size_t d = 0; d < whole.out.size(); ++d) {
    Sums& sums = whole.out[d];
    double acc = 0;
    for (std::size_t j = 0; j < parts.size(); ++j) {
      if (parts[j].lse == kNothing) continue;
      const Sums& part = parts[j].out[d];
      acc = half(acc + weights[j] * part.value);
      const double w = weights[j] / total;
      sums.weighted += w * part.weighted;
      sums.squared += w * w * part.squared;
      sums.lost +=
          w * part.lost + oracle::lost_to_underflow(DType::f32, DType::f32, w, total) * part.weighted;
      sums.narrow += w * part.narrow;
    }
    sums.narrow += lost_by_f16_sums(parts.size(), vary) * sums.weighted;
    const bool lost = from_zero && total == 0 && !vary.has("empty=nan");
    sums.value = poisoned ? kNaN : lost ? 0 : acc / total;
  }
  return whole;
}

/// The invented fifth dimension: mid_out[j][d] by strides that it does not have reads element 0 of each
/// block.
void flatten(Part& part) {
  for (Sums& sums : part.out) sums = part.out.front();
}

std::int64_t block_count(std::int64_t length, std::int64_t block_seq, const Variations& vary) {
  return vary.has("blocks=floor") ? length / block_seq : core::ceil_div(length, block_seq);
}

/// Where a port reads a result of the first stage that it takes to lie otherwise.
struct Place {
  std::int64_t b, h, j;
};
Place place_of(const Variations& vary, std::string_view tensor, const Tensor& lse, Place at) {
  const std::string_view order = vary.after(tensor);
  if (order.empty()) return at;
  const std::int64_t batch = lse.size(0), heads = lse.size(1), parts = lse.size(2);
  const std::int64_t flat = order == "heads-first"    ? (at.h * batch + at.b) * parts + at.j
                            : order == "parts-second" ? (at.b * parts + at.j) * heads + at.h
                                                      : (at.j * batch + at.b) * heads + at.h;
  return {flat / (heads * parts), flat / parts % heads, flat % parts};
}

std::int64_t length_of(const Tensor& b_seqlen, std::int64_t b, const Variations& vary) {
  const std::int64_t length = index_at(b_seqlen, b);
  return vary.has("length=one-less") ? std::max<std::int64_t>(0, length - 1) : length;
}

double bound_of(const Sums& sums, const Part& part, DType out, DType p) {
  return oracle::attention_bound(out, p, sums.value, sums.weighted, sums.squared, part.largest, sums.lost) +
         sums.narrow;
}

void write(oracle::ExpectedTensor& out, std::size_t first, const Part& part, DType p) {
  for (std::size_t d = 0; d < part.out.size(); ++d)
    out.set(first + d, part.out[d].value, bound_of(part.out[d], part, out.dtype, p));
}

}  // namespace

void stage1::reference(const core::Call& call, const Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<FlashDecodeStage1Args>();
  const auto& options = call.options<FlashDecodeStage1Options>();
  const Inputs in = inputs_of(args, options);
  oracle::ExpectedTensor& mid_out = expected["mid_out"];
  oracle::ExpectedTensor& mid_lse = expected["mid_lse"];
  for (std::int64_t b = 0; b < args.q.size(0); ++b)
    for (std::int64_t h = 0; h < args.q.size(1); ++h) {
      const std::int64_t length = length_of(args.b_seqlen, b, vary);
      for (std::int64_t j = 0; j < block_count(length, options.block_seq, vary); ++j) {
        const std::int64_t begin = j * options.block_seq;
        const Part part = attend(in, vary, b, h, begin, std::min(length, begin + options.block_seq));
        write(mid_out, mid_out.index(b, h, j, 0), part, args.q.dtype);
        if (part.unknown) {
          for (std::int64_t d = 0; d < args.q.size(2); ++d) mid_out.set_unknown(mid_out.index(b, h, j, d));
          mid_lse.set_unknown(mid_lse.index(b, h, j));
        }
        mid_lse.set(mid_lse.index(b, h, j), vary.has("log=base-2") ? part.lse / std::log(2.0) : part.lse,
                    oracle::lse_bound(part.lse, part.products) + part.narrow);
      }
    }
}

void stage2::reference(const core::Call& call, const Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<FlashDecodeStage2Args>();
  const bool inner_one = vary.has("strides=inner-one");
  const Memory mid_out(args.mid_out, args.mid_out, inner_one), mid_lse(args.mid_lse, args.mid_lse, inner_one);
  const bool rank_5 = vary.has("dims=rank-5");
  const std::int64_t nb = args.mid_out.size(2), head_dim = args.mid_out.size(3);
  const std::int64_t block_seq =
      rank_5 ? std::max<std::int64_t>(1, head_dim) : call.options<FlashDecodeStage2Options>().block_seq;
  oracle::ExpectedTensor& out = expected["out"];
  for (std::int64_t b = 0; b < args.mid_out.size(0); ++b)
    for (std::int64_t h = 0; h < args.mid_out.size(1); ++h) {
      const std::int64_t count = std::min(block_count(index_at(args.b_seqlen, b), block_seq, vary), nb);
      std::vector<Part> parts(static_cast<std::size_t>(count));
      for (std::int64_t j = 0; j < count; ++j) {
        Part& part = parts[static_cast<std::size_t>(j)];
        const Place of_lse = place_of(vary, "mid_lse=", args.mid_lse, {b, h, j});
        const Place of_out = place_of(vary, "mid_out=", args.mid_lse, {b, h, j});
        part.lse = mid_lse(of_lse.b, of_lse.h, of_lse.j);
        if (std::isfinite(part.lse)) part.largest = std::fabs(part.lse);
        for (std::int64_t d = 0; d < head_dim; ++d) {
          const double value = mid_out(of_out.b, of_out.h, of_out.j, d);
          part.out.push_back({value, std::fabs(value), value * value, 0.0, 0.0});
        }
        if (rank_5) flatten(part);
      }
      write(out, out.index(b, h, 0), merge(parts, head_dim, vary), DType::f32);
    }
}

void reference(const core::Call& call, const Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<FlashDecodeArgs>();
  const auto& options = call.options<FlashDecodeOptions>();
  const Inputs in = inputs_of(args, options);
  // One block where the plan decides: whatever its blocks are, they lose less to underflow.
  const std::int64_t whole = std::max<std::int64_t>(1, args.req_to_tokens.size(1));
  // Rescaling is left out of one loop over all tokens.
  const bool in_one = vary.names().empty() || !vary.after("rescale=").empty();
  const std::int64_t plans = in_one ? whole : kPlansBlock;
  const std::int64_t block_seq = options.block_seq > 0 ? options.block_seq : plans;
  const std::int64_t head_dim = args.q.size(2);
  oracle::ExpectedTensor& out = expected["out"];
  for (std::int64_t b = 0; b < args.q.size(0); ++b)
    for (std::int64_t h = 0; h < args.q.size(1); ++h) {
      const std::int64_t length = length_of(args.b_seqlen, b, vary);
      std::vector<Part> parts;
      for (std::int64_t j = 0; j < core::ceil_div(length, block_seq); ++j)
        parts.push_back(attend(in, vary, b, h, j * block_seq, std::min(length, (j + 1) * block_seq)));
      std::int64_t count = block_count(length, block_seq, vary);
      if (vary.has("dims=rank-5")) {
        count = block_count(length, head_dim, vary);
        for (Part& part : parts) flatten(part);
      }
      parts.resize(std::min(parts.size(), static_cast<std::size_t>(count)));
      write(out, out.index(b, h, 0), merge(parts, head_dim, vary), args.q.dtype);
      if (std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.unknown; }))
        for (std::int64_t d = 0; d < head_dim; ++d) out.set_unknown(out.index(b, h, d));
    }
}

namespace {

/// Those of the op's variations that one entry can show.
std::vector<oracle::Variation> some(std::initializer_list<std::string_view> names) {
  static const std::vector<oracle::Variation> all = {
      {"dims=rank-5",
       "mid_out read with a fifth dimension that it lacks: tokens per block from the fourth size, the stride "
       "of d from the "
       "fifth, which is 0"},
      {"blocks=floor", "floor instead of ceil in the block count: the last, short block is lost"},
      {"length=one-less", "the last token of each sequence left out"},
      {"log=base-2", "the merge takes 2^lse, or stage 1 gives log2, instead of the natural log"},
      {"max=none", "exponentials without subtracting the maximum: f32 overflows"},
      {"max=from-zero",
       "the running maximum begins at 0, not −inf: where all is far below 0 every exponential is 0"},
      {"rescale=not-acc-1", "the accumulator is not rescaled when a block raises the maximum"},
      {"rescale=not-sum-1", "the sum is not rescaled when a block raises the maximum"},
      {"accumulate=f16", "sums kept in f16"},
      {"empty=nan", "a row without weight (length 0, every lse −inf) gives 0/0"},
      {"infinity=unguarded", "an online merge whose first lse is −inf: −inf − −inf is NaN"},
      {"strides=v-as-k", "v read with k's strides"},
      {"strides=inner-one", "the innermost stride of every input taken as 1"},
      {"kv_scale=ignored", "int8 keys and values are not multiplied by their scales"},
      {"kv_scale=of-first-group", "all channels of an int8 row are multiplied by the scale of the first 8"},
      {"heads=modulo", "kv head = h % Hkv instead of h / (Hq/Hkv)"},
      {"k_heads=modulo", "the keys of query head h are those of kv head h % Hkv, its values its own"},
      {"v_heads=modulo", "the values of query head h are those of kv head h % Hkv, its keys its own"},
      {"b_req_idx=ignored", "row b of req_to_tokens read for batch entry b, whatever b_req_idx says"},
      {"scale=missing", "logits not multiplied by the scale"},
      {"scale=twice", "logits multiplied by the scale twice"},
      {"mid_out=heads-first", "mid_out read as [heads, batch, parts, dim]"},
      {"mid_out=parts-second", "mid_out read as [batch, parts, heads, dim]"},
      {"mid_out=parts-first", "mid_out read as [parts, batch, heads, dim]"},
      {"mid_lse=heads-first", "mid_lse read as [heads, batch, parts]"},
      {"mid_lse=parts-second", "mid_lse read as [batch, parts, heads]"},
      {"mid_lse=parts-first", "mid_lse read as [parts, batch, heads]"},
      {"log=base-2-of-maximum",
       "the lse is the maximum in units of base 2 plus a natural logarithm of the sum"},
      {"log=base-2-of-sum", "the lse is the maximum, a natural logarithm, plus log2 of the sum"},
      {"logits=input-type",
       "q·k multiplied and summed in the input's type, as lightllm's kernel without GQA does"},
  };
  std::vector<oracle::Variation> list;
  for (const std::string_view name : names)
    for (const oracle::Variation& variation : all)
      if (variation.name == name) list.push_back(variation);
  return list;
}

}  // namespace

const std::vector<oracle::Variation>& variations() {
  static const auto list =
      some({"dims=rank-5", "blocks=floor", "length=one-less", "log=base-2", "max=none", "max=from-zero",
            "accumulate=f16", "empty=nan", "strides=v-as-k", "strides=inner-one", "heads=modulo",
            "k_heads=modulo", "v_heads=modulo", "b_req_idx=ignored", "scale=missing", "scale=twice",
            "logits=input-type", "kv_scale=ignored", "kv_scale=of-first-group"});
  return list;
}

const std::vector<oracle::Variation>& stage1::variations() {
  static const auto list =
      some({"blocks=floor", "length=one-less", "log=base-2", "max=none", "max=from-zero", "accumulate=f16",
            "strides=v-as-k", "strides=inner-one", "heads=modulo", "k_heads=modulo", "v_heads=modulo",
            "b_req_idx=ignored", "scale=missing", "scale=twice", "log=base-2-of-sum", "log=base-2-of-maximum",
            "logits=input-type", "kv_scale=ignored", "kv_scale=of-first-group"});
  return list;
}

const std::vector<oracle::Variation>& stage2::variations() {
  static const auto list =
      some({"dims=rank-5", "blocks=floor", "log=base-2", "max=none", "max=from-zero", "rescale=not-acc-1",
            "rescale=not-sum-1", "accumulate=f16", "empty=nan", "infinity=unguarded", "strides=inner-one",
            "mid_out=heads-first", "mid_out=parts-second", "mid_out=parts-first", "mid_lse=heads-first",
            "mid_lse=parts-second", "mid_lse=parts-first"});
  return list;
}

}  // namespace isomer::ops::flash_decode
