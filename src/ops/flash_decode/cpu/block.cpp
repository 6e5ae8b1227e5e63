// Online softmax over a run of tokens, for all query heads of a few kv heads: K and V are read from memory
// once.
//
//   tile of 32 tokens
//     kv head       S[h][t] = q[h]·K[t] → P, m, l            while the tile's V rows are prefetched
//                   acc[h] = acc[h]·e^(m−m') + P[h]·V        while the next kv head's K rows are, or the next
//                   tile's
//
// The kv heads of a token are neighbours in the usual cache, so that a tile's heads share pages and open DRAM
// rows: with one kv head at a time each row of 256 bytes costs an address translation of its own. K and V are
// read where they lie and converted in registers; rows that are no whole vectors go through an f32 copy. A
// tile's P·V is summed on its own and then added, so that the error of a long run grows with the number of
// tiles, not of tokens.
#include "ops/flash_decode/cpu/block.hpp"
#include "core/ceil_div.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/flash_decode/cpu/block.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/exp-inl.hpp"
#include "cpu/int8-inl.hpp"
#include "cpu/vector-inl.hpp"

#ifndef ISOMER_FLASH_DECODE_SCRATCH
#define ISOMER_FLASH_DECODE_SCRATCH
namespace isomer::ops::flash_decode {

/// Row length of the f32 arrays: whole vectors of 16, the widest.
inline std::int64_t padded(std::int64_t head_dim) { return core::align_up(head_dim, 16); }

struct Scratch {
  float *q, *acc;  ///< [heads][padded]
  float *m, *l;    ///< [heads]: running maximum and sum
  float* s;        ///< [heads][kTile]: logits, then P
  float* decay;    ///< [heads]: e^(m − m') of this tile
  float *k, *v;    ///< [kTile][padded]: rows that had to be copied
};

/// Lays the arrays out from the address `at`, which is 0 where only their size is asked for; returns the end.
inline std::uintptr_t lay_out(Scratch& scratch, std::uintptr_t at, std::int64_t heads,
                              std::int64_t head_dim) {
  const auto take = [&](std::int64_t count) {
    auto* begin = reinterpret_cast<float*>(at);
    at += static_cast<std::uintptr_t>(
        core::align_up(count * static_cast<std::int64_t>(sizeof(float)), core::kAlignment));
    return begin;
  };
  scratch.q = take(heads * padded(head_dim));
  scratch.acc = take(heads * padded(head_dim));
  scratch.m = take(heads);
  scratch.l = take(heads);
  scratch.s = take(heads * kTile);
  scratch.decay = take(heads);
  scratch.k = take(kTile * padded(head_dim));
  scratch.v = take(kTile * padded(head_dim));
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

/// One row of D elements to f32, zero up to the padded length.
template <class T>
HWY_INLINE void Convert(const T* from, std::int64_t stride, std::int64_t count, float* to,
                        std::int64_t length) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  if (stride == 1)
    for (; i < count; i += lanes) hn::Store(LoadF32N(d, from + i, static_cast<size_t>(count - i)), d, to + i);
  for (; i < count; ++i) to[i] = cpu::to_f32(from[i * stride]);
  for (; i < length; ++i) to[i] = 0.0f;
}

/// One int8 row of D elements, at most 256, times its scales.
HWY_INLINE void ConvertInt8(const std::int8_t* from, std::int64_t stride, const std::byte* scales, DType type,
                            std::int64_t step, std::int64_t count, float* to, std::int64_t length) {
  std::int8_t gathered[256];
  if (stride != 1) {
    for (std::int64_t i = 0; i < count; ++i) gathered[i] = from[i * stride];
    from = gathered;
  }
  LoadInt8(from, scales, type, step, static_cast<int>(count), to, static_cast<int>(length));
}

/// The rows of one kv head over one tile, whole vectors each, and the K rows that come next (null: none).
template <class T>
struct Rows {
  std::int64_t count;  ///< tokens; the arrays repeat the last up to kTile
  std::int64_t size;
  const T *k[kTile], *v[kTile], *next[kTile];
  bool prefetch;
};

template <int N>
using Int = std::integral_constant<int, N>;

/// Asks for `count` elements that the next step reads.
template <class T>
HWY_INLINE void Prefetch(const T* row, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = 0; i < count; i += kLine) __builtin_prefetch(row + i);
}

