// The softmax of a warpgroup's scores as they lie in accumulators: a lane has rows g and g + 8 of its warp's
// 16, g = lane / 4, and of every eight keys the two from lane % 4 · 2 on. x[4j] and x[4j + 1] are row g, keys
// 8j + …; x[4j + 2] and x[4j + 3] row g + 8.
#pragma once

#include "gpu/device/exponential.cuh"
#include "gpu/device/integer.cuh"
#include "gpu/device/mma.cuh"
#include "gpu/device/sm90/warpgroup_mma.cuh"
#include "ops/attention/kernels/attention_sm90_tiles.cuh"

namespace isomer::device::attention_sm90 {

/// A block's P with T's rounding, as kDepth keys for each product. Of 16-bit types two successive fragments
/// of S are such an operand; of e4m3 four, where the keys of each 16 stand in the order that
/// attention_sm90_turn.cuh gives V.
template <int kKeys, int kDepth = 16>
struct Weights {
  static constexpr int kProducts = kKeys / kDepth, kWords = 4 * kProducts;
  u32 of[kProducts][4];

  ISOMER_DEVICE void pin() {
#pragma unroll
    for (int k = 0; k < kProducts; ++k) sm90::pin(of[k]);
  }
  ISOMER_DEVICE u32& word(int i) { return of[i / 4][i % 4]; }
};

/// P comes from S and a reference for each row that need not be the row's maximum: out and lse divide it away
/// again. A row keeps its reference while its weights stay below what T and their sums hold.
struct Rows {
  f32 reference[2];
  f32 sum[2];     ///< of this lane's keys
  f32 factor[2];  ///< for Σ P·v, after the reference has moved
  i32 most[2];    ///< of e4m3: bits of this lane's largest P since references last moved, 0: 2^kShift or less
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

/// The bits of a whole number from 0 to 2048 as f16, which has them all.
constexpr u32 f16_bits(int whole) {
  if (whole == 0) return 0;
  int exponent = 0;
  while (whole >> exponent > 1) ++exponent;
  return static_cast<u32>(exponent + 15) << 10 | (static_cast<u32>(whole) << 10 >> exponent & 0x3ff);
}

/// A bound among the keys of a block, counted from a lane's own first key. Two successive keys meet it in one
/// instruction, as a pair of f16.
struct KeyBound {
  u32 bound;

