// One token's rows. First the maxima of up to 64 rows, or groups of 8 channels, from their bit patterns; then
// their scales, divided and rounded together; then division, truncation and store, of elements that are in
// the first-level cache by now. Channels that are not adjacent are gathered in pieces first.
#include "ops/quantize_copy_kv/cpu_kernel.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/quantize_copy_kv/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/abs_max-inl.hpp"
#include "cpu/quad-inl.hpp"
#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::quantize_copy_kv::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::F16;

/// Channels that are gathered or converted at once.
constexpr std::int64_t kPiece = 256;
/// Scales that are computed at once.
constexpr std::int64_t kScales = 64;

/// trunc, clamped to [-128, 127]; NaN gives 0. Writes all lanes.
template <class D>
HWY_INLINE void StoreInt8(hn::Vec<D> q, D d, std::int8_t* to) {
  const auto number = hn::IfThenElseZero(hn::Eq(q, q), q);
  const auto clamped = hn::Min(hn::Max(number, hn::Set(d, -128.0f)), hn::Set(d, 127.0f));
  const hn::Rebind<std::int8_t, D> d8;
  hn::StoreU(hn::DemoteTo(d8, hn::ConvertTo(hn::RebindToSigned<D>(), clamped)), d8, to);
}

/// max|x| of some rows, and what becomes of them.
struct Scales {
  // Room for whole vectors past the last one.
  HWY_ALIGN float most[kScales + HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN float divisor[kScales + HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN float rounded[kScales + HWY_MAX_BYTES / sizeof(float)];  ///< as elements of out_scale
  bool ordinary = true;  ///< no quotient is NaN or needs the clamp
};

/// divisor = most / 127 of `count` rows, rounded to the scale's type and kept as it in `rounded` too.
template <class S>
HWY_INLINE void RoundScales(Scales& scales, std::int64_t count, S* rounded) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto other = hn::Lt(hn::Zero(d), hn::Zero(d));
  for (std::int64_t i = 0; i < count; i += lanes) {
    const VF most = hn::Load(d, scales.most + i);
    StoreF32(hn::Div(most, hn::Set(d, 127.0f)), d, rounded + i);
    const VF divisor = LoadF32(d, rounded + i);
    hn::Store(divisor, d, scales.divisor + i);
    // Otherwise divisor is a positive number, and so are most and every quotient up to 127.9375.
    const VF largest = hn::Set(d, std::numeric_limits<float>::max());
    const VF limit = hn::Min(hn::Mul(divisor, hn::Set(d, 127.9375f)), largest);
    other = hn::Or(other, hn::Not(hn::And(hn::Lt(hn::Zero(d), divisor), hn::Le(most, limit))));
  }
  scales.ordinary = hn::AllFalse(d, other);
}

HWY_INLINE void RoundScales(DType type, Scales& scales, std::int64_t count) {
  std::fill(scales.most + count, scales.most + count + hn::Lanes(F32()), 127.0f);
  if (type == DType::f16)
    RoundScales(scales, count, reinterpret_cast<F16*>(scales.rounded));
  else if (type == DType::bf16)
    RoundScales(scales, count, reinterpret_cast<BF16*>(scales.rounded));
  else
    RoundScales(scales, count, scales.rounded);
}

/// `count` rounded scales from `first` on, to elements `stride` apart.
HWY_INLINE void CopyScales(DType type, const Scales& scales, std::int64_t first, std::int64_t count,
                           std::byte* to, std::int64_t stride) {
  const auto copy = [&](auto tag) {
    using S = decltype(tag);
    const S* from = reinterpret_cast<const S*>(scales.rounded) + first;
    if (stride == 1) return static_cast<void>(std::copy(from, from + count, reinterpret_cast<S*>(to)));
    for (std::int64_t i = 0; i < count; ++i) reinterpret_cast<S*>(to)[i * stride] = from[i];
  };
  if (type == DType::f32)
    copy(float{});
  else
    copy(std::uint16_t{});
}

/// Elements over one divisor.
template <class T>
HWY_INLINE void Quantize(const T* x, std::int64_t count, const Scales& scales, std::int64_t index,
                         std::int8_t* out) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const VF divisor = hn::Set(d, scales.divisor[index]);
  std::int64_t i = 0;
  if (scales.ordinary)
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      const Quad v = LoadQuad(d, x + i);
      const auto whole = [&](VF value) {
        return hn::BitCast(U32(), hn::ConvertTo(di, hn::Div(value, divisor)));
      };
      hn::StoreU(QuadBytes(T{}, whole(v.a), whole(v.b), whole(v.c), whole(v.d)), U8(),
                 reinterpret_cast<std::uint8_t*>(out + i));
    }
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
HWY_INLINE std::int8_t* Adjacent(std::int8_t* out, std::int64_t stride, std::int8_t* buffer) {
  return stride == 1 ? out : buffer;
}

