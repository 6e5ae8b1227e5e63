// The largest lse first, then one pass over the blocks, 64 weights at a time; the head dimension 256 at a
// time.
#include "ops/flash_decode/cpu/merge.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/flash_decode/cpu/merge.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/exp-inl.hpp"
#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::flash_decode::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::F16;

constexpr std::int64_t kWeights = 64;
constexpr std::int64_t kChunk = 256;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

/// acc += weight·from, `count` elements.
template <class T>
HWY_INLINE void Add(const T* from, std::int64_t stride, std::int64_t count, float weight, float* acc) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (stride != 1) {
    for (std::int64_t i = 0; i < count; ++i) acc[i] += weight * cpu::to_f32(from[i * stride]);
    return;
  }
  const VF w = hn::Set(d, weight);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::Store(hn::MulAdd(w, LoadF32(d, from + i), hn::Load(d, acc + i)), d, acc + i);
  if (i < count)
    hn::Store(hn::MulAdd(w, LoadF32N(d, from + i, static_cast<size_t>(count - i)), hn::Load(d, acc + i)), d,
              acc + i);
}

template <class T>
void AddBlocks(const MergeRow& row, std::int64_t begin, const float* weights, std::int64_t count,
               std::int64_t at, std::int64_t size, float* acc) {
  const T* mid = reinterpret_cast<const T*>(row.mid) + at * row.mid_inner;
  for (std::int64_t j = 0; j < count; ++j)
    // What a block without weight holds may be anything, NaN too.
    if (row.lse[(begin + j) * row.lse_block] != kNothing)
      Add(mid + (begin + j) * row.mid_block, row.mid_inner, size, weights[j], acc);
}

template <class T>
HWY_INLINE void Finish(const float* acc, float total, T* out, std::int64_t stride, std::int64_t count) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF divisor = hn::Set(d, total);
  for (std::int64_t i = 0; i < count; i += lanes) {
    const VF value = hn::Div(hn::Load(d, acc + i), divisor);
    const std::int64_t n = std::min(lanes, count - i);
    if (stride == 1) {
      StoreF32N(value, d, out + i, static_cast<size_t>(n));
    } else {
      HWY_ALIGN T narrow[HWY_MAX_BYTES / sizeof(float)];
      StoreF32(value, d, narrow);
      for (std::int64_t j = 0; j < n; ++j) out[(i + j) * stride] = narrow[j];
    }
  }
}

void Run(const MergeRow& row) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  float top = kNothing;
  for (std::int64_t j = 0; j < row.blocks; ++j) top = std::max(top, row.lse[j * row.lse_block]);
  for (std::int64_t at = 0; at < row.head_dim; at += kChunk) {
    const std::int64_t size = std::min(kChunk, row.head_dim - at);
    HWY_ALIGN float acc[kChunk] = {};
    float total = 0.0f;
    for (std::int64_t begin = 0; begin < row.blocks; begin += kWeights) {
      const std::int64_t count = std::min(kWeights, row.blocks - begin);
      HWY_ALIGN float weights[kWeights];
      for (std::int64_t j = 0; j < kWeights; ++j) {
        const float lse = j < count ? row.lse[(begin + j) * row.lse_block] : kNothing;
        weights[j] = lse == kNothing ? kNothing : lse - top;
      }
      VF sum = hn::Zero(d);
      for (std::int64_t j = 0; j < kWeights; j += lanes) {
        const VF w = ExpOfNonPositive(d, hn::Load(d, weights + j));
        sum = hn::Add(sum, w);
        hn::Store(w, d, weights + j);
      }
      total += hn::GetLane(hn::SumOfLanes(d, sum));
      if (row.mid_dtype == DType::f16)
        AddBlocks<F16>(row, begin, weights, count, at, size, acc);
      else if (row.mid_dtype == DType::bf16)
        AddBlocks<BF16>(row, begin, weights, count, at, size, acc);
      else
        AddBlocks<float>(row, begin, weights, count, at, size, acc);
    }
    if (total == 0.0f) total = 1.0f;
    const auto finish = [&](auto tag) {
      using T = decltype(tag);
      Finish(acc, total, reinterpret_cast<T*>(row.out) + at * row.out_inner, row.out_inner, size);
    };
    if (row.out_dtype == DType::f16)
      finish(F16{});
    else if (row.out_dtype == DType::bf16)
      finish(BF16{});
    else
      finish(float{});
  }
}

}  // namespace isomer::ops::flash_decode::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::flash_decode {

const cpu::PerTarget<MergeFunction>& merge_function() {
  static const cpu::PerTarget<MergeFunction> table = ISOMER_PER_TARGET(Run);
  return table;
}

}  // namespace isomer::ops::flash_decode
#endif
