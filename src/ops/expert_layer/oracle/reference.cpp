// One row after the other, in f64, with the two roundings that the op is defined by: x to bf16, and h to e4m3
// under the scale of its block. An implementation's x may be a little off in f32, and then round to the bf16
// beside; so x, h and the scales are ranges, and what they do to the codes of h is in the bound of out.
#include "core/codec.hpp"
#include "ops/expert_layer/expert_layer.hpp"
#include "ops/expert_layer/oracle/oracle.hpp"
#include "oracle/short_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isomer::ops::expert_layer {
namespace {

using core::Overflow;
using core::round_to;
using oracle::Variations;

/// How far silu in f32 may be from silu: relative, and of the factor alone where an exponential has vanished.
constexpr double kRelative = 0x1p-19, kVanished = 0x1p-119;
/// Sums in f32, relative to the sum of magnitudes; and what they lose below the smallest numbers.
constexpr double kSums = 0x1p-20, kUnderflow = 0x1p-140;
/// Where silu is least.
constexpr double kLowest = -1.2784645427610738;

struct Range {
  double low = 0, value = 0, high = 0;
};

double in_f32_range(double value) {
  return std::fabs(value) > std::numeric_limits<float>::max() ? std::copysign(INFINITY, value) : value;
}

double activation(double gate, const Variations& vary) {
  if (vary.has("activation=gelu")) return gate * 0.5 * (1 + std::erf(gate / std::sqrt(2.0)));
  if (vary.has("activation=sigmoid")) return 1 / (1 + std::exp(-gate));
  if (std::isinf(gate)) return gate < 0 ? std::numeric_limits<double>::quiet_NaN() : gate;
  return gate / (1 + std::exp(-gate));
}

/// h of ranges of gate and up, rounded to f32.
Range gated(const Range& gate, const Range& up, const Variations& vary) {
  const double value = activation(gate.value, vary) * up.value;
  double least = std::min(activation(gate.low, vary), activation(gate.high, vary));
  const double most = std::max(activation(gate.low, vary), activation(gate.high, vary));
  if (gate.low < kLowest && gate.high > kLowest) least = std::min(least, activation(kLowest, vary));
  Range h{value, value, value};
  for (const double g : {least, most})
    for (const double u : {up.low, up.high}) {
      const double slack = std::fabs(g * u) * kRelative + kVanished * std::fabs(u);
      h.low = std::min(h.low, g * u - slack);
      h.high = std::max(h.high, g * u + slack);
    }
  for (double* each : {&h.low, &h.value, &h.high}) *each = static_cast<double>(static_cast<float>(*each));
  return h;
}

double scale_of(double amax, const ExpertLayerOptions& options) {
  auto most = static_cast<float>(amax);
  if (most < options.amax_floor) most = options.amax_floor;  // NaN stays
  const float scale = most / 448.0f;
  if (options.scale_format == ScaleFormat::f32 || !(scale > 0) || std::isinf(scale))
    return static_cast<double>(scale);
  int exponent = 0;
  const float fraction = std::frexp(scale, &exponent);  // in [1/2, 1)
  return static_cast<double>(fraction == 0.5f ? scale : std::ldexp(1.0f, exponent));
}

double to_e4m3(double quotient) {
  std::uint8_t code = 0;
  core::encode(DType::e4m3fn, static_cast<double>(static_cast<float>(quotient)), &code, Overflow::saturate);
  return core::decode(DType::e4m3fn, &code);
}

/// A block of h, quantised.
struct Block {
  double scale = 0;
  double scale_off = 0;       ///< how far another scale may be, relative: it moves all of the block alike
  std::vector<double> value;  ///< code · scale
  std::vector<double> off;    ///< how far each element may be beside, by another code
  bool unknown = false;       ///< the scale is an infinity, or is not
};

Block quantised(const std::vector<Range>& h, std::size_t first, const ExpertLayerOptions& options,
                const Variations& vary) {
  Range most;
  for (std::size_t i = first; i < first + kBlock; ++i) {
    const Range& each = h[i];
    if (std::isnan(each.value)) {
      most = {each.value, each.value, each.value};
      break;
    }
    const double low = std::fabs(each.low), high = std::fabs(each.high);
    most.low = std::max(most.low, (each.low < 0) == (each.high < 0) ? std::min(low, high) : 0.0);
    most.value = std::max(most.value, std::fabs(each.value));
    most.high = std::max(most.high, std::max(low, high));
  }
  const Range scale{scale_of(most.low, options), scale_of(most.value, options), scale_of(most.high, options)};
  Block block;
  block.scale = scale.value;
  block.value.resize(kBlock);
  block.off.resize(kBlock);
  block.unknown = !std::isnan(scale.value) && !std::isfinite(scale.high);
  const bool powers = options.scale_format == ScaleFormat::ue8m0;
  if (!powers && scale.value > 0)
    block.scale_off = std::max(scale.high - scale.value, scale.value - scale.low) / scale.value;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const Range& each = h[first + i];
    if (vary.has("h=unquantised")) {
      block.value[i] = each.value;
      continue;
    }
    const double code = to_e4m3(each.value / scale.value);
    block.value[i] = code * scale.value;
    for (const double top : {each.low, each.high})
      for (const double under : {scale.low, scale.high}) {
        const double other = to_e4m3(top / under);
        block.off[i] = std::max(block.off[i], powers ? std::fabs(other * under - block.value[i])
                                                     : std::fabs(other - code) * scale.high);
      }
  }
  return block;
}

