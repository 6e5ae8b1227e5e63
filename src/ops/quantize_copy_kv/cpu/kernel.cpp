// One token's rows. A row with one scale is passed over twice: the maximum of its bit patterns, then
// division, truncation and store. A row with a scale for every 8 channels goes in pieces through f32 in the
// first-level cache, so that the scales of a piece are divided and rounded together. Channels that are not
// adjacent are gathered in pieces first.
#include "ops/quantize_copy_kv/cpu/kernel.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/quantize_copy_kv/cpu/kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/abs_max-inl.hpp"
#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::quantize_copy_kv::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::F16;

/// Channels that are gathered or converted at once.
constexpr std::int64_t kPiece = 256;
constexpr std::int64_t kPieceGroups = kPiece / kGroup;

/// trunc, clamped to [-128, 127]; NaN gives 0. Writes all lanes.
template <class D>
HWY_INLINE void StoreInt8(hn::Vec<D> q, D d, std::int8_t* to) {
  const auto number = hn::IfThenElseZero(hn::Eq(q, q), q);
  const auto clamped = hn::Min(hn::Max(number, hn::Set(d, -128.0f)), hn::Set(d, 127.0f));
  const hn::Rebind<std::int8_t, D> d8;
  hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(hn::RebindToSigned<D>(), clamped)), d8, to);
}

/// The lanes rounded to the scale's type, in `to`; gives back what they are now. `to` has room for all lanes.
HWY_INLINE VF RoundScale(VF exact, F32 d, DType type, void* to) {
  if (type == DType::f16) {
    StoreF32(exact, d, static_cast<F16*>(to));
    return LoadF32(d, static_cast<const F16*>(to));
  }
  if (type == DType::bf16) {
    StoreF32(exact, d, static_cast<BF16*>(to));
    return LoadF32(d, static_cast<const BF16*>(to));
  }
  hn::StoreU(exact, d, static_cast<float*>(to));
  return exact;
}

HWY_INLINE void CopyScale(DType type, const void* from, std::int64_t index, std::byte* to) {
  if (type == DType::f32)
    __builtin_memcpy(to, static_cast<const float*>(from) + index, sizeof(float));
  else
    __builtin_memcpy(to, static_cast<const std::uint16_t*>(from) + index, sizeof(std::uint16_t));
}

template <class T>
HWY_INLINE void Quantize(const T* x, std::int64_t count, VF divisor, std::int8_t* out) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) StoreInt8(hn::Div(LoadF32(d, x + i), divisor), d, out + i);
  if (i == count) return;
  HWY_ALIGN std::int8_t rest[HWY_MAX_BYTES / sizeof(float)];
  StoreInt8(hn::Div(LoadF32N(d, x + i, static_cast<size_t>(count - i)), divisor), d, rest);
  std::copy(rest, rest + (count - i), out + i);
}

/// Adjacent channels of a piece: themselves, or gathered into `buffer`.
template <class T>
HWY_INLINE const T* Gather(const T* x, std::int64_t stride, std::int64_t count, T* buffer) {
  if (stride == 1) return x;
  for (std::int64_t i = 0; i < count; ++i) buffer[i] = x[i * stride];
  return buffer;
}

/// Where a piece of out is written, and afterwards its way to channels that are not adjacent.
HWY_INLINE std::int8_t* Target(std::int8_t* out, std::int64_t stride, std::int8_t* buffer) {
  return stride == 1 ? out : buffer;
}

HWY_INLINE void Scatter(const std::int8_t* buffer, std::int64_t count, std::int8_t* out,
                        std::int64_t stride) {
  if (stride == 1) return;
  for (std::int64_t i = 0; i < count; ++i) out[i * stride] = buffer[i];
}

template <class T>
float RowMax(const T* x, std::int64_t stride, std::int64_t count) {
  if (stride == 1) return AbsMax(x, count);
  float most = 0;
  T buffer[kPiece];
  for (std::int64_t i = 0; i < count; i += kPiece) {
    const std::int64_t n = std::min(kPiece, count - i);
    const float piece = AbsMax(Gather(x + i * stride, stride, n, buffer), n);
    if (!(piece <= most)) most = piece;  // NaN is taken
    if (most != most) break;             // and stays
  }
  return most;
}

