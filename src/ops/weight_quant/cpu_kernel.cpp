// A block twice: the maximum of its rows' bit patterns, then one division, conversion and store per vector.
// The second pass reads from the cache.
#include "ops/weight_quant/cpu_kernel.hpp"
#include "cpu/power_of_two.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/weight_quant/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/abs_max-inl.hpp"
#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::weight_quant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::E4M3;
using cpu::F16;

template <class T>
void Quantize(const Block& block, const WeightQuantOptions& options) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T* x = static_cast<const T*>(block.x);
  float amax = 0;
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const float most = AbsMax(x + row * block.x_row, block.columns);
    if (!(most <= amax)) amax = amax != amax ? amax : most;  // NaN wins and stays
  }
  if (amax < options.amax_floor) amax = options.amax_floor;
  float scale = amax / 448.0f;
  if (options.scale_format == ScaleFormat::ue8m0) scale = cpu::power_of_two_above(scale);
  *block.s = scale;
  const VF divisor = hn::Set(d, scale);
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const T* from = x + row * block.x_row;
    E4M3* to = block.y + row * block.y_row;
    std::int64_t i = 0;
    for (; i + lanes <= block.columns; i += lanes)
      StoreF32(hn::Div(LoadF32(d, from + i), divisor), d, to + i);
    if (i < block.columns) {
      const auto rest = static_cast<size_t>(block.columns - i);
      StoreF32N(hn::Div(LoadF32N(d, from + i, rest), divisor), d, to + i, rest);
    }
  }
}

void Run(DType x_type, const Block& block, const WeightQuantOptions& options) {
  if (x_type == DType::f16)
    Quantize<F16>(block, options);
  else if (x_type == DType::bf16)
    Quantize<BF16>(block, options);
  else
    Quantize<float>(block, options);
}

}  // namespace isomer::ops::weight_quant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::weight_quant {

const cpu::PerTarget<BlockFunction>& block_function() {
  static const cpu::PerTarget<BlockFunction> table = ISOMER_PER_TARGET(Run);
  return table;
}

}  // namespace isomer::ops::weight_quant
#endif
