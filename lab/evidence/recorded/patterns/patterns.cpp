#include "lab/evidence/recorded/patterns/patterns.hpp"

#include "core/codec.hpp"
#include "lab/ask/recorded/replayed.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace isomer::lab {
namespace {

/// What the patterns look at.
struct Wrong {
  const Compared& c;
  std::vector<double> want, bounds;
  std::vector<std::size_t> at;  ///< elements that are wrong, ascending
  const std::vector<double>& got() const { return c.got; }
};

Tensor permuted(const Tensor& tensor, const std::vector<int>& axes) {
  Tensor turned = tensor;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    turned.shape[i] = tensor.size(axes[i]);
    turned.strides[i] = tensor.stride(axes[i]);
  }
  return turned;
}

std::string joined(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (const std::int64_t each : numbers) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return "[" + text + "]";
}

std::vector<std::int64_t> index_of(const Tensor& tensor, std::size_t flat) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(tensor.rank));
  auto rest = static_cast<std::int64_t>(flat);
  for (int d = tensor.rank - 1; d >= 0; --d) {
    index[static_cast<std::size_t>(d)] = rest % tensor.size(d);
    rest /= tensor.size(d);
  }
  return index;
}

Finding named(Code code, const Wrong& w, std::string evidence, std::string fix) {
  Finding finding;
  finding.code = code;
  finding.argument = w.c.name;
  finding.evidence = std::move(evidence);
  finding.fix = std::move(fix);
  return finding;
}

/// Axes in another order: the answer as the reference would lie if they were.
Finding axes_of(const Wrong& w) {
  std::vector<int> axes(static_cast<std::size_t>(w.c.want.rank));
  std::iota(axes.begin(), axes.end(), 0);
  while (w.c.want.rank <= 5 && std::next_permutation(axes.begin(), axes.end())) {
    const std::vector<double> turned = oracle::elements(permuted(w.c.want, axes));
    bool equal = true;
    for (std::size_t i = 0; i < turned.size() && equal; ++i)
      equal = is_close(turned[i], w.got()[i], w.bounds[i]);
    if (equal)
      return named(Code::layout_convention, w,
                   fmt::format("equals the reference with its axes in the order {}",
                               joined({axes.begin(), axes.end()})),
                   "keep the reference's order of axes");
  }
  return {};
}

/// One dimension of a · b elements read as b · a: heads that are mapped in turn instead of in groups.
Finding split_of(const Wrong& w) {
  for (int d = 0; d < w.c.want.rank; ++d) {
    const std::int64_t size = w.c.want.size(d);
    std::int64_t behind = 1;
    for (int e = d + 1; e < w.c.want.rank; ++e) behind *= w.c.want.size(e);
    for (std::int64_t a = 2; a < size; ++a) {
      if (size % a != 0) continue;
      const std::int64_t b = size / a;
      bool equal = true;
      for (std::size_t i = 0; i < w.want.size() && equal; ++i) {
        const auto flat = static_cast<std::int64_t>(i);
        const std::int64_t at = flat / behind % size, from = at % a * b + at / a;
        equal =
            is_close(w.want[static_cast<std::size_t>(flat + (from - at) * behind)], w.got()[i], w.bounds[i]);
      }
      if (!equal) continue;
      return named(Code::layout_convention, w,
                   fmt::format("is right if the {} elements of dimension {} are read as {} groups of {} "
                               "instead of {} groups of {}",
                               size, d, b, a, a, b),
                   "map the index as the original does: use i / n where it divides, and i % n where it uses "
                   "the remainder");
    }
  }
  return {};
}

Finding shifted(const Wrong& w) { return shifted_answer(w.c, w.want, w.bounds); }
Finding in_a_band(const Wrong& w) { return band_of_wrong(w.c, w.at); }
Finding bounded(const Wrong& w) { return bound_of_wrong(w.c, w.want, w.at); }
Finding by_few_factors(const Wrong& w) { return factors_of_wrong(w.c, w.want, w.at); }
Finding remainder(const Wrong& w) { return remainder_of_reference(w.c, w.want); }
Finding at_beginnings(const Wrong& w) { return wrong_at_beginnings(w.c, w.at); }
Finding of_the_reference(const Wrong& w) { return function_of_reference(w.c, w.want, w.bounds); }
Finding mixed(const Wrong& w) { return mixed_otherwise(w.c, w.want); }
Finding elsewhere(const Wrong& w) { return slices_elsewhere(w.c, w.want, w.bounds); }

