#include "ops/weight_dequant/oracle.hpp"
#include "ops/weight_dequant/weight_dequant.hpp"

#include "core/codec.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::weight_dequant {

using core::round_to;

void reference(const core::Call& call, const core::Variations& vary, core::Expected& expected) {
  const auto& args = call.args<WeightDequantArgs>();
  const std::int64_t size = call.options<WeightDequantOptions>().block_size;
  const std::vector<double> scales = core::elements(args.s);
  core::ExpectedTensor& y = expected["y"];
  const std::int64_t rows = args.x.size(0), columns = args.x.size(1);
  const std::int64_t scale_rows = args.s.size(0);
  const std::int64_t scale_columns = vary.has("scale_grid=floor") ? columns / size : args.s.size(1);
  for (std::int64_t m = 0; m < rows; ++m)
    for (std::int64_t n = 0; n < columns; ++n) {
      std::int64_t i = m / size, j = n / size;
      // The columns that a whole last block would have beyond the row's end are the first of the next row.
      const std::int64_t beyond = args.s.size(1) * size - columns;
      if (vary.has("edge=unmasked") && m > 0 && n < beyond) {
        i = (m - 1) / size;
        j = args.s.size(1) - 1;
      }
      const std::int64_t at = vary.has("scale=transposed") ? j * scale_rows + i : i * scale_columns + j;
      double x = core::read(args.x, m, n);
      const double s = scales[static_cast<std::size_t>(at)];
      if (vary.has("nan=480") && std::isnan(x)) x = 480;
      if (vary.has("subnormals=flushed") && std::fabs(x) < 0x1p-6) x = std::copysign(0.0, x);
      double product = static_cast<double>(static_cast<float>(x) * static_cast<float>(s));
      if (vary.has("product=bf16")) product = round_to(DType::bf16, x * round_to(DType::bf16, s));
      y.set(y.index(m, n), round_to(args.y.dtype, product));
    }
}

const std::vector<core::Variation>& variations() {
  static const std::vector<core::Variation> list = {
      {"scale=transposed", "the scales read as if their matrix were stored transposed"},
      {"scale_grid=floor",
       "floor(N / block_size) scales in a row of s: a ragged edge shifts the rows after it"},
      {"product=bf16", "scale and product rounded to bf16"},
      {"nan=480", "the NaN pattern of e4m3fn taken as the number it would be"},
      {"subnormals=flushed", "subnormals of e4m3fn taken as 0"},
      {"edge=unmasked", "the last block of a ragged row is stored whole, over the beginning of the next row"},
  };
  return list;
}

}  // namespace isomer::ops::weight_dequant
