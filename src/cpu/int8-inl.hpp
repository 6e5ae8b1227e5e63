// Rows of int8 with their scales as f32 lanes, for the target being compiled. Include after hwy/highway.h.
#if defined(ISOMER_CPU_INT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ISOMER_CPU_INT8_INL
#undef ISOMER_CPU_INT8_INL
#else
#define ISOMER_CPU_INT8_INL
#endif

#include <hwy/highway.h>

#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::cpu::HWY_NAMESPACE {

HWY_INLINE VF LoadF32(F32 d, const std::int8_t* from) {
  const hn::RebindToSigned<F32> di;
  const hn::Rebind<std::int8_t, F32> d8;
  return hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(d8, from)));
}

/// A scale of `type`.
inline float ScaleAt(DType type, const std::byte* scales, std::ptrdiff_t i) {
  if (type == DType::f16) return to_f32(reinterpret_cast<const F16*>(scales)[i]);
  if (type == DType::bf16) return to_f32(reinterpret_cast<const BF16*>(scales)[i]);
  return reinterpret_cast<const float*>(scales)[i];
}

/// `count` adjacent elements times their scales: that of the row, or where `step` is not 0 that of their 8
/// channels, `step` elements from the next. Zero from there up to `padded`; writes whole vectors. `count` is
/// at most kMostInt8.
inline constexpr int kMostInt8 = 512;
HWY_INLINE void LoadInt8(const std::int8_t* from, const std::byte* scales, DType type, std::ptrdiff_t step,
                         int count, float* to, int padded) {
  const F32 d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  HWY_ALIGN std::int8_t tail[HWY_MAX_BYTES / sizeof(float)] = {};
  HWY_ALIGN float expanded[kMostInt8 + HWY_MAX_BYTES / sizeof(float)];
  if (step != 0)
    for (int g = 0; g * 8 < count; ++g) {
      const float scale = ScaleAt(type, scales, g * step);
      for (int i = 0; i < 8; ++i) expanded[g * 8 + i] = scale;
    }
  const VF whole = hn::Set(d, ScaleAt(type, scales, 0));
  int c = 0;
  for (; c < count; c += lanes) {
    if (c + lanes > count) {
      for (int i = c; i < count; ++i) tail[i - c] = from[i];
      // Lanes behind the row are 0 whatever its scale is.
      VF factor = step == 0 ? whole : hn::Load(d, expanded + c);
      factor = hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(count - c)), factor);
      hn::StoreU(hn::Mul(LoadF32(d, tail), factor), d, to + c);
      continue;
    }
    hn::StoreU(hn::Mul(LoadF32(d, from + c), step == 0 ? whole : hn::Load(d, expanded + c)), d, to + c);
  }
  for (; c < padded; c += lanes) hn::StoreU(hn::Zero(d), d, to + c);
}

}  // namespace isomer::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