/// What the reference changes of an argument that it writes into; of a result every element.
std::vector<bool> changed_of(const Wrong& w) {
  std::vector<bool> changed(w.want.size(), true);
  if (!w.c.before.defined()) return changed;
  const std::vector<double> before = oracle::elements(w.c.before);
  for (std::size_t i = 0; i < changed.size() && i < before.size(); ++i) changed[i] = before[i] != w.want[i];
  return changed;
}

/// Right up to some index of one dimension, wrong from there on.
Finding tail_of(const Wrong& w) {
  const std::vector<bool> changed = changed_of(w);
  for (int d = 0; d < w.c.want.rank; ++d) {
    const std::int64_t size = w.c.want.size(d);
    if (size < 3) continue;                               // one of two is no end
    if (w.want.size() < 8 && w.at.size() == 1) continue;  // nor is one of a few
    std::int64_t cut = size;
    for (const std::size_t flat : w.at)
      cut = std::min(cut, index_of(w.c.want, flat)[static_cast<std::size_t>(d)]);
    // Less than half of it, and nearly all of that: what is scattered is no tail.
    const double behind =
        static_cast<double>(w.want.size()) / static_cast<double>(size) * static_cast<double>(size - cut);
    // Half of it or more is no tail: of two the second is no more one than it is the other.
    if (cut == 0 || 2 * (size - cut) >= size || static_cast<double>(w.at.size()) < 0.9 * behind) continue;
    // Slots that nothing is put into are right whatever is wrong.
    bool any_right = false;
    for (std::size_t i = 0; i < changed.size() && !any_right; ++i)
      any_right = changed[i] && index_of(w.c.want, i)[static_cast<std::size_t>(d)] < cut;
    if (!any_right) continue;
    // Blocks and vectors leave one element alone only where the number of all is odd.
    if (cut == size - 1 && size % 2 == 0)
      return named(
          Code::off_by_one, w,
          fmt::format(
              "is right up to index {} of dimension {}, and wrong at the last, {} ({} of {} elements)",
              cut - 1, d, size - 1, w.at.size(), w.want.size()),
          "let the last index take part: look for n - 1 where n is meant");
    return named(Code::tail_mask, w,
                 fmt::format("is right up to index {} of dimension {}, and wrong after it up to the end at "
                             "{} ({} of {} elements)",
                             cut - 1, d, size - 1, w.at.size(), w.want.size()),
                 "process the last, partial block");
  }
  return {};
}

/// Along one dimension less by what the reference has come to at some index, the same ones in every line: a
/// running sum that begins anew there.
Finding carried_of(const Wrong& w) {
  if (!is_float(w.c.want.dtype)) return {};
  for (int d = 0; d < w.c.want.rank; ++d) {
    const auto size = static_cast<std::size_t>(w.c.want.size(d));
    if (size < 4) continue;
    std::size_t behind = 1;
    for (int e = d + 1; e < w.c.want.rank; ++e) behind *= static_cast<std::size_t>(w.c.want.size(e));
    std::vector<std::size_t> begun(size);
    std::size_t lines = 0;
    bool holds = true;
    for (std::size_t i = 0; i < w.want.size() && holds; ++i) {
      const std::size_t at = i / behind % size;
      lines += at == 0;
      const double error = w.got()[i] - w.want[i];
      const double before = at == 0 ? 0 : w.got()[i - behind] - w.want[i - behind];
      const double slack = 4 * w.bounds[i] + 1e-5 * std::fabs(w.want[i]);
      if (std::fabs(error - before) <= slack) continue;
      holds = at > 0 && std::fabs(error + w.want[i - behind]) <= slack;
      ++begun[at];
    }
    std::vector<std::int64_t> places;
    for (std::size_t at = 0; at < size; ++at) {
      if (begun[at] == 0) continue;
      holds = holds && 10 * begun[at] >= 9 * lines;
      places.push_back(static_cast<std::int64_t>(at));
    }
    if (!holds || places.empty() || 2 * places.size() > size) continue;
    constexpr std::size_t kShown = 8;
    if (places.size() > kShown) places.resize(kShown);
    return named(
        Code::missing_term, w,
        fmt::format("begins anew at the indices {} of dimension {}: it is less by what the reference has "
                    "come to before",
                    joined(places), d),
        "add what the parts before have come to");
  }
  return {};
}

