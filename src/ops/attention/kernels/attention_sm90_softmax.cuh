// The softmax of a warpgroup's scores as they lie in accumulators: a lane has rows g and g + 8 of its warp's
// 16, g = lane / 4, and of every eight keys the two from lane % 4 · 2 on. x[4j] and x[4j + 1] are row g, keys
// 8j + …; x[4j + 2] and x[4j + 3] row g + 8.
#pragma once

#include "gpu/device/exponential.cuh"
#include "gpu/device/mma.cuh"
#include "ops/attention/kernels/attention_sm90_tiles.cuh"

namespace isomer::device::attention_sm90 {

/// A block's P with T's rounding, as 16 keys for each product: two successive fragments of S are such an
/// operand.
template <int kKeys>
struct Weights {
  u32 of[kKeys / 16][4];

  ISOMER_DEVICE void pin() {
#pragma unroll
    for (int k = 0; k < kKeys / 16; ++k) sm90::pin(of[k]);
  }
  ISOMER_DEVICE u32& word(int i) { return of[i / 4][i % 4]; }
};

/// P comes from S and a reference for each row that need not be the row's maximum: out and lse divide it away
/// again. A row keeps its reference while its weights stay below what T and their sums hold.
struct Rows {
  f32 reference[2];
  f32 sum[2];     ///< of this lane's keys
  f32 factor[2];  ///< for Σ P·v, after the reference has moved
};

/// A sum of a lane's weights above it says that the reference is too low.
constexpr f32 kMostSum = 4096.0f;

template <int N>
ISOMER_DEVICE f32 row_max(const f32 (&x)[N], int r, f32 a) {
  f32 b = a;
#pragma unroll
  for (int j = 0; j < N / 4; ++j) {
    a = fmaxf(a, x[4 * j + 2 * r]);
    b = fmaxf(b, x[4 * j + 2 * r + 1]);
  }
  a = fmaxf(a, b);
  a = fmaxf(a, shuffle_xor(a, 1));
  return fmaxf(a, shuffle_xor(a, 2));
}

/// Keys from `high` on are not seen: `high` of the lane's first row and of the other one, counted from its
/// own first key.
template <int N>
ISOMER_DEVICE void mask_from(f32 (&x)[N], int high, int other) {
#pragma unroll
  for (int j = 0; j < N / 4; ++j) {
    if (8 * j >= high) x[4 * j] = -infinity();
    if (8 * j + 1 >= high) x[4 * j + 1] = -infinity();
    if (8 * j >= other) x[4 * j + 2] = -infinity();
    if (8 * j + 1 >= other) x[4 * j + 3] = -infinity();
  }
}
/// Keys before `low` are not seen.
template <int N>
ISOMER_DEVICE void mask_below(f32 (&x)[N], int low, int other) {
#pragma unroll
  for (int j = 0; j < N / 4; ++j) {
    if (8 * j < low) x[4 * j] = -infinity();
    if (8 * j + 1 < low) x[4 * j + 1] = -infinity();
    if (8 * j < other) x[4 * j + 2] = -infinity();
    if (8 * j + 1 < other) x[4 * j + 3] = -infinity();
  }
}

/// P = 2^(scale·(S − reference)) into `out`, its row sums into `sum`; S stays.
template <class T, int kKeys, int N>
ISOMER_DEVICE void weigh(const f32 (&x)[N], f32 scale_log2, const f32 (&reference)[2], Weights<kKeys>& out,
                         f32 (&sum)[2]) {
  const f32 base0 = reference[0] * scale_log2, base1 = reference[1] * scale_log2;
  f32 a0 = 0.0f, a1 = 0.0f, b0 = 0.0f, b1 = 0.0f;
#pragma unroll
  for (int j = 0; j < N / 4; ++j) {
    const f32 e0 = exp2_fast(fmaf(x[4 * j], scale_log2, -base0)),
              e1 = exp2_fast(fmaf(x[4 * j + 1], scale_log2, -base0));
    const f32 e2 = exp2_fast(fmaf(x[4 * j + 2], scale_log2, -base1)),
              e3 = exp2_fast(fmaf(x[4 * j + 3], scale_log2, -base1));
    a0 += e0;
    a1 += e1;
    b0 += e2;
    b1 += e3;
    out.word(2 * j) = pack<T>(e0, e1);
    out.word(2 * j + 1) = pack<T>(e2, e3);
  }
  sum[0] = a0 + a1;
  sum[1] = b0 + b1;
}

/// Of a block that is not the tile's first: it trusts the old references and lets the sums tell whether P has
/// outgrown one; only then are maxima taken. True where Σ P·v must be multiplied by rows.factor.
template <class T, int kKeys, int N>
ISOMER_DEVICE bool softmax(const Parameters& p, const f32 (&x)[N], Rows& rows, Weights<kKeys>& out) {
  f32 sum[2];
  weigh<T>(x, p.scale_log2, rows.reference, out, sum);
  const bool grown = any_lane(!(sum[0] <= kMostSum && sum[1] <= kMostSum));  // NaN counts as grown
  if (grown) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const f32 max = fmaxf(row_max(x, r, rows.reference[r]), p.lowest);
      rows.factor[r] = exp2_fast((rows.reference[r] - max) * p.scale_log2);
      rows.sum[r] *= rows.factor[r];
      rows.reference[r] = max;
    }
    weigh<T>(x, p.scale_log2, rows.reference, out, sum);
  }
  rows.sum[0] += sum[0];
  rows.sum[1] += sum[1];
  return grown;
}

/// Of a tile's first block: its maxima are the references. x becomes P.
template <int N>
ISOMER_DEVICE void softmax_first(const Parameters& p, f32 (&x)[N], Rows& rows) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    rows.reference[r] = fmaxf(row_max(x, r, -infinity()), p.lowest);
    const f32 base = rows.reference[r] * p.scale_log2;
    f32 a = 0.0f, b = 0.0f;
#pragma unroll
    for (int j = 0; j < N / 4; ++j) {
      a += x[4 * j + 2 * r] = exp2_fast(fmaf(x[4 * j + 2 * r], p.scale_log2, -base));
      b += x[4 * j + 2 * r + 1] = exp2_fast(fmaf(x[4 * j + 2 * r + 1], p.scale_log2, -base));
    }
    rows.sum[r] = a + b;
  }
}

template <class T, int kKeys, int N>
ISOMER_DEVICE void round_weights(const f32 (&x)[N], Weights<kKeys>& out) {
#pragma unroll
  for (int i = 0; i < kKeys / 4; ++i)
    out.word(i) = 2 * i < N ? pack<T>(x[2 * i % N], x[(2 * i + 1) % N]) : 0u;
  out.pin();
}

}  // namespace isomer::device::attention_sm90
