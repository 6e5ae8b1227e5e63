// Sixteen lanes take a block of 128 at a time and keep it in registers: eight gates and eight factors a lane,
// the maximum of the products by shuffles, then the quotients. Vectors are 16 bytes of x where every block of
// x and y is aligned for them, else single elements.
#include "gpu/device/exponential.cuh"
#include "gpu/device/overlap.cuh"
#include "gpu/device/pairs.cuh"
#include "gpu/device/portable.cuh"
#include "gpu/device/power_of_two.cuh"
#include "gpu/device/quotient.cuh"
#include "gpu/device/reduce.cuh"
#include "ops/silu_mul_quant/kernels/silu_mul_quant.h"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kVector = ISOMER_VECTOR;
constexpr int kBlock = 128, kLanes = 16, kOwn = kBlock / kLanes, kVectors = kOwn / kVector;
constexpr int kGroups = kThreads / kLanes;
using Element = ISOMER_ELEMENT;

/// e^x for x ≤ 0, within 2^-21: the rounding of x · log2(e) is made good by a factor next to 1.
ISOMER_DEVICE f32 exp_of_non_positive(f32 x) {
  constexpr f32 kRestOfLog2E = 1.925963033500e-8f;  // log2(e) − kLog2E
  const f32 power = x * kLog2E;
  const f32 rest = fmaf(x, kRestOfLog2E, fmaf(x, kLog2E, -power));
  const f32 whole = exp2_fast(power);
  // −inf leaves no rest.
  return x < -1e4f ? whole : fmaf(whole, rest * kLn2, whole);
}

/// x / (1 + e^-x), by an exponential that cannot overflow: for x below 0 it is x·e^x / (1 + e^x).
ISOMER_DEVICE f32 silu(f32 x) {
  const f32 e = exp_of_non_positive(-fabsf(x));
  return (x < 0 ? x * e : x) * reciprocal_fast(1.0f + e);
}

extern "C" __global__ void __launch_bounds__(kThreads) isomer_silu_mul_quant(const SiluMulQuantParameters p) {
  wait_for_previous();
  let_next_begin();
  using Index = ISOMER_INDEX;
  const int group = static_cast<int>(threadIdx.x) / kLanes, member = static_cast<int>(threadIdx.x) % kLanes;
  const Index index = static_cast<Index>(blockIdx.x) * kGroups + static_cast<Index>(group);
  // Lanes behind the end, and of rows that are not there, take part in the shuffles with zeros.
  bool there = index < static_cast<Index>(p.blocks);
  const Index flat = there ? quotient_of(index, p.blocks_of_row) : Index{0};
  const i64 column = static_cast<i64>(index - flat * static_cast<Index>(p.blocks_of_row.value));
  const Index entry_index = quotient_of(flat, p.rows_of_entry);
  const i64 entry = static_cast<i64>(entry_index);
  const i64 row = static_cast<i64>(flat - entry_index * static_cast<Index>(p.rows_of_entry.value));
  if (there && p.row_counts != nullptr) there = row < p.row_counts[entry * p.count_step];
  const auto offset = [&](const SiluMulQuantParameters::Strides& at) {
    return entry * at.entry + row * at.row + column * at.block;
  };

  f32 h[kVectors][kVector] = {};
  f32 most = 0;
  if (there) {
    const Element* const gate = static_cast<const Element*>(p.x) + offset(p.x_at) + member * kVector;
    Vector<Element, kVector> gates[kVectors], factors[kVectors];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      gates[v] = load_once<kVector>(gate + v * kLanes * kVector);
      factors[v] = load_once<kVector>(gate + p.half + v * kLanes * kVector);
    }
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      f32 factor[kVector];
      to_f32(gates[v], h[v]);
      to_f32(factors[v], factor);
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        h[v][i] = silu(h[v][i]) * factor[i];
        most = max_with_nan(most, fabsf(h[v][i]));
      }
    }
  }
  most = max_with_nan_lanes<kLanes>(most);
  if (!there) return;
  const f32 amax = most < p.amax_floor ? p.amax_floor : most;  // NaN stays
  f32 scale = amax / 448.0f;
  if (p.power_of_two) scale = power_of_two_above(scale);
  if (member == 0) p.s[offset(p.s_at)] = scale;
  e4m3fn* const y = static_cast<e4m3fn*>(p.y) + offset(p.y_at) + member * kVector;
  // The short division is exact enough for e4m3 where the scale is of ordinary size.
  const auto divided = [&](const auto& quotient_of_scale) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) h[v][i] = quotient_of_scale(h[v][i]);
      store<kVector>(y + v * kLanes * kVector, from_f32<e4m3fn>(h[v]));
    }
  };
  if (amax >= 0x1p-70f && amax <= 0x1p100f) {
    const Quotient quotient(scale);
    divided([&](f32 x) { return quotient.of(x); });
  } else {
    divided([&](f32 x) { return x / scale; });
  }
}

}  // namespace isomer::device
