#include "ops/weight_dequant/oracle/oracle.hpp"
#include "ops/weight_dequant/weight_dequant.hpp"

#include "core/codec.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace isomer::ops::weight_dequant {

using core::round_to;

namespace {

/// Toward zero instead of to nearest: the next value of a narrow type, whose patterns are in the order of
/// their magnitudes.
double truncated(DType type, double value) {
  const double rounded = round_to(type, value);
  if (size_of(type) != 2 || !(std::fabs(rounded) > std::fabs(value))) return rounded;
  std::uint16_t code = 0;
  core::encode(type, rounded, &code);
  --code;
  return core::decode(type, &code);
}

/// To nearest, but ties away from zero: where the next value of a narrow type is as near as the one toward
/// zero.
double rounded_away(DType type, double value) {
  if (size_of(type) != 2 || !std::isfinite(value)) return round_to(type, value);
  const double below = truncated(type, value);
  std::uint16_t code = 0;
  core::encode(type, below, &code);
  ++code;
  const double above = core::decode(type, &code);
  const bool tie = std::fabs(above) - std::fabs(value) == std::fabs(value) - std::fabs(below);
  return tie ? above : round_to(type, value);
}

/// The block for which one scale is taken: the op's, or the one that the variation of that name says.
std::int64_t block_of(const oracle::Variations& vary, std::string_view name, std::int64_t size) {
  const std::string_view said = vary.after(name);
  std::int64_t block = 0;
  for (const char digit : said) block = 10 * block + (digit - '0');
  return block == 0 ? size : block;
}

}  // namespace

void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<WeightDequantArgs>();
  const std::int64_t size = call.options<WeightDequantOptions>().block_size;
  const std::vector<double> scales = oracle::elements(args.s);
  oracle::ExpectedTensor& y = expected["y"];
  Tensor weight = args.x;
  if (vary.has("encoding=fnuz")) weight.dtype = DType::e4m3fnuz;
  if (vary.has("encoding=e5m2")) weight.dtype = DType::e5m2;
  const std::int64_t rows = args.x.size(0), columns = args.x.size(1);
  const std::int64_t scale_rows = args.s.size(0);
  const std::int64_t block_rows = block_of(vary, "scale=rows-of-", size),
                     block_columns = block_of(vary, "scale=columns-of-", size);
  // What a wrong block asks for behind the last scale is another finding's.
  const std::int64_t last = args.s.numel() - 1;
  const std::int64_t scale_columns = vary.has("scale_grid=floor") ? columns / size : args.s.size(1);
  // Asked once: a search for causes has the reference made hundreds of times.
  const bool unmasked = vary.has("edge=unmasked"), transposed = vary.has("scale=transposed"),
             ignored = vary.has("scale=ignored"), inverse = vary.has("scale=inverse"),
             nan_480 = vary.has("nan=480"), flushed = vary.has("subnormals=flushed"),
             truncates = vary.has("rounding=truncated"), away = vary.has("rounding=away"),
             of_rows = vary.has("scale_stride=of-rows");
  const std::pair<DType, bool> narrow_products[] = {{DType::bf16, vary.has("product=bf16")},
                                                    {DType::f16, vary.has("product=f16")}};
  const std::pair<DType, bool> rounded_products[] = {{DType::f16, vary.has("product=to-f16")},
                                                     {DType::bf16, vary.has("product=to-bf16")}};
  for (std::int64_t m = 0; m < rows; ++m)
    for (std::int64_t n = 0; n < columns; ++n) {
      std::int64_t i = m / block_rows, j = n / block_columns;
      // The columns that a whole last block would have beyond the row's end are the first of the next row.
      const std::int64_t beyond = args.s.size(1) * size - columns;
      if (unmasked && m > 0 && n < beyond) {
        i = (m - 1) / size;
        j = args.s.size(1) - 1;
      }
      const std::int64_t step = of_rows ? scale_rows : scale_columns;
      const std::int64_t asked = transposed ? j * scale_rows + i : i * step + j;
      const std::int64_t at = std::min(asked, last);
      if (asked > last) y.set_unknown(static_cast<std::size_t>(y.index(m, n)));
      double x = oracle::read(weight, m, n);
      const double s = ignored ? 1.0 : scales[static_cast<std::size_t>(at)];
      if (nan_480 && std::isnan(x)) x = std::copysign(480.0, x);
      if (flushed && std::fabs(x) < 0x1p-6) x = std::copysign(0.0, x);
      double product = static_cast<double>(static_cast<float>(x) * static_cast<float>(s));
      for (const auto& [narrow, varied] : narrow_products)
        if (varied) product = round_to(narrow, x * round_to(narrow, s));
      for (const auto& [narrow, varied] : rounded_products)
        if (varied) product = round_to(narrow, product);
      if (inverse) product = static_cast<double>(static_cast<float>(x) / static_cast<float>(s));
      y.set(y.index(m, n), truncates ? truncated(args.y.dtype, product)
                           : away    ? rounded_away(args.y.dtype, product)
                                     : round_to(args.y.dtype, product));
    }
}

const std::vector<oracle::Variation>& variations() {
  static const std::vector<oracle::Variation> list = {
      {"scale=transposed", "the scales read as if their matrix were stored transposed"},
      {"scale_grid=floor",
       "floor(N / block_size) scales in a row of s: a ragged edge shifts the rows after it"},
      {"scale=columns-of-64", "the next scale taken for every 64 columns, not for every 128"},
      {"scale=columns-of-256", "the next scale taken for every 256 columns, not for every 128"},
      {"scale=rows-of-64", "the next row of scales taken for every 64 rows, not for every 128"},
      {"scale=rows-of-256", "the next row of scales taken for every 256 rows, not for every 128"},
      {"scale_stride=of-rows", "a row of scales taken to be as long as the scales have rows"},
      {"product=bf16", "scale and product rounded to bf16"},
      {"encoding=fnuz", "x decoded as e4m3fnuz, whose exponents are one less"},
      {"scale=inverse", "divided by the scale"},
      {"scale=ignored", "the scale taken as 1"},
      {"rounding=truncated", "y rounded toward zero"},
      {"rounding=away", "ties between two values of y's type rounded away from zero"},
      {"product=to-f16", "the product rounded to f16 before it is rounded to y's type"},
      {"product=to-bf16", "the product rounded to bf16 before it is rounded to y's type"},
      {"product=f16", "scale and product rounded to f16"},
      {"encoding=e5m2", "x decoded as e5m2"},
      {"nan=480", "the NaN pattern of e4m3fn taken as the number it would be"},
      {"subnormals=flushed", "subnormals of e4m3fn taken as 0"},
      {"edge=unmasked", "the last block of a ragged row is stored whole, over the beginning of the next row"},
  };
  return list;
}

}  // namespace isomer::ops::weight_dequant
