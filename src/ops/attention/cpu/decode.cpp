// S = Q·Kᵀ, online softmax and O += P·V for one, two or four query rows of one kv head and one block of keys,
// vectors along the head dimension: decode. Keys and values are converted as they are read, and the next
// block's are fetched meanwhile, because memory sets the pace here.
#include "ops/attention/cpu/kernel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention/cpu/decode.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/vector-inl.hpp"
#include "ops/attention/cpu/softmax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::attention::HWY_NAMESPACE {

constexpr int kStripRows = kPortable ? 1 : 4;

/// Sums in registers, as in prefill: so many keys meet `rows` rows for the scores …
constexpr int Keys(int rows) { return kPortable ? 2 : rows == 1 ? 8 : rows == 2 || kManyRegisters ? 4 : 2; }
/// … and so many vectors of columns for the values.
constexpr int Columns(int rows) { return kPortable ? 1 : rows == 1 ? 8 : rows == 2 ? 4 : 2; }

/// Asks for part of a row.
HWY_INLINE void Fetch(const std::byte* row, std::ptrdiff_t bytes) {
  for (std::ptrdiff_t line = 0; line < bytes; line += 64) __builtin_prefetch(row + line);
}

template <class T>
HWY_INLINE const T* RowOf(const std::byte* const* rows, int j, std::ptrdiff_t offset) {
  return reinterpret_cast<const T*>(rows[j] + offset);
}

/// scores[r][j] = q·k for keys [first, last).
template <class T, int R>
HWY_INLINE void ScoresDecode(const Strip& strip, const KeyRows& keys, int first, int last) {
  constexpr int B = Keys(R);
  const F32 d;
  const int whole = strip.head_dim / kLanes * kLanes;
  for (int j = first; j < last; j += B) {
    const T* k[B];
    VF sum[B][R];
#pragma GCC unroll 8
    for (int i = 0; i < B; ++i) {
      k[i] = RowOf<T>(keys.k, j + i, keys.k_offset);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sum[i][r] = hn::Zero(d);
    }
    const auto columns = [&](int c, auto load) {
      // A line at a time, lest the fetches queue up before the products.
      if (keys.next != nullptr && c * sizeof(T) % 64 == 0 && c < strip.head_dim_v)
        for (int i = 0; i < B; ++i) __builtin_prefetch(RowOf<T>(keys.v, j + i, keys.v_offset) + c);
      VF rows[R];
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) rows[r] = hn::Load(d, strip.q + r * strip.q_stride + c);
#pragma GCC unroll 8
      for (int i = 0; i < B; ++i) {
        const VF key = load(k[i] + c);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) sum[i][r] = hn::MulAdd(key, rows[r], sum[i][r]);
      }
    };
    for (int c = 0; c < whole; c += kLanes) columns(c, [&](const T* at) { return LoadF32(d, at); });
    if constexpr (kLanes > 8)
      if (whole < strip.head_dim)
        columns(whole,
                [&](const T* at) { return LoadF32N(d, at, static_cast<size_t>(strip.head_dim - whole)); });
#pragma GCC unroll 8
    for (int i = 0; i < B; ++i)
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r)
        strip.scores[r * strip.score_stride + j + i] = hn::GetLane(hn::SumOfLanes(d, sum[i][r]));
  }
}

