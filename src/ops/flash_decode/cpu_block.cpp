// Online softmax over a run of tokens, for all query heads of one kv head at once: K and V are read from
// memory once.
//
//   tile of 32 tokens:  K rows → f32 tile → S[h][t] = q[h]·K[t] → P, m, l      (V rows are prefetched
//   meanwhile)
//                       V rows → f32 tile → acc[h] = acc[h]·e^(m−m') + P[h]·V  (K rows of the next tile
//                       likewise)
//
// Everything is f32. A tile's P·V is summed on its own and then added, so that the error of a long run grows
// with the number of tiles, not of tokens.
#include "ops/flash_decode/cpu_block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/flash_decode/cpu_block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/exp-inl.hpp"
#include "cpu/vector-inl.hpp"

#ifndef ISOMER_FLASH_DECODE_SCRATCH
#define ISOMER_FLASH_DECODE_SCRATCH
namespace isomer::ops::flash_decode {

/// Row length of the f32 arrays: whole vectors of 16, the widest.
inline std::int64_t padded(std::int64_t head_dim) { return (head_dim + 15) / 16 * 16; }

struct Scratch {
  float *q, *acc;  ///< [heads][padded]
  float* tile;     ///< [kTile][padded]
  float* s;        ///< [heads][kTile]: logits, then P
  float *m, *l;    ///< [heads]
  float* decay;    ///< [heads]: e^(m − m') of this tile
};

/// Lays the arrays out from `at`; returns the end.
inline std::byte* lay_out(Scratch& scratch, std::byte* at, std::int64_t heads, std::int64_t head_dim) {
  const auto take = [&](std::int64_t count) {
    auto* begin = reinterpret_cast<float*>(at);
    at += (count * static_cast<std::int64_t>(sizeof(float)) + 63) / 64 * 64;
    return begin;
  };
  scratch.q = take(heads * padded(head_dim));
  scratch.acc = take(heads * padded(head_dim));
  scratch.tile = take(kTile * padded(head_dim));
  scratch.s = take(heads * kTile);
  scratch.m = take(heads);
  scratch.l = take(heads);
  scratch.decay = take(heads);
  return at;
}

}  // namespace isomer::ops::flash_decode
#endif

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::flash_decode::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::F16;

/// One row of D elements to f32, zero up to the padded length. `other` is the row that will be read after
/// this one.
template <class T>
HWY_INLINE void Convert(const T* from, std::int64_t stride, std::int64_t count, float* to,
                        std::int64_t length, const T* other) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (stride != 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = cpu::to_f32(from[i * stride]);
    std::fill(to + count, to + length, 0.0f);
    return;
  }
  if (other != nullptr) {
    constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < count; i += kLine) __builtin_prefetch(other + i);
    __builtin_prefetch(other + count - 1);
  }
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::Store(LoadF32(d, from + i), d, to + i);
  if (i < count) {
    hn::Store(LoadF32N(d, from + i, static_cast<size_t>(count - i)), d, to + i);
    i += lanes;
  }
  for (; i < length; i += lanes) hn::Store(hn::Zero(d), d, to + i);
}

/// S[h][t] = q[h]·K[t] for NH heads and every token of the tile, NT tokens at a time: NH·NT sums in
/// registers.
template <int NH, int NT>
HWY_INLINE void Logits(const float* q, const float* tile, std::int64_t length, std::int64_t tokens,
                       float* s) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t t = 0; t < tokens; t += NT) {
    VF sum[NH][NT];
    HWY_UNROLL(8)
    for (int h = 0; h < NH; ++h) {
      HWY_UNROLL(8)
      for (int j = 0; j < NT; ++j) sum[h][j] = hn::Zero(d);
    }
    for (std::int64_t i = 0; i < length; i += lanes) {
      VF row[NT];
      HWY_UNROLL(8)
      for (int j = 0; j < NT; ++j) row[j] = hn::Load(d, tile + (t + j) * length + i);
      HWY_UNROLL(8)
      for (int h = 0; h < NH; ++h) {
        const VF query = hn::Load(d, q + h * length + i);
        HWY_UNROLL(8)
        for (int j = 0; j < NT; ++j) sum[h][j] = hn::MulAdd(query, row[j], sum[h][j]);
      }
    }
    HWY_UNROLL(8)
    for (int h = 0; h < NH; ++h) {
      HWY_UNROLL(8)
      for (int j = 0; j < NT; ++j) s[h * kTile + t + j] = hn::GetLane(hn::SumOfLanes(d, sum[h][j]));
    }
  }
}