/// Wrong elements of an argument that hold what they held before.
Finding kept(const Wrong& w) {
  if (!w.c.before.defined()) return {};
  const std::vector<double> before = oracle::elements(w.c.before);
  if (before.size() != w.want.size()) return {};
  for (const std::size_t i : w.at)
    if (before[i] != w.got()[i] && !(std::isnan(before[i]) && std::isnan(w.got()[i]))) return {};
  return named(
      Code::unwritten_output, w,
      fmt::format("{} of {} elements keep their values from before the call, but the reference changes them",
                  w.at.size(), w.want.size()),
      "write every element of the output");
}

/// The answer is what the reference adds to what was there: it is overwritten.
Finding overwritten(const Wrong& w) {
  if (!w.c.before.defined()) return {};
  const std::vector<double> before = oracle::elements(w.c.before);
  if (before.size() != w.want.size()) return {};
  std::size_t told = 0;
  for (const std::size_t i : w.at) {
    if (!(std::fabs(w.got()[i] + before[i] - w.want[i]) <= 2 * w.bounds[i])) return {};
    told += before[i] != 0;
  }
  if (told < 4 || 2 * told < w.at.size()) return {};
  return named(
      Code::missing_term, w,
      fmt::format("{} of {} elements are what the reference adds to the values from before the call: these "
                  "are overwritten",
                  w.at.size(), w.want.size()),
      "add to what the argument holds, do not overwrite it");
}

/// got = ratio · want over a range, the ratio not 1.
bool constant_ratio(const Wrong& w, std::size_t begin, std::size_t count, double& ratio) {
  double sum = 0, squares = 0;
  for (std::size_t i = begin; i < begin + count; ++i) {
    if (!std::isfinite(w.want[i]) || !std::isfinite(w.got()[i])) return false;
    sum += w.want[i] * w.got()[i];
    squares += w.want[i] * w.want[i];
  }
  if (squares == 0) return false;
  ratio = sum / squares;
  double off = 0;
  // Both are rounded to their type.
  const double step = is_float(w.c.want.dtype) ? core::unit_roundoff(w.c.want.dtype) : 0;
  for (std::size_t i = begin; i < begin + count; ++i)
    off = std::max(off, std::fabs(w.got()[i] - ratio * w.want[i]) -
                            step * (std::fabs(w.got()[i]) + std::fabs(ratio * w.want[i])));
  const double typical = std::sqrt(squares / static_cast<double>(count));
  // Elements that are off by little, and by different parts of themselves, have no ratio.
  const double beside_one = std::fabs(ratio - 1);
  const double slack = beside_one > 1e-3 ? std::min(2e-3 * std::fabs(ratio), 0.2 * beside_one) : 2e-3;
  return ratio != 0 && off < slack * typical;
}

Finding ratio_of(const Wrong& w) {
  if (!is_float(w.c.want.dtype)) return {};
  double ratio = 0;
  const bool one = w.want.size() > 1 && constant_ratio(w, 0, w.want.size(), ratio);
  for (const bool base_2 : {true, false})
    if (constexpr std::size_t kFew = 8;
        one && w.want.size() >= kFew &&
        std::fabs(ratio * (base_2 ? std::numbers::ln2 : std::numbers::log2e) - 1) < 1e-4)
      return named(
          Code::log_base, w,
          fmt::format("is {:.6g}, which is {}, times the reference in all of {} elements: logarithms of "
                      "base {} stand where the original has base {}",
                      ratio, base_2 ? "log2(e)" : "ln(2)", w.want.size(), base_2 ? "2" : "e",
                      base_2 ? "e" : "2"),
          base_2 ? "take natural logarithms, as the original does"
                 : "take logarithms of base 2, as the original does");
  if (one && std::fabs(ratio - 1) > 1e-3)
    return named(Code::missing_scale, w,
                 fmt::format("is {:.6g} times the reference in all of {} elements", ratio, w.want.size()),
                 fmt::format("multiply by {:.6g}", 1 / ratio));
  if (w.c.want.rank < 2 || w.c.want.size(-1) < 2) return {};
  const auto width = static_cast<std::size_t>(w.c.want.size(-1));
  std::vector<double> ratios;
  const auto is_zero = [](double each) { return each == 0; };
  for (std::size_t row = 0; row + width <= w.want.size(); row += width) {
    // Rows without anything, as slots of a cache that nothing is put into, have no factor.
    const auto from = static_cast<std::ptrdiff_t>(row), to = static_cast<std::ptrdiff_t>(row + width);
    if (std::all_of(w.want.begin() + from, w.want.begin() + to, is_zero) &&
        std::all_of(w.got().begin() + from, w.got().begin() + to, is_zero))
      continue;
    if (!constant_ratio(w, row, width, ratio)) return {};
    ratios.push_back(ratio);
  }
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  if (ratios.size() < 2 || (std::fabs(*least - 1) < 1e-3 && std::fabs(*most - 1) < 1e-3)) return {};
  Finding finding = named(
      Code::missing_scale, w,
      fmt::format("is the reference times a factor that differs from row to row, from {:.4g} to {:.4g}",
                  *least, *most),
      "multiply or divide each row by the same number as the original: a sum, a norm or a scale of the row");
  finding.row_factor = true;
  return finding;
}

