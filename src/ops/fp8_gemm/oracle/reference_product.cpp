#include "ops/fp8_gemm/oracle/reference_product.hpp"
#include "core/ceil_div.hpp"

#include "core/codec.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "oracle/expected.hpp"
#include "oracle/short_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isomer::ops::fp8_gemm {
namespace {

using core::round_to;
using oracle::kShortSums;

/// f32 overflows where f64 does not.
double in_f32_range(double value) {
  return std::fabs(value) > std::numeric_limits<float>::max() ? std::copysign(INFINITY, value) : value;
}

/// The elements of a tensor of rows as its buffer has them where its strides are taken for compact ones.
std::vector<double> flat_elements(const Tensor& tensor) {
  std::int64_t last = 0;
  for (int i = 0; i < tensor.rank; ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
  std::vector<double> values(static_cast<std::size_t>(tensor.numel()), 0.0);
  const auto* data = static_cast<const std::byte*>(tensor.data);
  for (std::int64_t i = 0; i < tensor.numel() && i <= last; ++i)
    values[static_cast<std::size_t>(i)] = core::decode(tensor.dtype, data + i * size_of(tensor.dtype));
  return values;
}

std::vector<double> fp8_elements(Tensor tensor, const oracle::Variations& vary) {
  if (vary.has("encoding=fnuz")) tensor.dtype = DType::e4m3fnuz;
  if (vary.has("encoding=e5m2")) tensor.dtype = DType::e5m2;
  std::vector<double> values = vary.has("indexing=flat") ? flat_elements(tensor) : oracle::elements(tensor);
  const bool finite = vary.has("nan=480"), flushed = vary.has("subnormals=flushed");
  if (!finite && !flushed) return values;
  for (double& value : values) {
    if (finite && std::isnan(value)) value = std::copysign(480.0, value);
    if (flushed && std::fabs(value) < 0x1p-6) value = 0;
  }
  return values;
}

double smallest_subnormal(DType type) {
  return type == DType::f16 ? 0x1p-24 : type == DType::bf16 ? 0x1p-133 : 0x1p-149;
}

/// Toward zero instead of to nearest.
double truncated(DType type, double value) {
  double rounded = round_to(type, value);
  if (!std::isfinite(rounded) || std::fabs(rounded) <= std::fabs(value)) return rounded;
  // Two steps of the type below `rounded` round to its neighbour.
  const double step =
      std::max(2 * core::unit_roundoff(type) * std::exp2(std::floor(std::log2(std::fabs(rounded)))),
               smallest_subnormal(type));
  return round_to(type, value - std::copysign(step / 2, value));
}

std::int64_t number_of(std::string_view digits) {
  std::int64_t number = 0;
  for (const char digit : digits) number = 10 * number + (digit - '0');
  return number;
}

}  // namespace

Product::Product(const Tensor& a, const Tensor& a_s, const Tensor& b, const Tensor& b_s,
                 const oracle::Variations& vary)
    : vary_(vary), depth_(b.size(1)), blocks_(core::ceil_div(depth_, kScaleBlock)) {
  take(b, b_s);
  a_ = std::make_shared<Elements>(fp8_elements(a, vary));
  const bool compact = vary.has("indexing=flat") || vary.has("a_s=row-major");
  a_s_ = std::make_shared<Elements>(compact ? flat_elements(a_s) : oracle::elements(a_s));
  rows_ = 1;
  for (int i = 0; i + 1 < a.rank; ++i) rows_ *= a.size(i);
  if (const std::string_view width = vary.after("b_s=columns-of-"); !width.empty())
    b_width_ = number_of(width);
  if (const std::string_view step = vary.after("scale=steps-of-"); !step.empty()) step_ = number_of(step);
  const std::string_view sums = vary.after("accumulator=");
  const bool throughout = sums == "f16" || sums == "bf16";
  narrow_in_block_ = throughout || sums.ends_with("-in-block");
  narrow_across_blocks_ = throughout || sums.ends_with("-across-blocks");
  accumulator_ = sums.starts_with("f16") ? DType::f16 : DType::bf16;
  transposed_ = vary.has("b=transposed");
  of_k_ = oracle::part_of_threads(vary, "k=");
  whole_k_ = depth_;
  if (const std::string_view step = vary.after("k=whole-"); !step.empty())
    whole_k_ = depth_ / number_of(step) * number_of(step);
  a_s_ignored_ = vary.has("a_s=ignored");
  b_s_ignored_ = vary.has("b_s=ignored");
  short_sums_ = vary.has("sums=short");
  sum_carried_ = vary.has("sum=carried");
  const bool whole_blocks = vary.has("k_tail=floor");
  tail_dropped_ = vary.has("k_tail=dropped") || whole_blocks;
  tail_unmasked_ = vary.has("k_tail=unmasked");
  tail_stale_ = vary.has("k_tail=stale");
  const auto moved = [&](const char* before, const char* after) {
    return vary.has("scale=previous-block") || vary.has(before) ? -1
           : vary.has("scale=next-block") || vary.has(after)    ? 1
                                                                : 0;
  };
  a_s_moved_ = moved("a_s=previous-block", "a_s=next-block");
  b_s_moved_ = moved("b_s=previous-block", "b_s=next-block");
  pitch_ = whole_blocks ? depth_ / kScaleBlock : blocks_;
  if (const std::string_view step = vary.after("scale=rows-of-steps-of-"); !step.empty()) {
    step_ = number_of(step);
    pitch_ = core::ceil_div(depth_, step_);
  }
}

void Product::take(const Tensor& b, const Tensor& b_s) {
  columns_ = b.size(0);
  b_s_rows_ = b_s.size(0);
  b_ = fp8_elements(b, vary_);
  b_s_ = vary_.has("indexing=flat") ? flat_elements(b_s) : oracle::elements(b_s);
}

Product Product::with(const Tensor& b, const Tensor& b_s) const {
  Product other = *this;
  other.take(b, b_s);
  return other;
}

std::int64_t Product::block_of(std::int64_t k, int moved) const {
  if (moved != 0)
    return std::clamp<std::int64_t>(k / step_ + moved, 0, std::max<std::int64_t>(pitch_ - 1, 0));
  if (vary_.has("scale=once")) return 0;
  if (vary_.has("scale=last-once")) return blocks_ - 1;
  return k / step_;
}

std::int64_t Product::a_scale_at(std::int64_t row, std::int64_t k) const {
  const std::int64_t block = vary_.has("a_s=first-block") ? 0 : block_of(k, a_s_moved_);
  return vary_.has("a_s=transposed") ? block * rows_ + row : row * pitch_ + block;
}

std::int64_t Product::b_scale_at(std::int64_t column, std::int64_t k) const {
  const std::int64_t block = vary_.has("b_s=first-block") ? 0 : block_of(k, b_s_moved_);
  std::int64_t row = column / b_width_;
  // A ragged last block of columns has no row of scales of its own.
  if (vary_.has("b_s=floor")) row = std::min(row, std::max<std::int64_t>(columns_ / kScaleBlock - 1, 0));
  return vary_.has("b_s=transposed") ? block * b_s_rows_ + row : row * pitch_ + block;
}

void Product::add_products(std::int64_t a_first, std::int64_t b_first, std::int64_t b_step,
                           std::int64_t count, Sums& sums) const {
  // Beyond the matrices lies nothing that anybody knows: 0.
  const auto left = [](const std::vector<double>& matrix, std::int64_t first, std::int64_t step) {
    return core::ceil_div(std::max<std::int64_t>(static_cast<std::int64_t>(matrix.size()) - first, 0), step);
  };
  count = std::min({count, left(*a_, a_first, 1), left(b_, b_first, b_step)});
  if (count <= 0) return;
  const double* a = a_->data() + a_first;
  const double* b = b_.data() + b_first;
  std::int64_t k = 0;
  if (!narrow_in_block_ && of_k_.is_whole() && whole_k_ == depth_) {
    // Four sums at a time: f64 holds the sum of a block of such products as it is, so that their order is
    // free.
    double sum[4] = {}, magnitude[4] = {};
    for (; k + 4 <= count; k += 4)
      for (int lane = 0; lane < 4; ++lane) {
        const double product = a[k + lane] * b[(k + lane) * b_step];
        sum[lane] += product;
        magnitude[lane] += std::fabs(product);
      }
    sums.signed_sum += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    sums.magnitude += (magnitude[0] + magnitude[1]) + (magnitude[2] + magnitude[3]);
  }
  for (; k < count; ++k) {
    if (const std::int64_t at = (a_first + k) % depth_; !of_k_.has(at) || at >= whole_k_) continue;
    const double product = a[k] * b[k * b_step];
    sums.signed_sum += product;
    sums.magnitude += std::fabs(product);
    if (narrow_in_block_) sums.signed_sum = round_to(accumulator_, sums.signed_sum);
  }
}

Element Product::operator()(std::int64_t m, std::int64_t n) const {
  // b[n][k] is b_[n·depth + k].
  const std::int64_t b_row = transposed_ ? 1 : depth_, b_step = transposed_ ? columns_ : 1;
  Element c;
  const auto scale = [&](const std::vector<double>& scales, std::int64_t index) {
    const bool there = index < static_cast<std::int64_t>(scales.size());
    c.unknown = c.unknown || !there;
    return there ? scales[static_cast<std::size_t>(index)] : 1.0;
  };
  Sums sums;
  const auto add_scaled = [&](std::int64_t k) {
    const double a_s = a_s_ignored_ ? 1 : scale(*a_s_, a_scale_at(m, k));
    const double b_s = b_s_ignored_ ? 1 : scale(b_s_, b_scale_at(n, k));
    c.value = in_f32_range(c.value + in_f32_range(in_f32_range(sums.signed_sum * a_s) * b_s));
    if (narrow_across_blocks_) c.value = round_to(accumulator_, c.value);
    c.magnitude += std::fabs(a_s * b_s) * sums.magnitude;
    // A sum that short sums may put on either side of 0, times a scale that makes infinities of it.
    if (short_sums_ && sums.magnitude > 0 && std::fabs(sums.signed_sum) <= kShortSums * sums.magnitude &&
        std::isinf(in_f32_range(kShortSums * sums.magnitude * std::fabs(a_s) * std::fabs(b_s))))
      c.unknown = true;
    // A block may be summed in parts, one for each lane of a vector: 32 subnormal steps of f32.
    c.underflow += 0x1p-144 * (1 + std::fabs(b_s));
  };
  const std::int64_t blocks = tail_dropped_ ? depth_ / kScaleBlock : blocks_;
  for (std::int64_t kb = 0; kb < blocks; ++kb) {
    const std::int64_t begin = kb * kScaleBlock, whole = begin + kScaleBlock;
    const std::int64_t end = tail_unmasked_ ? whole : std::min(whole, depth_);
    if (!sum_carried_) sums.signed_sum = 0;
    sums.magnitude = 0;
    if (tail_stale_ && kb > 0 && depth_ < whole) {
      // Beyond K the tile still has what the block before put there.
      const std::int64_t k = depth_ - kScaleBlock;
      Sums stale = sums;
      add_products(m * depth_ + k, n * b_row + k * b_step, b_step, whole - depth_, stale);
      sums.signed_sum = stale.signed_sum;
    }
    // The steps of a block that are taken to have scales of their own; else one.
    for (std::int64_t k = begin; k < end;) {
      const std::int64_t next = std::min(end, (k / step_ + 1) * step_);
      add_products(m * depth_ + k, n * b_row + k * b_step, b_step, next - k, sums);
      k = next;
      if (k == end) break;
      add_scaled(k - 1);
      sums = {};
    }
    add_scaled(end - 1);
  }
  return c;
}

std::pair<double, double> Epilogue::operator()(const Element& product, DType c_type, std::size_t flat,
                                               std::int64_t column) const {
  double value = product.value, magnitude = product.magnitude;
  if (bias.defined()) {
    const double term = oracle::read(bias, column);
    if (!vary.has("bias=ignored")) value += term;
    magnitude += std::fabs(term);
  }
  if (addend.defined()) {
    const double term = oracle::element(addend, flat);
    if (!vary.has("addend=ignored")) value += term;
    magnitude += std::fabs(term);
  }
  const double bound =
      std::max(core::unit_roundoff(c_type) * std::fabs(value), smallest_subnormal(c_type) / 2) +
      0x1p-20 * magnitude + product.underflow;
  const double short_sums = vary.has("sums=short") ? kShortSums * product.magnitude : 0;
  if (vary.has("rounding=truncated")) value = truncated(c_type, value);
  return {value, std::isfinite(bound + short_sums) ? bound + short_sums : 0};
}

const std::vector<oracle::Variation>& product_variations() {
  static const std::vector<oracle::Variation> list = {
      {"scale=once", "the scales of the first block applied to the sum over all of K"},
      {"scale=last-once", "the scales of the last block applied to the sum over all of K"},
      {"scale=previous-block", "each block of K but the first takes the scales of the block before it"},
      {"scale=next-block", "each block of K but the last takes the scales of the block after it"},
      {"a_s=previous-block", "each block of K but the first takes the scale of a of the block before it"},
      {"a_s=next-block", "each block of K but the last takes the scale of a of the block after it"},
      {"b_s=previous-block", "each block of K but the first takes the scale of b of the block before it"},
      {"b_s=next-block", "each block of K but the last takes the scale of b of the block after it"},
      {"b_s=transposed", "the scales of b read as if their matrix were stored transposed"},
      {"b_s=floor",
       "floor(N/128) rows of scales of b: a ragged last block of columns takes the row before it"},
      {"b_s=columns-of-32", "the scales of b taken by blocks of 32 columns, not of 128"},
      {"b_s=columns-of-64", "the scales of b taken by blocks of 64 columns, not of 128"},
      {"b_s=columns-of-256", "the scales of b taken by blocks of 256 columns, not of 128"},
      {"scale=steps-of-32", "the next scale taken for every 32 elements of K, not for every 128"},
      {"scale=steps-of-64", "the next scale taken for every 64 elements of K, not for every 128"},
      {"scale=rows-of-steps-of-32",
       "the next scale taken for every 32 elements of K, and so many counted to a row"},
      {"scale=rows-of-steps-of-64",
       "the next scale taken for every 64 elements of K, and so many counted to a row"},
      {"accumulator=f16", "sums inside a block and across blocks rounded to f16"},
      {"accumulator=bf16", "sums inside a block and across blocks rounded to bf16"},
      {"accumulator=f16-in-block", "sums inside a block rounded to f16, across blocks in f32"},
      {"accumulator=bf16-in-block", "sums inside a block rounded to bf16, across blocks in f32"},
      {"accumulator=f16-across-blocks", "sums inside a block in f32, across blocks rounded to f16"},
      {"accumulator=bf16-across-blocks", "sums inside a block in f32, across blocks rounded to bf16"},
      {"sum=carried", "the sum of a block begun with that of the blocks before it"},
      {"a_s=ignored", "the scales of a taken as 1"},
      {"a_s=row-major", "the scales of a read as compact and row-major whatever their strides"},
      {"a_s=transposed", "the scales of a read as if their matrix were stored transposed"},
      {"b_s=ignored", "the scales of b taken as 1"},
      {"k_tail=dropped", "a ragged last block of K left out"},
      {"k_tail=floor", "floor(K / 128) blocks: a ragged last one left out, and rows of scales as short"},
      {"k_tail=unmasked", "the last block of K is read whole, into the rows after"},
      {"k_tail=stale", "the last block of K goes on with the elements of the block before it"},
      {"a_s=first-block", "the scales of a's first block taken for all of K"},
      {"b_s=first-block", "the scales of b's first block taken for all of K"},
      {"b=transposed", "b read as [K, N]"},
      {"indexing=flat", "strides ignored: every input read as compact and row-major"},
      {"encoding=fnuz", "a and b decoded as e4m3fnuz, whose exponents are one less"},
      {"encoding=e5m2", "a and b decoded as e5m2"},
      {"nan=480", "the NaN pattern of e4m3fn taken as the number it would be"},
      {"subnormals=flushed", "subnormals of e4m3fn taken as 0"},
      {"rounding=truncated", "c rounded toward zero"},
      {"bias=ignored", "bias not added"},
      {"addend=ignored", "addend not added"},
  };
  return list;
}

}  // namespace isomer::ops::fp8_gemm