template <class T>
HWY_INLINE void Head(const TokenShape& shape, const T* x, std::int8_t* out, std::byte* scale) {
  const F32 d;
  HWY_ALIGN float rounded[HWY_MAX_BYTES / sizeof(float)];
  const VF most = hn::Set(d, RowMax(x, shape.k_channel, shape.channels));
  const VF divisor = RoundScale(hn::Div(most, hn::Set(d, 127.0f)), d, shape.scale_type, rounded);
  CopyScale(shape.scale_type, rounded, 0, scale);
  if (shape.k_channel == 1 && shape.out_channel == 1) return Quantize(x, shape.channels, divisor, out);
  T buffer[kPiece];
  std::int8_t bytes[kPiece];
  for (std::int64_t i = 0; i < shape.channels; i += kPiece) {
    const std::int64_t n = std::min(kPiece, shape.channels - i);
    std::int8_t* to = Target(out + i * shape.out_channel, shape.out_channel, bytes);
    Quantize(Gather(x + i * shape.k_channel, shape.k_channel, n, buffer), n, divisor, to);
    Scatter(to, n, out + i * shape.out_channel, shape.out_channel);
  }
}

/// max|x| of 8 adjacent values; NaN wins.
HWY_INLINE float GroupMax(const float* x) {
  const hn::CappedTag<std::uint32_t, kGroup> d;
  const auto mask = hn::Set(d, 0x7FFFFFFFu);
  auto most = hn::Zero(d);
  for (size_t i = 0; i < kGroup; i += hn::Lanes(d))
    most = hn::Max(most, hn::And(hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(x) + i), mask));
  const std::uint32_t bits = hn::GetLane(hn::MaxOfLanes(d, most));
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
void Groups(const TokenShape& shape, const T* x, std::int8_t* out, std::byte* scale) {
  const F32 d;
  const hn::CappedTag<float, kGroup> d8;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t scale_bytes = size_of(shape.scale_type);
  // Room for whole vectors past the last group.
  HWY_ALIGN float values[kPiece], most[kPieceGroups + HWY_MAX_BYTES / sizeof(float)] = {};
  HWY_ALIGN float divisors[kPieceGroups + HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN float rounded[HWY_MAX_BYTES / sizeof(float)];
  T buffer[kPiece];
  std::int8_t bytes[kPiece];
  for (std::int64_t first = 0; first < shape.channels; first += kPiece) {
    const std::int64_t n = std::min(kPiece, shape.channels - first), groups = n / kGroup;
    const T* piece = Gather(x + first * shape.k_channel, shape.k_channel, n, buffer);
    for (std::int64_t i = 0; i < n; i += lanes)
      StoreF32N(LoadF32N(d, piece + i, static_cast<size_t>(n - i)), d, values + i,
                static_cast<size_t>(n - i));
    for (std::int64_t g = 0; g < groups; ++g) most[g] = GroupMax(values + g * kGroup);
    for (std::int64_t g = 0; g < groups; g += lanes) {
      const VF exact = hn::Div(hn::LoadU(d, most + g), hn::Set(d, 127.0f));
      hn::StoreU(RoundScale(exact, d, shape.scale_type, rounded), d, divisors + g);
      for (std::int64_t i = g; i < std::min(groups, g + lanes); ++i)
        CopyScale(shape.scale_type, rounded, i - g,
                  scale + (first / kGroup + i) * shape.scale_group * scale_bytes);
    }
    std::int8_t* to = Target(out + first * shape.out_channel, shape.out_channel, bytes);
    for (std::int64_t i = 0; i < n; i += static_cast<std::int64_t>(hn::Lanes(d8)))
      StoreInt8(hn::Div(hn::LoadU(d8, values + i), hn::Set(d8, divisors[i / kGroup])), d8, to + i);
    Scatter(to, n, out + first * shape.out_channel, shape.out_channel);
  }
}

template <class T>
void Heads(const TokenShape& shape, const Token& token) {
  const T* x = reinterpret_cast<const T*>(token.k);
  auto* out = reinterpret_cast<std::int8_t*>(token.out);
  const std::int64_t scale_bytes = size_of(shape.scale_type);
  for (std::int64_t h = 0; h < shape.heads; ++h) {
    std::byte* scale = token.scale + h * shape.scale_head * scale_bytes;
    if (shape.grouped)
      Groups(shape, x + h * shape.k_head, out + h * shape.out_head, scale);
    else
      Head(shape, x + h * shape.k_head, out + h * shape.out_head, scale);
  }
}

void Run(const TokenShape& shape, const Token& token) {
  if (shape.k_type == DType::f16)
    Heads<F16>(shape, token);
  else if (shape.k_type == DType::bf16)
    Heads<BF16>(shape, token);
  else
    Heads<float>(shape, token);
}

}  // namespace isomer::ops::quantize_copy_kv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::quantize_copy_kv {

const cpu::PerTarget<TokenFunction>& token_function() {
  static const cpu::PerTarget<TokenFunction> table = ISOMER_PER_TARGET(Run);
  return table;
}

}  // namespace isomer::ops::quantize_copy_kv
#endif
