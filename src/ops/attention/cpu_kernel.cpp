// S = Q·Kᵀ, online softmax and O += P·V for one strip of query rows and one block of keys, twice: rows across
// the lanes and rows along them. The accumulators of both products stay in registers; a block's P·V is summed
// apart and then joins O, so that the rounding of long sums grows with the blocks, not with the keys.
#include "ops/attention/cpu_kernel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/exp-inl.hpp"
#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::attention::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::E4M3;
using cpu::F16;
using I32 = hn::RebindToSigned<F32>;

constexpr int kLanes = HWY_LANES(float);
constexpr float kNever = -__builtin_inff();
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;
// The portable target has loops for vectors: unrolling them makes it slow to compile and no faster.
constexpr bool kPortable = HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR;
constexpr int kStripVectors = kPortable ? 1 : 3;
constexpr int kStripRows = kPortable ? 1 : 4;

/// Sums that stay in registers: at least 8, to hide the latency of two FMAs a cycle, and no more than there
/// are registers. Across, so many broadcasts meet `vectors` vectors of rows …
constexpr int Broadcasts(int vectors) { return kPortable ? 2 : kManyRegisters || vectors == 1 ? 8 : 4; }
/// … and along, so many keys meet `rows` rows for the scores, and so many vectors of columns for the values.
constexpr int Keys(int rows) { return kPortable ? 2 : rows == 1 ? 8 : rows == 4 && !kManyRegisters ? 2 : 4; }
constexpr int Columns(int rows) { return kPortable ? 1 : rows == 1 ? 8 : rows == 2 ? 4 : 2; }

/// Relative error below 2^-22.
HWY_INLINE VF Tanh(F32 d, VF x) {
  const VF magnitude = hn::Abs(x);
  const VF square = hn::Mul(x, x);
  // Least maximum relative error on [0, 0.625].
  VF p = hn::Set(d, -5.704987e-3f);
  p = hn::MulAdd(p, square, hn::Set(d, 2.0639088e-2f));
  p = hn::MulAdd(p, square, hn::Set(d, -5.3739715e-2f));
  p = hn::MulAdd(p, square, hn::Set(d, 1.3331442e-1f));
  p = hn::MulAdd(p, square, hn::Set(d, -3.333328e-1f));
  const VF small = hn::MulAdd(hn::Mul(p, square), x, x);
  const VF one = hn::Set(d, 1.0f);
  const VF e = ExpOfNonPositive(d, hn::Mul(magnitude, hn::Set(d, -2.0f)));
  const VF large = hn::Div(hn::Sub(one, e), hn::Add(one, e));
  return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.625f)), small, hn::CopySign(large, x));
}

/// Products of one logit that are summed in one run: runs are summed apart, because rounding errors grow with
/// the length of a sum.
constexpr int kRun = 64;

/// scores[j][width] = q·k for keys [first, last), and their maximum per row.
template <int V>
HWY_INLINE void ScoresAcross(const Strip& strip, const KeyBlock& block, int first, int last,
                             VF (&highest)[V]) {
  constexpr int B = Broadcasts(V), W = V * kLanes;
  const F32 d;
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) highest[v] = hn::Set(d, kNever);
  for (int j = first; j < last; j += B) {
    const float* q = strip.q;
    const float* k = block.k + j * block.k_stride;
    float* to = strip.scores + j * W;
    for (int begin = 0; begin < block.head_dim; begin += kRun) {
      VF sum[B][V];
#pragma GCC unroll 8
      for (int i = 0; i < B; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) sum[i][v] = hn::Zero(d);
      for (int c = begin; c < HWY_MIN(begin + kRun, block.head_dim); ++c, q += W, ++k) {
        VF rows[V];
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) rows[v] = hn::Load(d, q + v * kLanes);
#pragma GCC unroll 8
        for (int i = 0; i < B; ++i) {
          const VF key = hn::Set(d, k[i * block.k_stride]);
#pragma GCC unroll 4
          for (int v = 0; v < V; ++v) sum[i][v] = hn::MulAdd(key, rows[v], sum[i][v]);
        }
      }
#pragma GCC unroll 8
      for (int i = 0; i < B; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
          float* at = to + i * W + v * kLanes;
          hn::Store(begin == 0 ? sum[i][v] : hn::Add(hn::Load(d, at), sum[i][v]), d, at);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < B; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) highest[v] = hn::Max(highest[v], hn::Load(d, to + i * W + v * kLanes));
  }
}