  static ISOMER_DEVICE KeyBound of(int key) {
    const int whole = clamp(key, 0, 2048);
#if ISOMER_SM90
    KeyBound both;
    asm("{\n.reg .b16 half;\ncvt.rn.f16.s32 half, %1;\nmov.b32 %0, {half, half};\n}"
        : "=r"(both.bound)
        : "r"(whole));
    return both;
#else
    return {static_cast<u32>(whole)};
#endif
  }
  /// -inf in place of those of x and y, of `key` and the next one, that lie at the bound or behind it, or
  /// with kBefore, in front of it.
  template <bool kBefore>
  ISOMER_DEVICE void hide(int key, f32& x, f32& y) const {
#if ISOMER_SM90
    const u32 keys = f16_bits(key) | f16_bits(key + 1) << 16;
#define ISOMER_HIDE(compare)                                   \
  asm("{\n.reg .pred p, q;\nsetp." compare                     \
      ".f16x2 p|q, %2, %3;\nselp.f32 %0, %0, 0fFF800000, p;\n" \
      "selp.f32 %1, %1, 0fFF800000, q;\n}"                     \
      : "+f"(x), "+f"(y)                                       \
      : "r"(keys), "r"(bound))
    if constexpr (kBefore)
      ISOMER_HIDE("ge");
    else
      ISOMER_HIDE("lt");
#undef ISOMER_HIDE
#else
    const int whole = static_cast<int>(bound);
    if (kBefore ? key < whole : key >= whole) x = -infinity();
    if (kBefore ? key + 1 < whole : key + 1 >= whole) y = -infinity();
#endif
  }
};

/// Keys that are not seen: from the bounds on, or with kBefore, those before them, of the lane's first row
/// and of the other one.
template <bool kBefore, int N>
ISOMER_DEVICE void hide_keys(f32 (&x)[N], KeyBound bound, KeyBound other) {
#pragma unroll
  for (int j = 0; j < N / 4; ++j) {
    bound.hide<kBefore>(8 * j, x[4 * j], x[4 * j + 1]);
    other.hide<kBefore>(8 * j, x[4 * j + 2], x[4 * j + 3]);
  }
}
/// Keys from `high` on are not seen: `high` of the lane's first row and of the other one, counted from its
/// own first key.
template <int N>
ISOMER_DEVICE void mask_from(f32 (&x)[N], int high, int other) {
  hide_keys<false>(x, KeyBound::of(high), KeyBound::of(other));
}
/// Keys before `low` are not seen.
template <int N>
ISOMER_DEVICE void mask_below(f32 (&x)[N], int low, int other) {
  hide_keys<true>(x, KeyBound::of(low), KeyBound::of(other));
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
template <class T, class Scale, int kKeys, int N>
ISOMER_DEVICE bool softmax(const Scale& p, const f32 (&x)[N], Rows& rows, Weights<kKeys>& out) {
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

/// Of e4m3: P is 2^8 at the reference, so that the least of it that counts is 2^-18 of that.
constexpr f32 kShift = 8;

/// The first in the lowest byte.
ISOMER_DEVICE u32 bytes_of(f32 a, f32 b, f32 c, f32 d) {
  return static_cast<u32>(Pair<e4m3fn>::of(a, b)) | static_cast<u32>(Pair<e4m3fn>::of(c, d)) << 16;
}

/// The largest P that is nearest to one that e4m3 holds, 448.
constexpr f32 kMostWeight = 464.0f;

/// The larger of `most` and the bits of a row's weights in x: none is below 0, so they are ordered as
/// integers are, and a NaN is above all.
template <int N>
ISOMER_DEVICE i32 largest_bits(const f32 (&x)[N], int r, i32 most) {
#pragma unroll
  for (int j = 0; j < N / 4; ++j)
    most = largest_of(most, static_cast<i32>(bits_of(x[4 * j + 2 * r])),
                      static_cast<i32>(bits_of(x[4 * j + 2 * r + 1])));
  return most;
}

/// References for rows that have seen no key before: this block's maxima.
template <class Scale, int N>
ISOMER_DEVICE void set_references(const Scale& p, const f32 (&x)[N], Rows& rows) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const f32 max = fmaxf(row_max(x, r, -infinity()), p.lowest);
    if (rows.reference[r] <= p.lowest) rows.reference[r] = max;
  }
}

/// log2 of P at a row's reference, and what P becomes at one that has been raised: more than 2, so that a
/// power that f32 holds is brought down to it by a factor that f32 has, too.
template <class T>
constexpr f32 kAtReference = sizeof(T) == 1 ? kShift : 0.0f;
template <class T>
constexpr f32 kRaised = sizeof(T) == 1 ? kShift : 2.0f;

/// Powers of a block in place of S, before they are rounded, and their sums: while a power is computed there
/// is time for them. True where P has outgrown a reference: of e4m3 where a power is more than it holds, of
/// 16 bits where the sum of a lane's says so, or where one is a NaN.
template <class T, class Scale, int N>
ISOMER_DEVICE bool take_powers(const Scale& p, f32 (&x)[N], Rows& rows) {
  constexpr bool kBytes = sizeof(T) == 1;
  const f32 base0 = fmaf(rows.reference[0], p.scale_log2, -kAtReference<T>),
            base1 = fmaf(rows.reference[1], p.scale_log2, -kAtReference<T>);
  if constexpr (kBytes) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      x[i] = exp2_fast(fmaf(x[i], p.scale_log2, i % 4 < 2 ? -base0 : -base1));
      rows.sum[i / 2 % 2] += x[i];  // more sums would stand behind all powers, for want of registers
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) rows.most[r] = largest_bits(x, r, rows.most[r]);
    return any_lane(largest_of(rows.most[0], rows.most[1], 0) > static_cast<i32>(bits_of(kMostWeight)));
  }
  f32 sums[4];
#pragma unroll
  for (int i = 0; i < N; ++i) {
    x[i] = exp2_fast(fmaf(x[i], p.scale_log2, i % 4 < 2 ? -base0 : -base1));
    sums[i % 4] = i < 4 ? x[i] : sums[i % 4] + x[i];
  }
  sums[0] += sums[1];
  sums[2] += sums[3];
  rows.sum[0] += sums[0];
  rows.sum[1] += sums[2];
  return any_lane(!(sums[0] <= kMostSum && sums[2] <= kMostSum));
}

