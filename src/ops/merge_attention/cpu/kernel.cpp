#include "ops/merge_attention/cpu/kernel.hpp"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/merge_attention/cpu/kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/exp-inl.hpp"
#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::merge_attention::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::F16;

/// w_i = e^(lse_i − m) / Σ and lse = m + ln Σ, with m the larger of the two that are not −inf.
void Weigh(Weights& weights) {
  const F32 d;
  const VF nothing = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (std::int64_t i = 0; i < kRows; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    const VF a = hn::Load(d, weights.a + i), b = hn::Load(d, weights.b + i);
    const auto no_a = hn::Eq(a, nothing), no_b = hn::Eq(b, nothing);
    const VF larger = hn::IfThenElse(hn::Gt(a, b), a, b);
    const VF m = hn::IfThenElse(no_b, a, larger);
    const VF wa = hn::IfThenZeroElse(no_a, ExpOfNonPositive(d, hn::Sub(a, m)));
    const VF wb = hn::IfThenZeroElse(no_b, ExpOfNonPositive(d, hn::Sub(b, m)));
    const VF sum = hn::Add(wa, wb);
    const VF divisor = hn::IfThenElse(hn::And(no_a, no_b), hn::Set(d, 1.0f), sum);
    hn::Store(hn::Div(wa, divisor), d, weights.a + i);
    hn::Store(hn::Div(wb, divisor), d, weights.b + i);
    hn::Store(sum, d, weights.lse + i);
    HWY_ALIGN float largest[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(m, d, largest);
    float* lse = weights.lse + i;
    for (size_t j = 0; j < hn::Lanes(d); ++j) lse[j] = largest[j] + std::log(lse[j]);
  }
}

template <class In, class Out>
void Merge(const Row& row) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const In* a = reinterpret_cast<const In*>(row.a);
  const In* b = reinterpret_cast<const In*>(row.b);
  Out* out = reinterpret_cast<Out*>(row.out);
  const VF wa = hn::Set(d, row.weight_a), wb = hn::Set(d, row.weight_b);
  std::int64_t i = 0;
  if (a != nullptr && b != nullptr)
    for (; i + lanes <= row.count; i += lanes)
      StoreF32(hn::MulAdd(wb, LoadF32(d, b + i), hn::Mul(wa, LoadF32(d, a + i))), d, out + i);
  for (; i < row.count; i += lanes) {
    const auto rest = static_cast<size_t>(row.count - i);
    VF sum = a != nullptr ? hn::Mul(wa, LoadF32N(d, a + i, rest)) : hn::Zero(d);
    if (b != nullptr) sum = hn::MulAdd(wb, LoadF32N(d, b + i, rest), sum);
    StoreF32N(sum, d, out + i, rest);
  }
}

template <class In>
void MergeInto(const Row& row) {
  if (row.out_dtype == DType::f16)
    Merge<In, F16>(row);
  else if (row.out_dtype == DType::bf16)
    Merge<In, BF16>(row);
  else
    Merge<In, float>(row);
}

void MergeRow(const Row& row) {
  if (row.in_dtype == DType::f16)
    MergeInto<F16>(row);
  else if (row.in_dtype == DType::bf16)
    MergeInto<BF16>(row);
  else
    MergeInto<float>(row);
}

Kernel Table() { return {&Weigh, &MergeRow}; }

}  // namespace isomer::ops::merge_attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::merge_attention {

const cpu::PerTarget<KernelFunction>& kernel() {
  static const cpu::PerTarget<KernelFunction> table = ISOMER_PER_TARGET(Table);
  return table;
}

}  // namespace isomer::ops::merge_attention
#endif