HWY_INLINE void Scatter(const std::int8_t* buffer, std::int64_t count, std::int8_t* out,
                        std::int64_t stride) {
  if (stride == 1) return;
  for (std::int64_t i = 0; i < count; ++i) out[i * stride] = buffer[i];
}

template <class T>
HWY_INLINE float RowMax(const T* x, std::int64_t stride, std::int64_t count) {
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
HWY_INLINE void Row(const TokenShape& shape, const T* x, const Scales& scales, std::int64_t index,
                    std::int8_t* out) {
  if (shape.k_channel == 1 && shape.out_channel == 1) return Quantize(x, shape.channels, scales, index, out);
  T buffer[kPiece];
  std::int8_t bytes[kPiece];
  for (std::int64_t i = 0; i < shape.channels; i += kPiece) {
    const std::int64_t n = std::min(kPiece, shape.channels - i);
    std::int8_t* to = Adjacent(out + i * shape.out_channel, shape.out_channel, bytes);
    Quantize(Gather(x + i * shape.k_channel, shape.k_channel, n, buffer), n, scales, index, to);
    Scatter(to, n, out + i * shape.out_channel, shape.out_channel);
  }
}

/// Fetches what the next token needs for one of its heads, while nothing else keeps the memory busy.
template <class T>
HWY_INLINE void Fetch(const TokenShape& shape, const Token& token, std::int64_t head) {
  if (token.next_k == nullptr) return;
  const std::int64_t channels = shape.channels, size = sizeof(T);
  if (shape.k_channel == 1)
    for (std::int64_t i = 0; i < channels * size; i += 64)
      __builtin_prefetch(token.next_k + head * shape.k_head * size + i);
  if (shape.out_channel == 1)
    for (std::int64_t i = 0; i < channels; i += 64)
      __builtin_prefetch(token.next_out + head * shape.out_head + i, 1);
  __builtin_prefetch(token.next_scale + head * shape.scale_head * size_of(shape.scale_type), 1);
}

/// A scale for every head.
template <class T>
void Heads(const TokenShape& shape, const Token& token) {
  const T* x = reinterpret_cast<const T*>(token.k);
  auto* out = reinterpret_cast<std::int8_t*>(token.out);
  const std::int64_t scale_bytes = size_of(shape.scale_type);
  Scales scales;
  for (std::int64_t first = 0; first < shape.heads; first += kScales) {
    const std::int64_t count = std::min(kScales, shape.heads - first);
    for (std::int64_t h = 0; h < count; ++h)
      scales.most[h] = RowMax(x + (first + h) * shape.k_head, shape.k_channel, shape.channels);
    RoundScales(shape.scale_type, scales, count);
    CopyScales(shape.scale_type, scales, 0, count, token.scale + first * shape.scale_head * scale_bytes,
               shape.scale_head);
    for (std::int64_t h = 0; h < count; ++h) {
      Fetch<T>(shape, token, first + h);
      Row(shape, x + (first + h) * shape.k_head, scales, h, out + (first + h) * shape.out_head);
    }
  }
}

/// max|x| of each 8 adjacent elements of 16 bits, 8 times; NaN wins. One group is one vector of 16 bytes:
/// each step takes the maximum of halves and puts the lanes of two groups beside one another, until each has
/// one lane.
HWY_INLINE void GroupMaxima(const std::uint16_t* x, std::uint16_t* most) {
  const hn::CappedTag<std::uint16_t, 8> d;
  const hn::CappedTag<std::uint32_t, 4> d32;
  const hn::CappedTag<std::uint64_t, 2> d64;
  const auto load = [&](int group) { return hn::And(hn::LoadU(d, x + 8 * group), hn::Set(d, 0x7FFF)); };
  const auto fold = [&](auto wide, auto a, auto b) {
    const auto low = hn::InterleaveLower(wide, hn::BitCast(wide, a), hn::BitCast(wide, b));
    const auto high = hn::InterleaveUpper(wide, hn::BitCast(wide, a), hn::BitCast(wide, b));
    return hn::Max(hn::BitCast(d, low), hn::BitCast(d, high));
  };
  const auto four = [&](int group) {
    return fold(d32, fold(d, load(group), load(group + 1)), fold(d, load(group + 2), load(group + 3)));
  };
  hn::StoreU(fold(d64, four(0), four(4)), d, most);
}

/// The same of 32 bits, 4 times.
HWY_INLINE void GroupMaxima(const std::uint32_t* x, std::uint32_t* most) {
  const hn::CappedTag<std::uint32_t, 4> d;
  const hn::CappedTag<std::uint64_t, 2> d64;
  const auto mask = hn::Set(d, 0x7FFFFFFFu);
  const auto load = [&](int group) {
    return hn::Max(hn::And(hn::LoadU(d, x + 8 * group), mask),
                   hn::And(hn::LoadU(d, x + 8 * group + 4), mask));
  };
  const auto fold = [&](auto wide, auto a, auto b) {
    const auto low = hn::InterleaveLower(wide, hn::BitCast(wide, a), hn::BitCast(wide, b));
    const auto high = hn::InterleaveUpper(wide, hn::BitCast(wide, a), hn::BitCast(wide, b));
    return hn::Max(hn::BitCast(d, low), hn::BitCast(d, high));
  };
  hn::StoreU(fold(d64, fold(d, load(0), load(1)), fold(d, load(2), load(3))), d, most);
}

/// max|x| of `groups` groups of 8, and less than a vector of anything after them.
template <class T>
HWY_INLINE void GroupMaxima(const T* x, std::int64_t groups, float* most) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
  constexpr std::int64_t kAtOnce = 16 / sizeof(Bits);
  HWY_ALIGN Bits tops[kScales + HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN Bits rest[kAtOnce * kGroup];
  for (std::int64_t g = 0; g < groups; g += kAtOnce) {
    const auto* from = reinterpret_cast<const Bits*>(x + g * kGroup);
    if (groups - g < kAtOnce) {
      std::fill(rest, rest + kAtOnce * kGroup, Bits{0});
      std::copy(from, from + (groups - g) * kGroup, rest);
      from = rest;
    }
    GroupMaxima(from, tops + g);
  }
  const F32 d;
  for (std::int64_t g = 0; g < groups; g += static_cast<std::int64_t>(hn::Lanes(d)))
    hn::StoreU(LoadF32(d, reinterpret_cast<const T*>(tops + g)), d, most + g);
}

/// A value of each group for Lanes elements, the first of which begins a group or its second half.
HWY_INLINE VF Spread(F32 d, const float* group) {
  if constexpr (hn::MaxLanes(F32()) <= kGroup) {
    return hn::Set(d, *group);
  } else {
    const hn::Half<F32> half;
    return hn::Combine(d, hn::Set(half, group[1]), hn::Set(half, group[0]));
  }
}

/// Elements of groups over their divisors.
template <class T>
HWY_INLINE void QuantizeGroups(const T* x, std::int64_t count, const Scales& scales, std::int64_t first,
                               std::int8_t* out) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  if (scales.ordinary)
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      const auto whole = [&](std::int64_t at) {
        const std::int64_t group = first + at / kGroup;
        const VF q = hn::Div(LoadF32(d, x + at), Spread(d, scales.divisor + group));
        return hn::BitCast(U32(), hn::ConvertTo(di, q));
      };
      hn::StoreU(QuadBytes(float{}, whole(i), whole(i + lanes), whole(i + 2 * lanes), whole(i + 3 * lanes)),
                 U8(), reinterpret_cast<std::uint8_t*>(out + i));
    }
  for (; i < count; i += kGroup) Quantize(x + i, kGroup, scales, first + i / kGroup, out + i);
}

