#include "ops/sin/oracle/oracle.hpp"
#include "ops/sin/sin.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::sin {

using core::round_to;

void reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<SinArgs>();
  oracle::ExpectedTensor& y = expected["y"];
  const std::size_t count = y.value.size();
  const auto* flat = static_cast<const std::byte*>(args.x.data);
  for (std::size_t i = 0; i < count; ++i) {
    if (vary.has("tail=unmasked") && i >= count / 16 * 16) continue;
    double x = vary.has("indexing=flat")
                   ? core::decode(args.x.dtype, flat + static_cast<std::int64_t>(i) * size_of(args.x.dtype))
                   : oracle::element(args.x, i);
    if (vary.has("subnormals=flushed") && std::fabs(x) < 0x1p-126) x = std::copysign(0.0, x);
    if (vary.has("unit=degrees")) x *= M_PI / 180.0;
    double value = vary.has("function=cosine") ? std::cos(x) : std::sin(x);
    // A polynomial without argument reduction, like the GPU's fast intrinsic: an absolute error that grows
    // with |x|.
    const double step = 0x1p-21 * std::max(1.0, std::fabs(x));
    if (vary.has("approximation=fast")) value += step;
    if (vary.has("precision=f16")) value = round_to(DType::f16, std::sin(round_to(DType::f16, x)));
    // ulp of the result's binade in the output type; subnormals share the smallest normal's.
    const double ulps = args.x.dtype == DType::f32 ? 2.0 : 1.0;
    const double u = 2 * core::unit_roundoff(args.x.dtype);
    const double smallest = args.x.dtype == DType::f16 ? 0x1p-14 : 0x1p-126;
    const double binade = std::exp2(std::floor(std::log2(std::max(std::fabs(value), smallest))));
    // No two devices' fast sines err alike: any error up to some steps is one.
    double bound = vary.has("approximation=fast") ? 4 * step : ulps * u * binade;
    // Where in f32 the argument is multiplied and divided is not said.
    if (vary.has("unit=degrees")) bound = std::max(bound, 0x1p-22 * std::fabs(x));
    y.set(i, value, bound);
  }
}

const std::vector<oracle::Variation>& variations() {
  static const std::vector<oracle::Variation> list = {
      {"approximation=fast", "the hardware's fast sine: absolute error that grows with the argument"},
      {"precision=f16", "argument and result rounded to f16"},
      {"subnormals=flushed", "an argument that is subnormal in f32 taken as a zero of its sign"},
      {"tail=unmasked", "elements past the last whole block are not written"},
      {"indexing=flat", "strides ignored: element i of the buffer instead of element i of the view"},
      {"unit=degrees", "the argument taken as degrees"},
      {"function=cosine", "the cosine of the argument"},
  };
  return list;
}

}  // namespace isomer::ops::sin