/// S[h][t] = q[h]·K[t] for NH heads and every token of the tile, NT tokens at a time: NH·NT sums in
/// registers. `soon` are rows to prefetch, or null.
template <int NH, int NT, class T>
HWY_INLINE void Logits(const float* q, std::int64_t length, const T* const* rows, std::int64_t size,
                       std::int64_t tokens, const T* const* soon, float* s) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t t = 0; t < tokens; t += NT) {
    VF sum[NH][NT];
    HWY_UNROLL(8)
    for (int h = 0; h < NH; ++h) {
      HWY_UNROLL(8)
      for (int j = 0; j < NT; ++j) sum[h][j] = hn::Zero(d);
    }
    const T* row[NT];
    HWY_UNROLL(8)
    for (int j = 0; j < NT; ++j) row[j] = rows[t + j];
    for (int j = 0; soon != nullptr && j < NT; ++j) Prefetch(soon[t + j], size);
    for (std::int64_t i = 0; i < size; i += lanes) {
      VF k[NT];
      HWY_UNROLL(8)
      for (int j = 0; j < NT; ++j) k[j] = LoadF32(d, row[j] + i);
      HWY_UNROLL(8)
      for (int h = 0; h < NH; ++h) {
        const VF query = hn::Load(d, q + h * length + i);
        HWY_UNROLL(8)
        for (int j = 0; j < NT; ++j) sum[h][j] = hn::MulAdd(query, k[j], sum[h][j]);
      }
    }
    HWY_UNROLL(8)
    for (int h = 0; h < NH; ++h) {
      HWY_UNROLL(8)
      for (int j = 0; j < NT; ++j) s[h * kTile + t + j] = hn::GetLane(hn::SumOfLanes(d, sum[h][j]));
    }
  }
}