/// Adjacent groups of one head.
template <class T>
struct Piece {
  const T* x;
  std::int64_t channels;
  std::int8_t* out;
  std::byte* scale;
};

/// Pieces whose scales are computed together, of kScales groups at most.
template <class T>
class Batch {
 public:
  explicit Batch(const TokenShape& shape) : shape_(shape) {}

  void add(const Piece<T>& piece) {
    if (groups_ + piece.channels / kGroup > kScales) flush();
    const T* x = Gather(piece.x, shape_.k_channel, piece.channels, buffer_ + groups_ * kGroup);
    GroupMaxima(x, piece.channels / kGroup, scales_.most + groups_);
    pieces_[count_] = piece;
    pieces_[count_++].x = x;
    groups_ += piece.channels / kGroup;
  }

  void flush() {
    RoundScales(shape_.scale_type, scales_, groups_);
    std::int64_t first = 0;
    for (int i = 0; i < count_; ++i) {
      const Piece<T>& piece = pieces_[i];
      CopyScales(shape_.scale_type, scales_, first, piece.channels / kGroup, piece.scale, shape_.scale_group);
      std::int8_t bytes[kPiece];
      std::int8_t* to = Adjacent(piece.out, shape_.out_channel, bytes);
      QuantizeGroups(piece.x, piece.channels, scales_, first, to);
      Scatter(to, piece.channels, piece.out, shape_.out_channel);
      first += piece.channels / kGroup;
    }
    count_ = 0;
    groups_ = 0;
  }

