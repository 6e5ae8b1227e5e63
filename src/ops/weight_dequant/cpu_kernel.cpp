// A row's elements block by block: one scale, then load, multiply, convert and store per vector.
#include "ops/weight_dequant/cpu_kernel.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/weight_dequant/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::weight_dequant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::E4M3;
using cpu::F16;

template <class T>
void Dequantize(const Stretch& stretch) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const float* s = stretch.s;
  for (std::int64_t first = 0; first < stretch.count; first += stretch.block_size) {
    const std::int64_t count = std::min(stretch.block_size, stretch.count - first);
    const E4M3* x = stretch.x + first;
    T* y = static_cast<T*>(stretch.y) + first;
    const VF scale = hn::Set(d, *s++);
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) StoreF32(hn::Mul(LoadF32(d, x + i), scale), d, y + i);
    if (i < count) {
      const auto rest = static_cast<size_t>(count - i);
      StoreF32N(hn::Mul(LoadF32N(d, x + i, rest), scale), d, y + i, rest);
    }
  }
}

void Run(DType y_type, const Stretch& stretch) {
  if (y_type == DType::f16)
    Dequantize<F16>(stretch);
  else if (y_type == DType::bf16)
    Dequantize<BF16>(stretch);
  else
    Dequantize<float>(stretch);
}

}  // namespace isomer::ops::weight_dequant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::weight_dequant {

const cpu::PerTarget<StretchFunction>& stretch_function() {
  static const cpu::PerTarget<StretchFunction> table = ISOMER_PER_TARGET(Run);
  return table;
}

}  // namespace isomer::ops::weight_dequant
#endif