/// acc[h] = acc[h]·decay[h] + Σ_t P[h][t]·V[t] for NH heads, ND vectors of the head dimension at a time, from
/// element i on. Returns the element at which fewer than ND vectors are left.
template <int NH, int ND, class T>
HWY_INLINE std::int64_t Accumulate(const float* p, const Rows<T>& rows, const T* const* soon,
                                   const float* decay, float* acc, std::int64_t length, std::int64_t i) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (; i + ND * lanes <= rows.size; i += ND * lanes) {
    VF sum[NH][ND];
    HWY_UNROLL(8)
    for (int h = 0; h < NH; ++h) {
      HWY_UNROLL(8)
      for (int j = 0; j < ND; ++j) sum[h][j] = hn::Zero(d);
    }
    for (std::int64_t t = 0; t < rows.count; ++t) {
      if (soon != nullptr) Prefetch(soon[t] + i, ND * lanes);
      VF v[ND];
      HWY_UNROLL(8)
      for (int j = 0; j < ND; ++j) v[j] = LoadF32(d, rows.v[t] + i + j * lanes);
      HWY_UNROLL(8)
      for (int h = 0; h < NH; ++h) {
        const VF weight = hn::Set(d, p[h * kTile + t]);
        HWY_UNROLL(8)
        for (int j = 0; j < ND; ++j) sum[h][j] = hn::MulAdd(weight, v[j], sum[h][j]);
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
  decay = m == next ? 1.0f : hn::GetLane(ExpOfNonPositive(d, hn::Set(d, m - next)));
  VF sum = hn::Zero(d);
  for (std::int64_t t = 0; t < kTile; t += lanes) {
    const VF p = ExpOfNonPositive(d, hn::Sub(hn::Load(d, s + t), hn::Set(d, shift)));
    sum = hn::Add(sum, p);
    hn::Store(p, d, s + t);
  }
  l = l * decay + hn::GetLane(hn::SumOfLanes(d, sum));
  m = next;
}

/// One tile for the query heads [head, end), which belong to one kv head.
template <class T>
void Tile(const Scratch& x, std::int64_t head, std::int64_t end, std::int64_t length, const Rows<T>& rows) {
  const std::int64_t tokens = (rows.count + 7) / 8 * 8;
  const T* const* soon = rows.prefetch ? rows.v : nullptr;
  const auto logits = [&](auto heads, auto at_once, std::int64_t h) HWY_ATTR {
    Logits<heads(), at_once()>(x.q + h * length, length, rows.k, rows.size, tokens, soon, x.s + h * kTile);
    soon = nullptr;
  };
  std::int64_t h = head;
  for (; h + 4 <= end; h += 4) logits(Int<4>(), Int<2>(), h);
  for (; h + 2 <= end; h += 2) logits(Int<2>(), Int<4>(), h);
  for (; h < end; ++h) logits(Int<1>(), Int<8>(), h);

  for (h = head; h < end; ++h) Softmax(x.s + h * kTile, rows.count, x.m[h], x.l[h], x.decay[h]);

  soon = rows.prefetch && rows.next[0] != nullptr ? rows.next : nullptr;
  const auto accumulate = [&](auto heads, auto vectors, std::int64_t at) HWY_ATTR {
    const float *p = x.s + at * kTile, *decay = x.decay + at;
    float* acc = x.acc + at * length;
    const std::int64_t i = Accumulate<heads(), vectors()>(p, rows, soon, decay, acc, length, 0);
    Accumulate<heads(), 1>(p, rows, soon, decay, acc, length, i);
    soon = nullptr;
  };
  h = head;
  for (; h + 4 <= end; h += 4) accumulate(Int<4>(), Int<2>(), h);
  for (; h + 2 <= end; h += 2) accumulate(Int<2>(), Int<4>(), h);
  for (; h < end; ++h) accumulate(Int<1>(), Int<8>(), h);
}

template <class T>
void Attend(const Block& block, const Scratch& x) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::int64_t heads = block.heads_kv * block.group, size = block.head_dim, length = padded(size);
  const T* k = reinterpret_cast<const T*>(block.k);
  const T* v = reinterpret_cast<const T*>(block.v);
  const bool bytes = block.k_scale != nullptr;
  const std::int64_t scale_bytes = bytes ? size_of(block.scale_type) : 0;
  const bool in_place = !bytes && block.k_inner == 1 && block.v_inner == 1 && size % lanes == 0;
  for (std::int64_t h = 0; h < heads; ++h) {
    float* q = x.q + h * length;
    Convert<T>(reinterpret_cast<const T*>(block.q) + h * block.q_head, block.q_inner, size, q, length);
    for (std::int64_t i = 0; i < length; i += lanes)
      hn::Store(hn::Mul(hn::Load(d, q + i), hn::Set(d, block.scale)), d, q + i);
    x.m[h] = -std::numeric_limits<float>::infinity();
    x.l[h] = 0.0f;
  }
  std::fill(x.acc, x.acc + heads * length, 0.0f);

  const auto slot = [&](std::int64_t t) -> std::int64_t {
    return block.tokens[std::min(t, block.count - 1) * block.token_step];
  };
  for (std::int64_t begin = 0; begin < block.count; begin += kTile) {
    const std::int64_t count = std::min(kTile, block.count - begin);
    const auto row = [&](std::int64_t t) { return slot(begin + std::min(t, count - 1)); };
    for (std::int64_t kv = 0; kv < block.heads_kv; ++kv) {
      const T *k_head = k + kv * block.k_head, *v_head = v + kv * block.v_head;
      const std::int64_t first = kv * block.group, end = first + block.group;
      if (in_place) {
        const bool last = kv + 1 == block.heads_kv, more = begin + kTile < block.count;
        Rows<T> rows{.count = count, .size = size, .k = {}, .v = {}, .next = {}, .prefetch = true};
        for (std::int64_t t = 0; t < kTile; ++t) {
          rows.k[t] = k_head + row(t) * block.k_slot;
          rows.v[t] = v_head + row(t) * block.v_slot;
          if (!last)
            rows.next[t] = rows.k[t] + block.k_head;
          else if (more)
            rows.next[t] = k + slot(begin + kTile + t) * block.k_slot;
        }
        Tile(x, first, end, length, rows);
      } else {
        Rows<float> rows{.count = count, .size = length, .k = {}, .v = {}, .next = {}, .prefetch = false};
        for (std::int64_t t = 0; t < kTile; ++t) {
          const std::int64_t at = std::min(t, count - 1) * length;
          rows.k[t] = x.k + at;
          rows.v[t] = x.v + at;
          if (t >= count) continue;
          if (bytes) {
            const auto* k_row = reinterpret_cast<const std::int8_t*>(block.k) + kv * block.k_head;
            const auto* v_row = reinterpret_cast<const std::int8_t*>(block.v) + kv * block.v_head;
            ConvertInt8(k_row + row(t) * block.k_slot, block.k_inner,
                        block.k_scale + (row(t) * block.ks_slot + kv * block.ks_head) * scale_bytes,
                        block.scale_type, block.ks_step, size, x.k + at, length);
            ConvertInt8(v_row + row(t) * block.v_slot, block.v_inner,
                        block.v_scale + (row(t) * block.vs_slot + kv * block.vs_head) * scale_bytes,
                        block.scale_type, block.vs_step, size, x.v + at, length);
            continue;
          }
          Convert(k_head + row(t) * block.k_slot, block.k_inner, size, x.k + at, length);
          Convert(v_head + row(t) * block.v_slot, block.v_inner, size, x.v + at, length);
        }
        Tile(x, first, end, length, rows);
      }
    }
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
  lay_out(x, reinterpret_cast<std::uintptr_t>(scratch), block.heads_kv * block.group, block.head_dim);
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
  return lay_out(scratch, 0, heads, head_dim);
}

}  // namespace isomer::ops::flash_decode
#endif