/// o[c][width] = o·decay + Σ_j v[j][c]·scores[j][width].
template <int V>
HWY_INLINE void ValuesAcross(const Strip& strip, const KeyBlock& block, int first, int last,
                             const VF (&decay)[V]) {
  constexpr int B = Broadcasts(V), W = V * kLanes;
  const F32 d;
  for (int c = 0; c < block.head_dim_v; c += B) {
    VF sum[B][V];
#pragma GCC unroll 8
    for (int i = 0; i < B; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = hn::Zero(d);
    const float* p = strip.scores + first * W;
    const float* value = block.v + first * block.v_stride + c;
    for (int j = first; j < last; ++j, p += W, value += block.v_stride) {
      VF rows[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) rows[v] = hn::Load(d, p + v * kLanes);
#pragma GCC unroll 8
      for (int i = 0; i < B; ++i) {
        const VF broadcast = hn::Set(d, value[i]);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) sum[i][v] = hn::MulAdd(broadcast, rows[v], sum[i][v]);
      }
    }
    float* o = strip.o + c * W;
#pragma GCC unroll 8
    for (int i = 0; i < B; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        float* at = o + i * W + v * kLanes;
        hn::Store(hn::MulAdd(hn::Load(d, at), decay[v], sum[i][v]), d, at);
      }
  }
}

/// The softmax's new maximum, and what the old sums must be multiplied by. A row that has seen no key keeps
/// −inf.
HWY_INLINE VF NewMax(F32 d, VF old, VF highest, VF& base, VF& decay) {
  const VF next = hn::Max(old, highest);
  base = hn::IfThenZeroElse(hn::Eq(next, hn::Set(d, kNever)), next);
  decay = ExpOfNonPositive(d, hn::Sub(old, base));
  return next;
}

template <int V>
HWY_INLINE void AdvanceAcross(const Strip& strip, const KeyBlock& block, int first, int last, bool masked) {
  constexpr int W = V * kLanes;
  const F32 d;
  VF highest[V], base[V], decay[V], sum[V];
  ScoresAcross<V>(strip, block, first, last, highest);
  if (masked || block.softcap != 0.0f) {
    const I32 di;
    const VF cap = hn::Set(d, block.softcap), never = hn::Set(d, kNever);
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const auto begin = hn::LoadU(di, strip.key_begin + v * kLanes);
      const auto end = hn::LoadU(di, strip.key_end + v * kLanes);
      highest[v] = never;
      for (int j = first; j < last; ++j) {
        float* at = strip.scores + j * W + v * kLanes;
        VF s = hn::Load(d, at);
        if (block.softcap != 0.0f) s = hn::Mul(cap, Tanh(d, s));
        const auto key = hn::Set(di, j);
        const auto hidden = hn::Or(hn::Lt(key, begin), hn::Not(hn::Lt(key, end)));
        s = hn::IfThenElse(hn::RebindMask(d, hidden), never, s);
        hn::Store(s, d, at);
        highest[v] = hn::Max(highest[v], s);
      }
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    float* max = strip.max + v * kLanes;
    hn::StoreU(NewMax(d, hn::LoadU(d, max), highest[v], base[v], decay[v]), d, max);
    sum[v] = hn::Zero(d);
  }
  for (int j = first; j < last; ++j) {
    float* at = strip.scores + j * W;
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const VF p = ExpOfNonPositive(d, hn::Sub(hn::Load(d, at + v * kLanes), base[v]));
      hn::Store(p, d, at + v * kLanes);
      sum[v] = hn::Add(sum[v], p);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) {
    float* total = strip.sum + v * kLanes;
    hn::StoreU(hn::MulAdd(hn::LoadU(d, total), decay[v], sum[v]), d, total);
  }
  ValuesAcross<V>(strip, block, first, last, decay);
}

void Across(const Strip& strip, const KeyBlock& block, int first, int last, bool masked) {
  if constexpr (kStripVectors == 3) {
    if (strip.width == 3 * kLanes) return AdvanceAcross<3>(strip, block, first, last, masked);
    if (strip.width == 2 * kLanes) return AdvanceAcross<2>(strip, block, first, last, masked);
  }
  AdvanceAcross<1>(strip, block, first, last, masked);
}

/// scores[r][j] = q·k for keys [first, last).
template <int R>
HWY_INLINE void ScoresAlong(const Strip& strip, const KeyBlock& block, int first, int last) {
  constexpr int B = Keys(R);
  const F32 d;
  for (int j = first; j < last; j += B) {
    VF sum[B][R];
#pragma GCC unroll 8
    for (int i = 0; i < B; ++i)
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sum[i][r] = hn::Zero(d);
    const float* k = block.k + j * block.k_stride;
    for (int c = 0; c < block.head_dim; c += kLanes) {
      VF rows[R];
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) rows[r] = hn::Load(d, strip.q + r * block.k_stride + c);
#pragma GCC unroll 8
      for (int i = 0; i < B; ++i) {
        const VF key = hn::Load(d, k + i * block.k_stride + c);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) sum[i][r] = hn::MulAdd(key, rows[r], sum[i][r]);
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < B; ++i)
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r)
        strip.scores[r * block.score_stride + j + i] = hn::GetLane(hn::SumOfLanes(d, sum[i][r]));
  }
}