class Layer {
 public:
  Layer(const ExpertLayerArgs& args, const ExpertLayerOptions& options, const Variations& vary)
      : options_(options),
        vary_(vary),
        a_(oracle::elements(args.a)),
        a_s_(oracle::elements(args.a_s)),
        gate_up_(oracle::elements(args.gate_up)),
        gate_up_s_(oracle::elements(args.gate_up_s)),
        down_(oracle::elements(args.down)),
        down_s_(oracle::elements(args.down_s)),
        in_(args.a.size(-1)),
        inner_(args.down.size(2)),
        columns_(args.down.size(1)),
        short_sums_(vary.has("sums=short") ? oracle::kShortSums : 0) {}

  /// Of a row with the weights of that expert: the blocks of h.
  std::vector<Block> between(std::int64_t row, std::int64_t expert) const {
    std::vector<Range> x;
    for (std::int64_t n = 0; n < 2 * inner_; ++n) x.push_back(of_gate_up(row, expert, n));
    std::vector<Range> h;
    const bool swapped = vary_.has("halves=swapped"), interleaved = vary_.has("halves=interleaved");
    for (std::int64_t i = 0; i < inner_; ++i) {
      auto gate = static_cast<std::size_t>(interleaved ? 2 * i : i);
      auto up = static_cast<std::size_t>(interleaved ? 2 * i + 1 : i + inner_);
      if (swapped) std::swap(gate, up);
      h.push_back(gated(x[gate], x[up], vary_));
    }
    std::vector<Block> blocks;
    for (std::int64_t i = 0; i < inner_; i += kBlock)
      blocks.push_back(quantised(h, static_cast<std::size_t>(i), options_, vary_));
    return blocks;
  }

  /// Element n of the row's result into `out`.
  void finish(const std::vector<Block>& blocks, std::int64_t expert, std::int64_t n, std::size_t flat,
              oracle::ExpectedTensor& out) const {
    const double* down = down_.data() + (expert * columns_ + n) * inner_;
    const std::int64_t grid = inner_ / kBlock, rows = (columns_ + kBlock - 1) / kBlock;
    double value = 0, magnitude = 0, of_scales = 0, worst = 0, squares = 0;
    bool unknown = false;
    for (std::int64_t kb = 0; kb < grid; ++kb, down += kBlock) {
      const Block& block = blocks[static_cast<std::size_t>(kb)];
      const double s = vary_.has("down_s=ignored")
                           ? 1
                           : down_s_[static_cast<std::size_t>((expert * rows + n / kBlock) * grid + kb)];
      double sum = 0, sizes = 0;
      for (std::size_t i = 0; i < kBlock; ++i) {
        sum += block.value[i] * down[i];
        sizes += std::fabs(block.value[i] * down[i]);
        const double off = block.off[i] * std::fabs(down[i] * s);
        worst += off;
        squares += off * off;
      }
      value = in_f32_range(value + in_f32_range(sum * s));
      magnitude += sizes * std::fabs(s);
      of_scales += block.scale_off * std::fabs(sum * s);
      unknown = unknown || block.unknown;
    }
    const double smallest = out.dtype == DType::f16    ? 0x1p-24
                            : out.dtype == DType::bf16 ? 0x1p-133
                                                       : 0x1p-149;
    const double slack =
        (kSums + short_sums_) * magnitude + of_scales + std::min(worst, 6 * std::sqrt(squares)) + kUnderflow;
    // What is rounded may be larger than the value by all of the slack.
    const double bound =
        slack + std::max(core::unit_roundoff(out.dtype) * (std::fabs(value) + slack), smallest / 2);
    out.set(flat, value, std::isfinite(bound) ? bound : 0);
    if (unknown || (std::isfinite(value) && !std::isfinite(bound))) out.set_unknown(flat);
  }