/// Each row in stretches as long as a block has threads, each of them the reference's times a factor of its
/// own: the block reduces what it has itself.
Finding stretches_of(const Wrong& w) {
  if (!is_float(w.c.want.dtype) || w.c.want.rank < 1) return {};
  const auto width = static_cast<std::size_t>(w.c.want.size(-1));
  for (const std::size_t length : {1024u, 512u, 256u, 128u, 64u, 32u}) {
    if (width <= length) continue;
    double least = INFINITY, most = -INFINITY;
    bool all = true;
    std::size_t rows = 0, differ = 0;  // rows in which one stretch has another factor than the next
    for (std::size_t row = 0; row + width <= w.want.size() && all; row += width) {
      double low = INFINITY, high = -INFINITY;
      for (std::size_t at = 0; at < width && all; at += length) {
        double ratio = 0;
        all = constant_ratio(w, row + at, std::min(length, width - at), ratio);
        low = std::min(low, ratio);
        high = std::max(high, ratio);
      }
      ++rows;
      differ += high - low > 1e-2 * std::fabs(high);
      least = std::min(least, low);
      most = std::max(most, high);
    }
    if (!all || 2 * differ < rows) continue;
    return named(
        Code::other_reduction, w,
        fmt::format("is, in each {} elements of a row of {}, the reference times a factor of their own, "
                    "from {:.4g} to {:.4g}: what is reduced is that part of the row alone",
                    length, width, least, most),
        "reduce the whole row: what one block reduces has to be put together with the others' before "
        "it is used");
  }
  return {};
}

/// The reference rounded to a narrower type.
Finding narrowed(const Wrong& w) {
  for (const DType narrow : {DType::f16, DType::bf16}) {
    if (w.c.want.dtype != DType::f32 && w.c.want.dtype != DType::f64) break;
    bool equal = true;
    for (std::size_t i = 0; i < w.want.size() && equal; ++i) {
      const double rounded = core::round_to(narrow, w.want[i]);
      // One step of it: the reference's own last bit may decide which way it rounds.
      equal = is_close(rounded, w.got()[i], 2 * core::unit_roundoff(narrow) * std::fabs(rounded)) &&
              (w.got()[i] == core::round_to(narrow, w.got()[i]) || std::isnan(w.got()[i]));
    }
    if (equal)
      return named(Code::intermediate_precision, w,
                   fmt::format("equals the reference rounded to {}", name_of(narrow)),
                   fmt::format("keep the result in {}", name_of(w.c.want.dtype)));
  }
  return {};
}

/// Whole numbers one step beside: another rounding, or what was rounded had another precision.
Finding stepped(const Wrong& w) {
  if (is_float(w.c.want.dtype)) return {};
  std::size_t up = 0;
  for (const std::size_t i : w.at) {
    if (std::fabs(w.want[i] - w.got()[i]) != 1) return {};
    up += std::fabs(w.got()[i]) > std::fabs(w.want[i]);
  }
  Finding finding =
      10 * w.at.size() > w.want.size()
          ? named(Code::rounding_mode, w,
                  fmt::format("{} of {} whole numbers are off by one, {} of them away from zero", w.at.size(),
                              w.want.size(), up),
                  "round as the original does: toward zero, to nearest with ties to even, or to nearest with "
                  "ties away from zero")
          : named(Code::intermediate_precision, w,
                  fmt::format("{} of {} whole numbers are off by one: the numbers before rounding differ in "
                              "their last bits, or ties are rounded in another way",
                              w.at.size(), w.want.size()),
                  "compute the numbers before rounding in the original's order and precision");
  finding.strength = Strength::nearest;
  return finding;
}