/// acc[h] = acc[h]·decay[h] + Σ_t P[h][t]·V[t] for NH heads, ND vectors of the head dimension at a time.
template <int NH, int ND>
HWY_INLINE std::int64_t Accumulate(const float* p, const float* tile, std::int64_t length,
                                   std::int64_t tokens, const float* decay, float* acc, std::int64_t i) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; i + ND * lanes <= length; i += ND * lanes) {
    VF sum[NH][ND];
    HWY_UNROLL(8)
    for (int h = 0; h < NH; ++h) {
      HWY_UNROLL(8)
      for (int j = 0; j < ND; ++j) sum[h][j] = hn::Zero(d);
    }
    for (std::int64_t t = 0; t < tokens; ++t) {
      VF row[ND];
      HWY_UNROLL(8)
      for (int j = 0; j < ND; ++j) row[j] = hn::Load(d, tile + t * length + i + j * lanes);
      HWY_UNROLL(8)
      for (int h = 0; h < NH; ++h) {
        const VF weight = hn::Set(d, p[h * kTile + t]);
        HWY_UNROLL(8)
        for (int j = 0; j < ND; ++j) sum[h][j] = hn::MulAdd(weight, row[j], sum[h][j]);
      }
    }
    HWY_UNROLL(8)
    for (int h = 0; h < NH; ++h) {
      HWY_UNROLL(8)
      for (int j = 0; j < ND; ++j) {
        float* to = acc + h * length + i + j * lanes;
        hn::Store(hn::MulAdd(hn::Load(d, to), hn::Set(d, decay[h]), sum[h][j]), d, to);
      }
    }
  }
  return i;
}

/// One head's row of S → P, with the running maximum and sum. Tokens past `count` weigh nothing.
HWY_INLINE void Softmax(float* s, std::int64_t count, float& m, float& l, float& decay) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  std::fill(s + count, s + kTile, kNothing);
  VF top = hn::Set(d, m);
  for (std::int64_t t = 0; t < kTile; t += lanes) top = hn::Max(top, hn::Load(d, s + t));
  const float next = hn::GetLane(hn::MaxOfLanes(d, top));
  // Where every logit so far is −inf, any finite maximum leaves all of them without weight.
  const float shift = next == kNothing ? 0.0f : next;
  decay = m == kNothing ? 0.0f : hn::GetLane(ExpOfNonPositive(d, hn::Set(d, m - next)));
  VF sum = hn::Zero(d);
  for (std::int64_t t = 0; t < kTile; t += lanes) {
    const VF p = ExpOfNonPositive(d, hn::Sub(hn::Load(d, s + t), hn::Set(d, shift)));
    sum = hn::Add(sum, p);
    hn::Store(p, d, s + t);
  }
  l = l * decay + hn::GetLane(hn::SumOfLanes(d, sum));
  m = next;
}

void LogitsOfAll(const Scratch& x, std::int64_t heads, std::int64_t length, std::int64_t tokens) {
  std::int64_t h = 0;
  for (; h + 4 <= heads; h += 4) Logits<4, 2>(x.q + h * length, x.tile, length, tokens, x.s + h * kTile);
  for (; h + 2 <= heads; h += 2) Logits<2, 4>(x.q + h * length, x.tile, length, tokens, x.s + h * kTile);
  for (; h < heads; ++h) Logits<1, 8>(x.q + h * length, x.tile, length, tokens, x.s + h * kTile);
}

template <int NH, int ND>
HWY_INLINE void AccumulateRows(const Scratch& x, std::int64_t h, std::int64_t length, std::int64_t tokens) {
  const float* p = x.s + h * kTile;
  float* acc = x.acc + h * length;
  const std::int64_t i = Accumulate<NH, ND>(p, x.tile, length, tokens, x.decay + h, acc, 0);
  Accumulate<NH, 1>(p, x.tile, length, tokens, x.decay + h, acc, i);
}

