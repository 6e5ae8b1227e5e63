// Twelve chains: latency 4 or 5 times throughput 2 per cycle, and a register file of 16 still holds them.
#include "lab/bench/fma.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lab/bench/fma.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace isomer::lab::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

double Fma(std::int64_t rounds, float* keep) {
  const hn::ScalableTag<float> d;
  const auto multiplier = hn::Set(d, 0.999f), addend = hn::Set(d, 0.001f);
  auto a0 = hn::Set(d, 0.0f), a1 = hn::Set(d, 0.1f), a2 = hn::Set(d, 0.2f), a3 = hn::Set(d, 0.3f);
  auto a4 = hn::Set(d, 0.4f), a5 = hn::Set(d, 0.5f), a6 = hn::Set(d, 0.6f), a7 = hn::Set(d, 0.7f);
  auto a8 = hn::Set(d, 0.8f), a9 = hn::Set(d, 0.9f), a10 = hn::Set(d, 1.0f), a11 = hn::Set(d, 1.1f);
  for (std::int64_t i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, multiplier, addend);
    a1 = hn::MulAdd(a1, multiplier, addend);
    a2 = hn::MulAdd(a2, multiplier, addend);
    a3 = hn::MulAdd(a3, multiplier, addend);
    a4 = hn::MulAdd(a4, multiplier, addend);
    a5 = hn::MulAdd(a5, multiplier, addend);
    a6 = hn::MulAdd(a6, multiplier, addend);
    a7 = hn::MulAdd(a7, multiplier, addend);
    a8 = hn::MulAdd(a8, multiplier, addend);
    a9 = hn::MulAdd(a9, multiplier, addend);
    a10 = hn::MulAdd(a10, multiplier, addend);
    a11 = hn::MulAdd(a11, multiplier, addend);
  }
  const auto sum = hn::Add(
      hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)),
      hn::Add(hn::Add(hn::Add(a4, a5), hn::Add(a6, a7)), hn::Add(hn::Add(a8, a9), hn::Add(a10, a11))));
  *keep = hn::GetLane(hn::SumOfLanes(d, sum));
  return static_cast<double>(rounds) * 12 * 2 * static_cast<double>(hn::Lanes(d));
}

}  // namespace isomer::lab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::lab {

const cpu::PerTarget<FmaFunction>& fma_function() {
  static const cpu::PerTarget<FmaFunction> table = ISOMER_PER_TARGET(Fma);
  return table;
}

}  // namespace isomer::lab
#endif