/// o[r][c] = o·decay + Σ_j scores[r][j]·v[j][c] for C whole vectors of columns, or one that is not whole.
template <class T, int R, int C, bool kWhole>
HWY_INLINE void ColumnsDecode(const Strip& strip, const KeyRows& keys, int first, int last, int column,
                              const VF (&decay)[R]) {
  const F32 d;
  VF sum[R][C];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) sum[r][c] = hn::Zero(d);
  for (int j = first; j < last; ++j) {
    const T* v = RowOf<T>(keys.v, j, keys.v_offset) + column;
    if (keys.next != nullptr)
      Fetch(keys.next[j] + keys.next_offset + column * static_cast<std::ptrdiff_t>(sizeof(T)),
            C * kLanes * static_cast<std::ptrdiff_t>(sizeof(T)));
    VF values[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c)
      values[c] = kWhole ? LoadF32(d, v + c * kLanes)
                         : LoadF32N(d, v, static_cast<size_t>(strip.head_dim_v - column));
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const VF p = hn::Set(d, strip.scores[r * strip.score_stride + j]);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) sum[r][c] = hn::MulAdd(p, values[c], sum[r][c]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      float* at = strip.o + r * strip.o_stride + column + c * kLanes;
      hn::Store(hn::MulAdd(hn::Load(d, at), decay[r], sum[r][c]), d, at);
    }
}

/// Logits to P, row by row; what the older sums are worth after it.
template <int R>
HWY_NOINLINE void SoftmaxDecode(const Strip& strip, int first, int last, bool masked, VF (&decay)[R]) {
  const F32 d;
  const I32 di;
  const VF cap = hn::Set(d, strip.softcap);
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    float* scores = strip.scores + r * strip.score_stride;
    const auto begin = hn::Set(di, strip.key_begin[r]), end = hn::Set(di, strip.key_end[r]);
    VF highest = hn::Set(d, kNever);
    for (int j = first; j < last; j += kLanes) {
      VF s = hn::Load(d, scores + j);
      if (strip.softcap != 0.0f) s = hn::Mul(cap, Tanh(d, s));
      if (masked) s = Hide(d, s, hn::Iota(di, j), begin, end);
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
}

template <class T, int R>
HWY_INLINE void AdvanceDecode(const Strip& strip, const KeyRows& keys, int first, int last, bool masked) {
  constexpr int C = Columns(R);
  VF decay[R];
  ScoresDecode<T, R>(strip, keys, first, last);
  SoftmaxDecode<R>(strip, first, last, masked, decay);
  int column = 0;
  for (; column + C * kLanes <= strip.head_dim_v; column += C * kLanes)
    ColumnsDecode<T, R, C, true>(strip, keys, first, last, column, decay);
  if constexpr (C > 1)
    for (; column + kLanes <= strip.head_dim_v; column += kLanes)
      ColumnsDecode<T, R, 1, true>(strip, keys, first, last, column, decay);
  if constexpr (kLanes > 8)
    if (column < strip.head_dim_v) ColumnsDecode<T, R, 1, false>(strip, keys, first, last, column, decay);
}

void Decode(const Strip& strip, const KeyRows& keys, int first, int last, bool masked) {
  cpu::with_element(keys.dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (kStripRows == 4) {
      if (strip.width == 4) return AdvanceDecode<T, 4>(strip, keys, first, last, masked);
      if (strip.width == 2) return AdvanceDecode<T, 2>(strip, keys, first, last, masked);
    }
    AdvanceDecode<T, 1>(strip, keys, first, last, masked);
  });
}

DecodeKernels DecodeTable() { return {kStripRows, kLanes, Decode}; }

}  // namespace isomer::ops::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::attention {

const cpu::PerTarget<DecodeKernels (*)()>& decode_kernels() {
  static const cpu::PerTarget<DecodeKernels (*)()> table = ISOMER_PER_TARGET(DecodeTable);
  return table;
}

Kernels kernels(cpu::Target target) {
  const PrefillKernels prefill = prefill_kernels()[target]();
  const DecodeKernels decode = decode_kernels()[target]();
  return {.lanes = prefill.lanes,
          .prefill_rows = prefill.rows,
          .decode_rows = decode.rows,
          .few_rows = decode.few_rows,
          .prefill = prefill.run,
          .decode = decode.run,
          .load = prefill.load,
          .load_int8 = prefill.load_int8,
          .store = prefill.store};
}

}  // namespace isomer::ops::attention
#endif
