// A block at a time, twice through its elements: the maximum of their bit patterns, then one division,
// conversion and store per vector. The second pass reads from the first-level cache.
#include "ops/act_quant/cpu/kernel.hpp"
#include "cpu/power_of_two.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/act_quant/cpu/kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/abs_max-inl.hpp"
#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::act_quant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::E4M3;
using cpu::F16;

template <class T>
void Quantize(const Blocks& blocks, const ActQuantOptions& options) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t size = options.block_size;
  const T* x = static_cast<const T*>(blocks.x);
  E4M3* y = static_cast<E4M3*>(blocks.y);
  for (std::int64_t block = 0; block < blocks.count; ++block, x += size, y += size) {
    float amax = AbsMax(x, size);
    if (amax < options.amax_floor) amax = options.amax_floor;  // NaN stays
    float scale = amax / 448.0f;
    if (options.scale_format == ScaleFormat::ue8m0) scale = cpu::power_of_two_above(scale);
    blocks.s[block * blocks.s_stride] = scale;
    const VF divisor = hn::Set(d, scale);
    for (std::int64_t i = 0; i < size; i += lanes) StoreF32(hn::Div(LoadF32(d, x + i), divisor), d, y + i);
  }
}

void Run(DType dtype, const Blocks& blocks, const ActQuantOptions& options) {
  if (dtype == DType::f16)
    Quantize<F16>(blocks, options);
  else if (dtype == DType::bf16)
    Quantize<BF16>(blocks, options);
  else
    Quantize<float>(blocks, options);
}

}  // namespace isomer::ops::act_quant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::act_quant {

const cpu::PerTarget<BlocksFunction>& blocks_function() {
  static const cpu::PerTarget<BlocksFunction> table = ISOMER_PER_TARGET(Run);
  return table;
}

}  // namespace isomer::ops::act_quant
#endif