/// Where P has outgrown a reference, the rows of the warp are multiplied by what their references rise by,
/// and no power is taken again; Σ P·v has to be, by rows.factor. Of e4m3 every row of the warp is raised to
/// its largest P so far, so that fewer of them outgrow their references later. A row that rises out of f32's
/// range in one block, or whose sum does, has the reference +inf from there on: it is counted again on the
/// way out.
template <class T, class Scale, int N>
ISOMER_DEVICE void raise_references(const Scale& p, f32 (&x)[N], Rows& rows) {
  constexpr bool kBytes = sizeof(T) == 1;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    i32 bits = kBytes ? rows.most[r] : largest_bits(x, r, 0);
    rows.most[r] = 0;
    bits = largest_of(bits, shuffle_xor(bits, 1), 0);
    bits = largest_of(bits, shuffle_xor(bits, 2), 0);
    const f32 max = f32_of(static_cast<u32>(bits));
    rows.factor[r] = 1.0f;
    if (max > (kBytes ? 0x1p8f : 0x1p2f)) {  // 2^kRaised; no NaN
      const f32 rise = log2_fast(max) - kRaised<T>;
      rows.factor[r] = exp2_fast(-rise);  // the reciprocal of more than 2^126 would be 0
      rows.reference[r] += rise * reciprocal_fast(p.scale_log2);
    }
    if (rows.sum[r] == infinity()) rows.reference[r] = infinity();
    rows.sum[r] *= rows.factor[r];
  }
#pragma unroll
  for (int i = 0; i < N; ++i) x[i] *= rows.factor[i / 2 % 2];
}

/// Of a tile's first block: its maxima are the references. x becomes P. `shift`: log2 of P there.
template <class Scale, int N>
ISOMER_DEVICE void softmax_first(const Scale& p, f32 (&x)[N], Rows& rows, f32 shift = 0) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    rows.reference[r] = fmaxf(row_max(x, r, -infinity()), p.lowest);
    const f32 base = rows.reference[r] * p.scale_log2 - shift;
    f32 a = 0.0f, b = 0.0f;
#pragma unroll
    for (int j = 0; j < N / 4; ++j) {
      a += x[4 * j + 2 * r] = exp2_fast(fmaf(x[4 * j + 2 * r], p.scale_log2, -base));
      b += x[4 * j + 2 * r + 1] = exp2_fast(fmaf(x[4 * j + 2 * r + 1], p.scale_log2, -base));
    }
    rows.sum[r] = a + b;
    rows.most[r] = 0;
  }
  sm90::pin(rows.sum);  // so that sums stand beside the powers, not behind what the tile before leaves
}

template <class T, int kKeys, int N>
ISOMER_DEVICE void round_weights(const f32 (&x)[N], Weights<kKeys, 32>& out) {
#pragma unroll
  for (int j = 0; j < kKeys / 8; j += 2)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int i = (4 * j + 2 * r) % N;
      out.of[j / 4][j % 4 + r] = 4 * j < N ? bytes_of(x[i], x[i + 1], x[i + 4], x[i + 5]) : 0u;
    }
  out.pin();
}
template <class T, int kKeys, int N>
ISOMER_DEVICE void round_weights(const f32 (&x)[N], Weights<kKeys>& out) {
#pragma unroll
  for (int i = 0; i < kKeys / 4; ++i)
    out.word(i) = 2 * i < N ? pack<T>(x[2 * i % N], x[(2 * i + 1) % N]) : 0u;
  out.pin();
}

}  // namespace isomer::device::attention_sm90