void AccumulateAll(const Scratch& x, std::int64_t heads, std::int64_t length, std::int64_t tokens) {
  std::int64_t h = 0;
  for (; h + 4 <= heads; h += 4) AccumulateRows<4, 2>(x, h, length, tokens);
  for (; h + 2 <= heads; h += 2) AccumulateRows<2, 4>(x, h, length, tokens);
  for (; h < heads; ++h) AccumulateRows<1, 8>(x, h, length, tokens);
}

template <class T>
void Attend(const Block& block, const Scratch& x) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t heads = block.heads, size = block.head_dim, length = padded(size);
  const T* k = reinterpret_cast<const T*>(block.k);
  const T* v = reinterpret_cast<const T*>(block.v);
  const auto slot = [&](std::int64_t t) -> std::int64_t { return block.tokens[t * block.token_step]; };
  for (std::int64_t h = 0; h < heads; ++h) {
    float* q = x.q + h * length;
    Convert<T>(reinterpret_cast<const T*>(block.q) + h * block.q_head, block.q_inner, size, q, length,
               nullptr);
    for (std::int64_t i = 0; i < length; i += lanes)
      hn::Store(hn::Mul(hn::Load(d, q + i), hn::Set(d, block.scale)), d, q + i);
    x.m[h] = -std::numeric_limits<float>::infinity();
    x.l[h] = 0.0f;
  }
  std::fill(x.acc, x.acc + heads * length, 0.0f);
  for (std::int64_t begin = 0; begin < block.count; begin += kTile) {
    const std::int64_t count = std::min(kTile, block.count - begin);
    const std::int64_t tokens = (count + 7) / 8 * 8;
    for (std::int64_t t = 0; t < count; ++t) {
      const std::int64_t row = slot(begin + t);
      Convert(k + row * block.k_slot, block.k_inner, size, x.tile + t * length, length,
              v + row * block.v_slot);
    }
    std::fill(x.tile + count * length, x.tile + tokens * length, 0.0f);
    LogitsOfAll(x, heads, length, tokens);
    for (std::int64_t h = 0; h < heads; ++h) Softmax(x.s + h * kTile, count, x.m[h], x.l[h], x.decay[h]);
    for (std::int64_t t = 0; t < count; ++t) {
      const std::int64_t next = begin + kTile + t;
      Convert(v + slot(begin + t) * block.v_slot, block.v_inner, size, x.tile + t * length, length,
              next < block.count ? k + slot(next) * block.k_slot : nullptr);
    }
    AccumulateAll(x, heads, length, count);
  }
  for (std::int64_t h = 0; h < heads; ++h) {
    const float* acc = x.acc + h * length;
    float* out = block.out + h * block.out_head;
    // No weight at all: zeros rather than 0/0. A NaN stays.
    const float l = x.l[h] == 0.0f ? 1.0f : x.l[h];
    for (std::int64_t i = 0; i < size; ++i) out[i * block.out_inner] = acc[i] / l;
    block.lse[h * block.lse_head] = x.m[h] + std::log(x.l[h]);
  }
}

void Run(const Block& block, void* scratch) {
  Scratch x;
  lay_out(x, static_cast<std::byte*>(scratch), block.heads, block.head_dim);
  if (block.dtype == DType::f16)
    Attend<F16>(block, x);
  else if (block.dtype == DType::bf16)
    Attend<BF16>(block, x);
  else
    Attend<float>(block, x);
}

}  // namespace isomer::ops::flash_decode::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::flash_decode {

const cpu::PerTarget<BlockFunction>& block_function() {
  static const cpu::PerTarget<BlockFunction> table = ISOMER_PER_TARGET(Run);
  return table;
}

std::size_t block_scratch_bytes(std::int64_t heads, std::int64_t head_dim) {
  Scratch scratch;
  return static_cast<std::size_t>(lay_out(scratch, nullptr, heads, head_dim) -
                                  static_cast<std::byte*>(nullptr));
}

}  // namespace isomer::ops::flash_decode
#endif
