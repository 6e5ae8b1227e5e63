// A block at a time: h into a buffer of f32, the maximum of its bit patterns, then one division, conversion
// and store per vector.
#include "ops/silu_mul_quant/cpu_kernel.hpp"
#include "cpu/power_of_two.hpp"
#include "ops/silu_mul_quant/silu_mul_quant.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/silu_mul_quant/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/abs_max-inl.hpp"
#include "cpu/exp-inl.hpp"
#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::silu_mul_quant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::E4M3;
using cpu::F16;

/// x / (1 + e^-x), by an exponential that cannot overflow: for x below 0 it is x·e^x / (1 + e^x).
HWY_INLINE VF Silu(F32 d, VF x) {
  const VF e = ExpOfNonPositive(d, hn::Neg(hn::Abs(x)));
  const VF top = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(x, e), x);
  return hn::Div(top, hn::Add(hn::Set(d, 1.0f), e));
}

template <class T>
void Quantize(const Blocks& blocks, const SiluMulQuantOptions& options) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const T* gate = static_cast<const T*>(blocks.gate);
  const T* factor = static_cast<const T*>(blocks.factor);
  E4M3* y = static_cast<E4M3*>(blocks.y);
  HWY_ALIGN float h[kBlock];
  for (std::int64_t block = 0; block < blocks.count; ++block) {
    for (std::int64_t i = 0; i < kBlock; i += lanes)
      hn::Store(hn::Mul(Silu(d, LoadF32(d, gate + i)), LoadF32(d, factor + i)), d, h + i);
    float amax = AbsMax(h, kBlock);
    if (amax < options.amax_floor) amax = options.amax_floor;  // NaN stays
    float scale = amax / 448.0f;
    if (options.scale_format == ScaleFormat::ue8m0) scale = cpu::power_of_two_above(scale);
    blocks.s[block * blocks.s_stride] = scale;
    const VF divisor = hn::Set(d, scale);
    for (std::int64_t i = 0; i < kBlock; i += lanes) StoreF32(hn::Div(hn::Load(d, h + i), divisor), d, y + i);
    gate += kBlock;
    factor += kBlock;
    y += kBlock;
  }
}

void Run(DType dtype, const Blocks& blocks, const SiluMulQuantOptions& options) {
  if (dtype == DType::f16)
    Quantize<F16>(blocks, options);
  else if (dtype == DType::bf16)
    Quantize<BF16>(blocks, options);
  else
    Quantize<float>(blocks, options);
}

}  // namespace isomer::ops::silu_mul_quant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::silu_mul_quant {

const cpu::PerTarget<BlocksFunction>& blocks_function() {
  static const cpu::PerTarget<BlocksFunction> table = ISOMER_PER_TARGET(Run);
  return table;
}

}  // namespace isomer::ops::silu_mul_quant
#endif
