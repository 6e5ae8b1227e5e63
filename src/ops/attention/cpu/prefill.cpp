// S = Q·Kᵀ, online softmax and O += P·V for one strip of query rows and one block of keys, one row per lane.
// The sums of both products stay in registers; a block's P·V is summed on its own and then joins O, so that
// the rounding of long sums grows with the blocks, not with the keys.
#include "ops/attention/cpu/kernel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention/cpu/prefill.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/int8-inl.hpp"
#include "cpu/vector-inl.hpp"
#include "ops/attention/cpu/softmax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::attention::HWY_NAMESPACE {

constexpr int kStripVectors = kPortable ? 1 : 3;

/// Broadcasts that meet `vectors` vectors of rows: at least 8 sums, to hide the latency of two FMAs a cycle,
/// and no more than there are registers.
constexpr int Broadcasts(int vectors) { return kPortable ? 2 : kManyRegisters || vectors == 1 ? 8 : 4; }

/// Products of one logit that are summed in one run: runs are summed on their own, because rounding errors
/// grow with the length of a sum.
constexpr int kRun = 64;

/// scores[j][width] = q·k for keys [first, last), and their maximum per row.
template <int V>
HWY_INLINE void ScoresPrefill(const Strip& strip, const PackedKeys& keys, int first, int last,
                              VF (&highest)[V]) {
  constexpr int B = Broadcasts(V), W = V * kLanes;
  const F32 d;
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) highest[v] = hn::Set(d, kNever);
  for (int j = first; j < last; j += B) {
    const float* q = strip.q;
    const float* k = keys.k + j * keys.k_stride;
    float* to = strip.scores + j * W;
    for (int begin = 0; begin < strip.head_dim; begin += kRun) {
      VF sum[B][V];
#pragma GCC unroll 8
      for (int i = 0; i < B; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) sum[i][v] = hn::Zero(d);
      for (int c = begin; c < HWY_MIN(begin + kRun, strip.head_dim); ++c, q += W, ++k) {
        VF rows[V];
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) rows[v] = hn::Load(d, q + v * kLanes);
#pragma GCC unroll 8
        for (int i = 0; i < B; ++i) {
          const VF key = hn::Set(d, k[i * keys.k_stride]);
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
HWY_INLINE void ValuesPrefill(const Strip& strip, const PackedKeys& keys, int first, int last,
                              const VF (&decay)[V]) {
  constexpr int B = Broadcasts(V), W = V * kLanes;
  const F32 d;
  for (int c = 0; c < strip.head_dim_v; c += B) {
    VF sum[B][V];
#pragma GCC unroll 8
    for (int i = 0; i < B; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) sum[i][v] = hn::Zero(d);
    const float* p = strip.scores + first * W;
    const float* value = keys.v + first * keys.v_stride + c;
    for (int j = first; j < last; ++j, p += W, value += keys.v_stride) {
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

template <int V>
HWY_INLINE void AdvancePrefill(const Strip& strip, const PackedKeys& keys, int first, int last, bool masked) {
  constexpr int W = V * kLanes;
  const F32 d;
  VF highest[V], base[V], decay[V], sum[V];
  ScoresPrefill<V>(strip, keys, first, last, highest);
  if (masked || strip.softcap != 0.0f) {
    const I32 di;
    const VF cap = hn::Set(d, strip.softcap);
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const auto begin = hn::LoadU(di, strip.key_begin + v * kLanes);
      const auto end = hn::LoadU(di, strip.key_end + v * kLanes);
      highest[v] = hn::Set(d, kNever);
      for (int j = first; j < last; ++j) {
        float* at = strip.scores + j * W + v * kLanes;
        VF s = hn::Load(d, at);
        if (strip.softcap != 0.0f) s = hn::Mul(cap, Tanh(d, s));
        if (masked) s = Hide(d, s, hn::Set(di, j), begin, end);
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
  ValuesPrefill<V>(strip, keys, first, last, decay);
}

void Prefill(const Strip& strip, const PackedKeys& keys, int first, int last, bool masked) {
  if constexpr (kStripVectors == 3) {
    if (strip.width == 3 * kLanes) return AdvancePrefill<3>(strip, keys, first, last, masked);
    if (strip.width == 2 * kLanes) return AdvancePrefill<2>(strip, keys, first, last, masked);
  }
  AdvancePrefill<1>(strip, keys, first, last, masked);
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

void LoadInt8Rows(const Int8Rows& rows, int number, int count, float* to, std::ptrdiff_t stride, int padded) {
  for (int r = 0; r < number; ++r)
    LoadInt8(reinterpret_cast<const std::int8_t*>(rows.rows[r]), rows.scales[r], rows.scale_type, rows.step,
             count, to + r * stride, padded);
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

PrefillKernels PrefillTable() { return {kLanes, kStripVectors * kLanes, Prefill, Load, LoadInt8Rows, Store}; }

}  // namespace isomer::ops::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::attention {

const cpu::PerTarget<PrefillKernels (*)()>& prefill_kernels() {
  static const cpu::PerTarget<PrefillKernels (*)()> table = ISOMER_PER_TARGET(PrefillTable);
  return table;
}

}  // namespace isomer::ops::attention
#endif