 private:
  Range of_gate_up(std::int64_t row, std::int64_t expert, std::int64_t n) const {
    const std::int64_t grid = (in_ + kBlock - 1) / kBlock, rows = 2 * inner_ / kBlock;
    const double* a = &a_[static_cast<std::size_t>(row * in_)];
    const double* b = &gate_up_[static_cast<std::size_t>((expert * 2 * inner_ + n) * in_)];
    double value = 0, magnitude = 0;
    for (std::int64_t kb = 0; kb < grid; ++kb) {
      double sum = 0, sizes = 0;
      for (std::int64_t k = kb * kBlock; k < std::min(in_, (kb + 1) * kBlock); ++k) {
        sum += a[k] * b[k];
        sizes += std::fabs(a[k] * b[k]);
      }
      const double a_s = vary_.has("a_s=ignored") ? 1 : a_s_[static_cast<std::size_t>(row * grid + kb)];
      const double b_s = vary_.has("gate_up_s=ignored")
                             ? 1
                             : gate_up_s_[static_cast<std::size_t>((expert * rows + n / kBlock) * grid + kb)];
      value = in_f32_range(value + in_f32_range(in_f32_range(sum * a_s) * b_s));
      magnitude += sizes * std::fabs(a_s * b_s);
    }
    const double slack = (kSums + short_sums_) * magnitude + kUnderflow;
    Range x{value - slack, value, value + slack};
    if (!std::isfinite(slack)) x = {value, value, value};
    if (!vary_.has("x=f32"))
      for (double* each : {&x.low, &x.value, &x.high}) *each = round_to(DType::bf16, *each);
    return x;
  }

  const ExpertLayerOptions& options_;
  const Variations& vary_;
  std::vector<double> a_, a_s_, gate_up_, gate_up_s_, down_, down_s_;
  std::int64_t in_, inner_, columns_;
  double short_sums_;
};

/// The expert of a row; -1 for padding, -2 for a row that stays untouched.
std::int64_t expert_of(const ExpertLayerArgs& args, const Variations& vary, std::int64_t row) {
  if (args.row_counts.defined()) {
    const std::int64_t capacity = args.a.size(1), expert = row / capacity;
    const bool counted = row % capacity < *args.row_counts.at<std::int32_t>(expert);
    return counted || vary.has("row_counts=ignored") ? expert : -2;
  }
  const std::int64_t expert = *args.expert_ids.at<std::int32_t>(row);
  return expert < 0 && vary.has("padding=untouched") ? -2 : expert;
}

}  // namespace

void reference(const core::Call& call, const Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<ExpertLayerArgs>();
  oracle::ExpectedTensor& out = expected["out"];
  if (out.value.empty()) return;
  const Layer layer(args, call.options<ExpertLayerOptions>(), vary);
  const std::int64_t columns = args.out.size(-1), experts = args.gate_up.size(0);
  const auto rows = static_cast<std::int64_t>(out.value.size()) / columns;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t expert = expert_of(args, vary, row);
    if (expert == -2) continue;
    const bool padding = expert < 0;
    if (vary.has("expert=first")) expert = 0;
    if (vary.has("expert=next")) expert = (expert + 1) % experts;
    const std::vector<Block> blocks = padding ? std::vector<Block>() : layer.between(row, expert);
    for (std::int64_t n = 0; n < columns; ++n) {
      const auto flat = static_cast<std::size_t>(row * columns + n);
      if (padding)
        out.set(flat, 0.0);
      else
        layer.finish(blocks, expert, n, flat, out);
    }
  }
}

const std::vector<oracle::Variation>& variations() {
  static const std::vector<oracle::Variation> list = {
      {"halves=swapped", "the second half of gate_up's rows taken as the gate"},
      {"halves=interleaved", "rows of the gate and of up taken to lie in turns"},
      {"activation=sigmoid", "the sigmoid of the gate without the gate itself"},
      {"activation=gelu", "gelu in place of silu"},
      {"x=f32", "the first product not rounded to bf16"},
      {"h=unquantised", "the second product made of h as it is, not of its e4m3 codes"},
      {"a_s=ignored", "the scales of a taken as 1"},
      {"gate_up_s=ignored", "the scales of gate_up taken as 1"},
      {"down_s=ignored", "the scales of down taken as 1"},
      {"expert=first", "every row multiplied with the weights of expert 0"},
      {"expert=next", "every row multiplied with the weights of the expert after its own"},
      {"padding=untouched", "padding rows of out left as they were"},
      {"row_counts=ignored", "rows past the count computed too"}};
  return list;
}

}  // namespace isomer::ops::expert_layer