Finding not_finite(const Wrong& w) {
  // Where the reference leaves elements out by infinities, one that is too many is no overflow.
  if (std::any_of(w.want.begin(), w.want.end(), [](double each) { return std::isinf(each); })) return {};
  for (const std::size_t i : w.at)
    if (std::isfinite(w.got()[i]) || !std::isfinite(w.want[i])) return {};
  return named(Code::nan_inf, w,
               fmt::format("{} of {} elements are NaN or infinite but the reference is finite, first {}",
                           w.at.size(), w.want.size(), joined(index_of(w.c.want, w.at.front()))),
               "look for a division by zero, or an exponential that overflows");
}

/// Small errors of both signs that have nothing to do with the value are those of rounding on the way.
Finding rounded_on_the_way(const Wrong& w) {
  if (!is_float(w.c.want.dtype) || w.at.size() < 8 || w.c.smooth) return {};
  double squares = 0, errors = 0, noise = 0, product = 0, largest = 0;
  for (std::size_t i = 0; i < w.want.size(); ++i) {
    const double error = w.got()[i] - w.want[i];
    if (!std::isfinite(error)) return {};
    squares += w.want[i] * w.want[i];
    errors += error;
    noise += error * error;
    product += error * w.want[i];
    largest = std::max(largest, std::fabs(error));
  }
  const auto count = static_cast<double>(w.want.size());
  const double typical = std::sqrt(squares / count), spread = std::sqrt(noise / count);
  const bool small = largest < 0.05 * typical;
  const bool balanced = std::fabs(errors / count) < 0.3 * spread;
  const bool unrelated = std::fabs(product) < 0.3 * std::sqrt(squares * noise);
  if (!small || !balanced || !unrelated) return {};
  Finding finding =
      named(Code::intermediate_precision, w,
            fmt::format("{} of {} elements have small errors (at most {:.2g} of a typical element) of both "
                        "signs and independent of their value, as from intermediate rounding",
                        w.at.size(), w.want.size(), largest / typical),
            "accumulate and keep intermediate results in the same precision as the original");
  finding.strength = Strength::nearest;
  return finding;
}

std::string where_and_how_much(const Wrong& w) {
  double largest = 0;
  std::vector<std::size_t> steps(5);  // ulps of the wrong: 1, up to 4, up to 64, up to 4096, more
  for (const std::size_t i : w.at) {
    const double error = std::fabs(w.want[i] - w.got()[i]);
    largest = std::max(largest, std::isnan(error) ? INFINITY : error);
    const double ulp = is_float(w.c.want.dtype)
                           ? std::max(2 * core::unit_roundoff(w.c.want.dtype) * std::fabs(w.want[i]), 1e-300)
                           : 1;
    const double ulps = error / ulp;
    steps[ulps <= 1 ? 0 : ulps <= 4 ? 1 : ulps <= 64 ? 2 : ulps <= 4096 ? 3 : 4]++;
  }
  const std::size_t first = w.at.front();
  return fmt::format(
      "{} of {} elements differ, first {} ({:.9g} instead of {:.9g}), largest error {:.4g}; by size of the "
      "error "
      "in {}: up to 1: {}, 4: {}, 64: {}, 4096: {}, more: {}",
      w.at.size(), w.want.size(), joined(index_of(w.c.want, first)), w.got()[first], w.want[first], largest,
      is_float(w.c.want.dtype) ? "ulp" : "whole numbers", steps[0], steps[1], steps[2], steps[3], steps[4]);
}

}  // namespace

Finding pattern_of(const Compared& c) {
  Wrong w{c, oracle::elements(c.want), {}, {}};
  if (w.want.size() != c.got.size()) return {};
  w.bounds = bounds_of(c.want, w.want, c.rtol, c.atol);
  for (std::size_t i = 0; i < w.want.size(); ++i)
    if (!is_close(w.want[i], c.got[i], w.bounds[i])) w.at.push_back(i);
  if (w.at.empty()) return {};
  for (const auto& look :
       {overwritten, axes_of,        split_of,          shifted,   in_a_band,     tail_of,
        kept,        ratio_of,       of_the_reference,  remainder, at_beginnings, stretches_of,
        carried_of,  mixed,          elsewhere,         narrowed,  stepped,       not_finite,
        bounded,     by_few_factors, rounded_on_the_way})
    if (Finding finding = look(w); finding.code != Code::none) return finding;
  Finding finding =
      named(Code::unexplained, w, where_and_how_much(w), "compare the formula with the reference's");
  finding.strength = Strength::nearest;
  return finding;
}

}  // namespace isomer::lab