/// o[r][c] = o·decay + Σ_j scores[r][j]·v[j][c] for C vectors of columns.
template <int R, int C>
HWY_INLINE void ColumnsAlong(const Strip& strip, const KeyBlock& block, int first, int last, int column,
                             const VF (&decay)[R]) {
  const F32 d;
  VF sum[R][C];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) sum[r][c] = hn::Zero(d);
  const float* v = block.v + first * block.v_stride + column;
  for (int j = first; j < last; ++j, v += block.v_stride) {
    VF values[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) values[c] = hn::Load(d, v + c * kLanes);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const VF p = hn::Set(d, strip.scores[r * block.score_stride + j]);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) sum[r][c] = hn::MulAdd(p, values[c], sum[r][c]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      float* at = strip.o + r * block.v_stride + column + c * kLanes;
      hn::Store(hn::MulAdd(hn::Load(d, at), decay[r], sum[r][c]), d, at);
    }
}

template <int R>
HWY_INLINE void AdvanceAlong(const Strip& strip, const KeyBlock& block, int first, int last, bool masked) {
  constexpr int C = Columns(R);
  const F32 d;
  const I32 di;
  ScoresAlong<R>(strip, block, first, last);
  VF decay[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    float* scores = strip.scores + r * block.score_stride;
    const VF cap = hn::Set(d, block.softcap), never = hn::Set(d, kNever);
    const auto begin = hn::Set(di, strip.key_begin[r]), end = hn::Set(di, strip.key_end[r]);
    VF highest = never;
    for (int j = first; j < last; j += kLanes) {
      VF s = hn::Load(d, scores + j);
      if (block.softcap != 0.0f) s = hn::Mul(cap, Tanh(d, s));
      if (masked) {
        const auto key = hn::Iota(di, j);
        const auto hidden = hn::Or(hn::Lt(key, begin), hn::Not(hn::Lt(key, end)));
        s = hn::IfThenElse(hn::RebindMask(d, hidden), never, s);
      }
      hn::Store(s, d, scores + j);
      highest = hn::Max(highest, s);
    }
    VF base, sum = hn::Zero(d);
    const VF next = NewMax(d, hn::Set(d, strip.max[r]), hn::MaxOfLanes(d, highest), base, decay[r]);
    strip.max[r] = hn::GetLane(next);
    for (int j = first; j < last; j += kLanes) {
      const VF p = ExpOfNonPositive(d, hn::Sub(hn::Load(d, scores + j), base));
      hn::Store(p, d, scores + j);
      sum = hn::Add(sum, p);
    }
    strip.sum[r] = strip.sum[r] * hn::GetLane(decay[r]) + hn::GetLane(hn::SumOfLanes(d, sum));
  }
  int column = 0;
  for (; column + C * kLanes <= block.v_stride && column < block.head_dim_v; column += C * kLanes)
    ColumnsAlong<R, C>(strip, block, first, last, column, decay);
  for (; column < block.head_dim_v; column += kLanes)
    ColumnsAlong<R, 1>(strip, block, first, last, column, decay);
}

void Along(const Strip& strip, const KeyBlock& block, int first, int last, bool masked) {
  if constexpr (kStripRows == 4) {
    if (strip.width == 4) return AdvanceAlong<4>(strip, block, first, last, masked);
    if (strip.width == 3) return AdvanceAlong<3>(strip, block, first, last, masked);
    if (strip.width == 2) return AdvanceAlong<2>(strip, block, first, last, masked);
  }
  AdvanceAlong<1>(strip, block, first, last, masked);
}

void Load(DType dtype, const std::byte* const* rows, int number, int count, float* to, std::ptrdiff_t stride,
          int padded) {
  const F32 d;
  cpu::with_element(dtype, [&](auto tag) {
    using T = decltype(tag);
    for (int r = 0; r < number; ++r, to += stride) {
      const T* from = reinterpret_cast<const T*>(rows[r]);
      int c = 0;
      for (; c + kLanes <= count; c += kLanes) hn::StoreU(LoadF32(d, from + c), d, to + c);
      if (c < count) {
        hn::StoreU(LoadF32N(d, from + c, static_cast<size_t>(count - c)), d, to + c);
        c += kLanes;
      }
      for (; c < padded; c += kLanes) hn::StoreU(hn::Zero(d), d, to + c);
    }
  });
}

void Store(DType dtype, const float* from, std::byte* to, int count) {
  const F32 d;
  cpu::with_element(dtype, [&](auto tag) {
    using T = decltype(tag);
    T* out = reinterpret_cast<T*>(to);
    int c = 0;
    for (; c + kLanes <= count; c += kLanes) StoreF32(hn::LoadU(d, from + c), d, out + c);
    if (c < count) StoreF32N(hn::LoadU(d, from + c), d, out + c, static_cast<size_t>(count - c));
  });
}

const Kernels& Table() {
  static constexpr Kernels kernels = {.lanes = kLanes,
                                      .across_rows = kStripVectors * kLanes,
                                      .along_rows = kStripRows,
                                      .few_rows = kLanes / 2,
                                      .across = Across,
                                      .along = Along,
                                      .load = Load,
                                      .store = Store};
  return kernels;
}

}  // namespace isomer::ops::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::attention {

const cpu::PerTarget<KernelsFunction>& kernels() {
  static const cpu::PerTarget<KernelsFunction> table = ISOMER_PER_TARGET(Table);
  return table;
}

}  // namespace isomer::ops::attention
#endif
