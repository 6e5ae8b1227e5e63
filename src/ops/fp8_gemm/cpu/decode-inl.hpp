// e4m3 bytes as f32 lanes for the GEMM, in bulk. Include after hwy/highway.h.
#if defined(ISOMER_FP8_GEMM_DECODE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ISOMER_FP8_GEMM_DECODE_INL
#undef ISOMER_FP8_GEMM_DECODE_INL
#else
#define ISOMER_FP8_GEMM_DECODE_INL
#endif

#include <hwy/highway.h>

#include "cpu/vector-inl.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::fp8_gemm::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using isomer::cpu::HWY_NAMESPACE::F32;
using isomer::cpu::HWY_NAMESPACE::VF;

constexpr std::int64_t kLanes = HWY_LANES(float);
/// Floats by which rows of decoded a are further apart than they are long: an odd number of cache lines,
/// since equal columns of rows a power of two apart share an L1 bank, and broadcasts of them would wait for
/// each other.
constexpr std::int64_t kRowPadding = 16;

/// kLanes consecutive elements divided by 256, NaN as ±480/256. The bits of e4m3 moved into f16 are the value
/// with f16's bias, 8 more than e4m3's; f16's conversion is exact and, unlike a multiplication, keeps
/// subnormals under DAZ.
HWY_INLINE VF Decode(F32 d, const std::uint8_t* from) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
  const hn::Rebind<std::uint8_t, F32> d8;
  const hn::RebindToUnsigned<F32> du;
  const auto bits = hn::PromoteTo(du, hn::LoadU(d8, from));
  const auto magnitude = hn::BitCast(d, hn::ShiftLeft<20>(hn::And(bits, hn::Set(du, 0x7F))));
  const auto sign = hn::ShiftLeft<24>(hn::And(bits, hn::Set(du, 0x80)));
  return hn::BitCast(d, hn::Or(hn::BitCast(du, hn::Mul(magnitude, hn::Set(d, 0x1p112f))), sign));
#else
  const hn::Rebind<std::int8_t, F32> d8;
  const hn::Rebind<std::int16_t, F32> d16;
  const hn::Rebind<hwy::float16_t, F32> df16;
  // Sign extension puts the sign where the shift carries it to bit 15, and once more into bit 14, which the
  // mask clears.
  const auto wide = hn::PromoteTo(d16, hn::LoadU(d8, reinterpret_cast<const std::int8_t*>(from)));
  const auto bits = hn::And(hn::ShiftLeft<7>(wide), hn::Set(d16, static_cast<std::int16_t>(0xBF80)));
  return hn::PromoteTo(d, hn::BitCast(df16, bits));
#endif
}

inline bool IsNaN(std::uint8_t e4m3) { return (e4m3 & 0x7F) == 0x7F; }

using U8 = hn::ScalableTag<std::uint8_t>;
constexpr std::int64_t kBytes = HWY_LANES(std::uint8_t);

/// Looks for NaN in many vectors and answers once: `seen` keeps the largest byte with the sign bit set, 0xFF
/// for NaN.
HWY_INLINE hn::Vec<U8> SeeNaN(hn::Vec<U8> bytes, hn::Vec<U8> seen) {
  return hn::Max(seen, hn::Or(bytes, hn::Set(U8(), 0x80)));
}
HWY_INLINE hn::Vec<U8> SeeNaN(const std::uint8_t* block, hn::Vec<U8> seen) {
  HWY_UNROLL(8)
  for (std::int64_t i = 0; i < kScaleBlock; i += kBytes) seen = SeeNaN(hn::LoadU(U8(), block + i), seen);
  return seen;
}
HWY_INLINE bool SawNaN(hn::Vec<U8> seen) { return !hn::AllFalse(U8(), hn::Eq(seen, hn::Set(U8(), 0xFF))); }

/// kScaleBlock elements that may be read: `from` itself, or where the row ends inside the block a copy that
/// zeros complete.
HWY_INLINE const std::uint8_t* WholeBlock(const std::uint8_t* from, std::int64_t depth, std::uint8_t* copy) {
  if (HWY_LIKELY(depth >= kScaleBlock)) return from;
  std::memset(copy, 0, kScaleBlock);
  std::memcpy(copy, from, static_cast<std::size_t>(depth));
  return copy;
}

/// One block of a row of a as f32, times 256: with b divided by 256, products are what they should be.
HWY_INLINE void DecodeRow(const std::uint8_t* from, std::int64_t depth, float* to) {
  const F32 d;
  HWY_ALIGN std::uint8_t copy[kScaleBlock];
  from = WholeBlock(from, depth, copy);
  const VF scale = hn::Set(d, 65536.0f);
  HWY_UNROLL(8)
  for (std::int64_t k = 0; k < kScaleBlock; k += kLanes)
    hn::Store(hn::Mul(Decode(d, from + k), scale), d, to + k);
  if (HWY_UNLIKELY(SawNaN(SeeNaN(from, hn::Zero(U8())))))
    for (std::int64_t k = 0; k < kScaleBlock; ++k)
      if (IsNaN(from[k])) to[k] = std::numeric_limits<float>::quiet_NaN();
}

}  // namespace isomer::ops::fp8_gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
