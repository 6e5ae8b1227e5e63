// y = sin(x), elementwise. A thread takes a few vectors of rows, all read before the first is written; short
// rows share a block. Vectors are 16 bytes where both views' rows are contiguous and aligned, else single
// elements.
#include "gpu/device/pairs.cuh"
#include "gpu/device/portable.cuh"
#include "ops/sin/kernels/sin.h"
#include "ops/sin/kernels/sine.cuh"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kVector = ISOMER_VECTOR, kUnroll = ISOMER_UNROLL,
              kDims = ISOMER_DIMS;
constexpr bool kRagged = ISOMER_RAGGED;  // rows are no multiple of the vector
using Element = ISOMER_ELEMENT;
using Index = ISOMER_INDEX;
using Values = Vector<Element, kVector>;

/// To far better than the 11 bits of f16 and the 8 of bf16: x less its nearest multiple of π in two steps,
/// then a polynomial of degree 9. Up to 2^17.
ISOMER_DEVICE f32 short_sine(f32 x) {
  constexpr f32 kShift = 12582912.0f;  // 1.5 · 2^23: a sum with it has the nearest integer in its low bits
  const f32 shifted = fmaf(x, 0.318309886f, kShift), multiple = shifted - kShift;
  const f32 rest = fmaf(-multiple, -8.74227766e-8f, fmaf(-multiple, 3.14159274f, x)), square = rest * rest;
  f32 ratio = fmaf(square, 2.75573192e-6f, -1.98412698e-4f);
  ratio = fmaf(square, ratio, 8.33333333e-3f);
  ratio = fmaf(square, ratio, -1.66666667e-1f);
  const f32 sine = rest * fmaf(square, ratio, 1.0f);
  return f32_of(bits_of(sine) ^ bits_of(shifted) << 31);  // odd multiples of π turn the sign
}
/// The bits of the largest magnitude that the short sine serves; 0 where the type asks for more.
template <class T>
struct Short {
  static constexpr u32 kMost = 0;
};
template <>
struct Short<f16> {
  static constexpr u32 kMost = 0x7bff;  // every finite one
};
template <>
struct Short<bf16> {
  static constexpr u32 kMost = 0x4800;  // 2^17
};
constexpr bool kShort = Short<Element>::kMost != 0;

/// Whether no magnitude is above kMost; NaN is. Two 16-bit elements at a time: with its top bit set kMost is
/// not below any magnitude, and their difference keeps that bit where kMost alone is not.
ISOMER_DEVICE bool all_served(const Values (&in)[kUnroll]) {
  constexpr u32 kMost = (0x8000u + Short<Element>::kMost) * (kVector > 1 ? 0x10001u : 1u);
  constexpr u32 kTops = kVector > 1 ? 0x80008000u : 0x8000u;
  u32 tops = kTops;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u)
#pragma unroll
    for (int i = 0; i < kVector; i += 2) {
      u32 pair = 0;
      copy_bytes(&pair, &in[u].of[i], kVector > 1 ? 4 : 2);
      tops &= kMost - (pair & 0x7fff7fffu);
    }
  return (tops & kTops) == kTops;
}

struct Place {
  i64 x, y;
  i64 left;  ///< elements of the row from here on
};

ISOMER_DEVICE Place place_of(Index vector, const SinParameters& p) {
  Place place{0, 0, p.length};
#pragma unroll
  for (int d = 0; d < kDims; ++d) {
    Index inside = vector;
    if (d + 1 < kDims) {
      vector = quotient_of(vector, p.size[d]);
      inside -= vector * static_cast<Index>(p.size[d].value);
    }
    place.x += static_cast<i64>(inside) * p.x_stride[d];
    place.y += static_cast<i64>(inside) * p.y_stride[d];
    if (kRagged && d == 0) place.left -= static_cast<i64>(inside) * kVector;
  }
  return place;
}

extern "C" __global__ void __launch_bounds__(kThreads) isomer_sin(const SinParameters p) {
  const Index first = static_cast<Index>(blockIdx.x) * (kThreads * kUnroll) + static_cast<Index>(threadIdx.x);
  const auto last = static_cast<Index>(p.vectors - 1);
  const Element* x = static_cast<const Element*>(p.x);
  Element* y = static_cast<Element*>(p.y);
  if (first > last) return;
  // Past the end a thread reads its first vector again, so that no branch stands between the reads. Another's
  // may be overwritten already: y may be x.
  const auto place_at = [&](int u) {
    const Index index = first + static_cast<Index>(u * kThreads);
    return place_of(index <= last ? index : first, p);
  };
  Values in[kUnroll] = {};
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const Place place = place_at(u);
    if (!kRagged || place.left >= kVector) in[u] = load_once<kVector>(x + place.x);
  }
  Values out[kUnroll];
  // Asked of all elements together, so that every read is under way before one is used.
  bool served = false;
  if constexpr (kShort) served = all_served(in);
  if (served) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      f32 values[kVector];
      to_f32(in[u], values);
#pragma unroll
      for (int i = 0; i < kVector; ++i) values[i] = short_sine(values[i]);
      out[u] = from_f32<Element>(values);
    }
  } else if constexpr (kShort) {
#pragma unroll 1
    for (int n = 0; n < kUnroll * kVector; ++n) {
      f32 x = 0;
#pragma unroll
      for (int m = 0; m < kUnroll * kVector; ++m) x = m == n ? to_f32(in[m / kVector].of[m % kVector]) : x;
      const Element sine = from_f32<Element>(sinf(x));
#pragma unroll
      for (int m = 0; m < kUnroll * kVector; ++m)
        if (m == n) out[m / kVector].of[m % kVector] = sine;
    }
  } else {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) out[u].of[i] = from_f32<Element>(sine(to_f32(in[u].of[i])));
    }
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    if (first + static_cast<Index>(u * kThreads) > last) return;
    const Place place = place_at(u);
    if (!kRagged || place.left >= kVector) {
      store<kVector>(y + place.y, out[u]);
    } else {
#pragma unroll 1
      for (int i = 0; i < static_cast<int>(place.left); ++i)
        y[place.y + i] = from_f32<Element>(sinf(to_f32(x[place.x + i])));
    }
  }
}

}  // namespace isomer::device
