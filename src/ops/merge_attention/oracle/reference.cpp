#include "ops/merge_attention/merge_attention.hpp"
#include "ops/merge_attention/oracle/oracle.hpp"
#include "oracle/attention_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isomer::ops::merge_attention {
namespace {

using core::round_to;

constexpr double kNothing = -std::numeric_limits<double>::infinity();
constexpr double kLeast = -std::numeric_limits<float>::max();  ///< what some take for it
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// What weighs part i.
double weight_of(const oracle::Variations& vary, const double (&w)[2], int i) {
  if (vary.has("weights=swapped")) return w[1 - i];
  if (vary.has("weights=larger-first")) return i == 0 ? std::max(w[0], w[1]) : std::min(w[0], w[1]);
  if (vary.has("weights=first")) return w[0];
  if (vary.has("weights=second")) return w[1];
  return w[i];
}

}  // namespace

/// w_i = e^(lse_i − m) / Σ; out = Σ w_i·out_i; lse = m + ln Σ; a part with lse −inf is left out.
void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<MergeAttentionArgs>();
  oracle::ExpectedTensor& out = expected["out"];
  const bool throughout = vary.has("log=base-2-throughout");
  const auto e = [&](double x) { return throughout || vary.has("log=base-2") ? std::exp2(x) : std::exp(x); };
  const auto half = [&](double value) {
    return vary.has("accumulate=f16") ? round_to(DType::f16, value) : value;
  };
  const auto size = static_cast<std::size_t>(args.out.size(-1));
  const auto rows = static_cast<std::size_t>(args.lse_a.numel());
  const std::size_t heads = args.lse_a.rank > 0 ? static_cast<std::size_t>(args.lse_a.size(-1)) : 1;
  const std::size_t tokens = args.lse_a.rank == 2 ? rows / std::max<std::size_t>(heads, 1) : 1;
  for (std::size_t row = 0; row < rows; ++row) {
    // Where a row lies if heads were outermost, of [tokens, heads].
    const std::size_t turned = tokens > 1 ? row % heads * tokens + row / heads : row;
    const auto lse_of = [&](const Tensor& lse) {
      const double value = vary.has("lse=flat")
                               ? static_cast<double>(static_cast<const float*>(lse.data)[row])
                               : oracle::element(lse, row);
      return value == kNothing && vary.has("weightless=finite") ? kLeast : value;
    };
    const double lse[2] = {lse_of(args.lse_a), lse_of(args.lse_b)};
    double m = kNothing, largest = 0;
    for (const double part : lse) {
      m = std::isnan(part) || part > m ? part : m;
      if (std::isfinite(part) && part != kLeast) largest = std::max(largest, std::fabs(part));
    }
    double w[2] = {0, 0}, total = 0;
    for (int i = 0; i < 2; ++i) {
      if (lse[i] == kNothing) continue;
      w[i] = vary.has("max=none")      ? round_to(DType::f32, e(lse[i]))
             : vary.has("max=smaller") ? round_to(DType::f32, e(lse[i] - std::min(lse[0], lse[1])))
                                       : e(lse[i] - m);
      total = half(total + w[i]);
    }
    const double divisor = vary.has("weights=undivided") ? 1.0 : total;
    const bool guarded = vary.has("weightless=multiplied-guarded");
    const bool multiplied = guarded || vary.has("weightless=multiplied");
    const bool poisoned = (vary.has("infinity=unguarded") && (lse[0] == kNothing || m == kNothing)) ||
                          (((multiplied && !guarded) || vary.has("max=smaller")) && m == kNothing);
    for (std::size_t d = 0; d < size; ++d) {
      double acc = 0, weighted = 0, squared = 0, lost = 0;
      for (int i = 0; i < 2; ++i) {
        const double given = weight_of(vary, w, i);
        const bool weightless = vary.has("weights=larger-first") ? given == 0 : lse[i] == kNothing;
        if (weightless && !multiplied) continue;
        const std::size_t from = vary.has(i == 0 ? "out_a=heads-first" : "out_b=heads-first") ? turned : row;
        const double part = oracle::element(i == 0 ? args.out_a : args.out_b, from * size + d);
        const double weight = given / total;
        acc = half(acc + given * part);
        weighted += weight * std::fabs(part);
        squared += weight * weight * part * part;
        lost += oracle::lost_to_underflow(DType::f32, DType::f32, weight, total) * std::fabs(part);
      }
      double value = m == kNothing ? (guarded ? acc : 0.0) : acc / divisor;
      if (poisoned) value = kNaN;
      out.set(row * size + d, value,
              oracle::attention_bound(out.dtype, DType::f32, value, weighted, squared, largest, lost));
    }
    if (!expected.has("lse")) continue;
    double merged =
        m == kNothing ? kNothing
        : vary.has("max=smaller")
            ? std::min(lse[0], lse[1]) + std::log(total)
            : (vary.has("max=none") || vary.has("lse=without-maximum") ? 0.0 : m) +
                  (throughout || vary.has("log=base-2-of-sum") ? std::log2(total) : std::log(total));
    if (vary.has("lse=larger")) merged = m;
    if (poisoned) merged = kNaN;
    // No number is near the least: -inf is another answer.
    expected["lse"].set(row, merged, merged == kLeast ? 0 : oracle::lse_bound(merged, largest));
  }
}

const std::vector<oracle::Variation>& variations() {
  static const std::vector<oracle::Variation> list = {
      {"max=none", "e^lse without subtracting the larger: f32 overflows"},
      {"max=smaller", "the smaller lse subtracted, not the larger: f32 overflows where they are 89 apart"},
      {"log=base-2", "2^lse instead of e^lse"},
      {"log=base-2-throughout", "log-sum-exps of base 2 are taken and given"},
      {"log=base-2-of-sum", "lse as the maximum and log2 of the sum, while the weights are powers of e"},
      {"infinity=unguarded", "an online merge that meets −inf first: −inf − −inf is NaN"},
      {"weightless=multiplied", "a part whose lse is −inf multiplied by 0: NaN in it stays"},
      {"weightless=multiplied-guarded",
       "a part whose lse is −inf multiplied by 0: NaN in it stays; two of them give −inf"},
      {"weightless=finite",
       "an lse of −inf taken for the least finite number: such a part is multiplied by 0, two of them are "
       "averaged"},
      {"accumulate=f16", "sums kept in f16"},
      {"weights=swapped", "each part weighted by the other's weight"},
      {"weights=first", "both parts weighted by the first one's weight"},
      {"weights=second", "both parts weighted by the second one's weight"},
      {"weights=larger-first", "the larger weight always that of the first part"},
      {"weights=undivided", "the weights not divided by their sum"},
      {"lse=without-maximum", "ln of the sum alone, without the larger lse that was subtracted"},
      {"lse=larger", "lse of the larger part instead of ln Σ e^lse"},
      {"out_a=heads-first", "the first part's results read as [heads, tokens, dim], nothing else"},
      {"out_b=heads-first", "the second part's results read as [heads, tokens, dim], nothing else"},
      {"lse=flat", "the lse of the parts read as if contiguous [..., H]"},
  };
  return list;
}

}  // namespace isomer::ops::merge_attention