 private:
  const TokenShape& shape_;
  Scales scales_;
  T buffer_[kScales * kGroup];
  Piece<T> pieces_[kScales];
  std::int64_t groups_ = 0;
  int count_ = 0;
};

/// A scale for every 8 channels.
template <class T>
void Groups(const TokenShape& shape, const Token& token) {
  const T* x = reinterpret_cast<const T*>(token.k);
  auto* out = reinterpret_cast<std::int8_t*>(token.out);
  const std::int64_t scale_bytes = size_of(shape.scale_type);
  Batch<T> batch(shape);
  for (std::int64_t h = 0; h < shape.heads; ++h) {
    Fetch<T>(shape, token, h);
    for (std::int64_t c = 0; c < shape.channels; c += kPiece)
      batch.add(
          {.x = x + h * shape.k_head + c * shape.k_channel,
           .channels = std::min(kPiece, shape.channels - c),
           .out = out + h * shape.out_head + c * shape.out_channel,
           .scale = token.scale + (h * shape.scale_head + c / kGroup * shape.scale_group) * scale_bytes});
  }
  batch.flush();
}

template <class T>
void Quantize(const TokenShape& shape, const Token& token) {
  if (shape.grouped)
    Groups<T>(shape, token);
  else
    Heads<T>(shape, token);
}

void Run(const TokenShape& shape, const Token& token) {
  if (shape.k_type == DType::f16)
    Quantize<F16>(shape, token);
  else if (shape.k_type == DType::bf16)
    Quantize<BF16>(shape, token);
  else
    Quantize<float>(shape, token);
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
