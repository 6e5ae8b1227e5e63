// A group of lanes takes one block at a time and keeps it in registers: the maximum by shuffles, then the
// quotients. A thread has several blocks under way, so that enough reads are in flight. Vectors are 16 bytes
// of x where every block of x and y is aligned for them, else single elements. Scales go out together, for
// adjacent ones fill a sector.
#include "gpu/device/block_scale.cuh"
#include "gpu/device/overlap.cuh"
#include "gpu/device/pairs.cuh"
#include "gpu/device/portable.cuh"
#include "ops/act_quant/kernels/act_quant.h"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kBlock = ISOMER_BLOCK_SIZE, kVector = ISOMER_VECTOR;
constexpr int kLanes = ISOMER_LANES_PER_BLOCK, kUnroll = ISOMER_UNROLL;
constexpr int kVectors = kBlock / kVector / kLanes;  // of a block, in one lane
constexpr int kGroups = kThreads / kLanes, kTogether = kGroups * kUnroll;
constexpr int kDims = ISOMER_DIMS;
using Element = ISOMER_ELEMENT;

/// Where a block of a tensor begins, in elements.
template <class Index>
ISOMER_DEVICE i64 offset_of(Index block, const ActQuantParameters& p,
                            const i64 (&stride)[ActQuantParameters::kDims]) {
  i64 offset = 0;
#pragma unroll
  for (int d = 0; d < kDims - 1; ++d) {
    const Index outer = quotient_of(block, p.size[d]);
    offset += static_cast<i64>(block - outer * static_cast<Index>(p.size[d].value)) * stride[d];
    block = outer;
  }
  return offset + static_cast<i64>(block) * stride[kDims - 1];
}

extern "C" __global__ void __launch_bounds__(kThreads) isomer_act_quant(const ActQuantParameters p) {
  wait_for_previous();
  let_next_begin();
  using Index = ISOMER_INDEX;
  __shared__ f32 scales[kTogether];
  const int group = static_cast<int>(threadIdx.x) / kLanes, member = static_cast<int>(threadIdx.x) % kLanes;
  const Index begin = static_cast<Index>(blockIdx.x) * kTogether, first = begin + static_cast<Index>(group);
  const auto last = static_cast<Index>(p.blocks - 1);
  const auto block = [&](int u) { return first + static_cast<Index>(u * kGroups); };

  // Past the end the last block is read again, so that no branch stands between the reads.
  Vector<Element, kVector> in[kUnroll][kVectors];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const Index from = block(u) < last ? block(u) : last;
    const Element* x = static_cast<const Element*>(p.x) + offset_of(from, p, p.x_stride) + member * kVector;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) in[u][v] = load_once<kVector>(x + v * kLanes * kVector);
  }

  f32 amax[kUnroll];
  bool unusual = false;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    f32 values[kVectors][kVector];
    f32 most = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      to_f32(in[u][v], values[v]);
#pragma unroll
      for (int i = 0; i < kVector; ++i) most = max_with_nan(most, fabsf(values[v][i]));
    }
    most = max_with_nan_lanes<kLanes>(most);
    amax[u] = most < p.amax_floor ? p.amax_floor : most;  // NaN stays
    unusual = unusual || is_unusual(amax[u]);
    f32 scale = over_448(amax[u]);
    if (p.power_of_two) scale = usual_power_of_two_above(scale);
    const Quotient quotient(scale);
    if (member == 0) scales[u * kGroups + group] = scale;
    if (block(u) > last) continue;
    e4m3fn* y = static_cast<e4m3fn*>(p.y) + offset_of(block(u), p, p.y_stride) + member * kVector;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int i = 0; i < kVector; ++i) values[v][i] = quotient.of(values[v][i]);
      store<kVector>(y + v * kLanes * kVector, from_f32<e4m3fn>(values[v]));
    }
  }
  // Blocks whose quotients must be divided out. Each lane overwrites what it has written itself.
  if (unusual) {
#pragma unroll 1
    for (int u = 0; u < kUnroll; ++u) {
      f32 most = amax[0];
#pragma unroll
      for (int w = 1; w < kUnroll; ++w) most = w == u ? amax[w] : most;
      if (!is_unusual(most) || block(u) > last) continue;
      f32 scale = most / 448.0f;
      if (p.power_of_two) scale = power_of_two_above(scale);
      if (member == 0) scales[u * kGroups + group] = scale;
      const Element* x = static_cast<const Element*>(p.x) + offset_of(block(u), p, p.x_stride);
      e4m3fn* y = static_cast<e4m3fn*>(p.y) + offset_of(block(u), p, p.y_stride);
#pragma unroll 1
      for (int i = 0; i < kBlock / kLanes; ++i) {
        const int at = (i / kVector * kLanes + member) * kVector + i % kVector;
        y[at] = from_f32<e4m3fn>(to_f32(x[at]) / scale);
      }
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kTogether && begin + static_cast<Index>(i) <= last;
       i += kThreads)
    p.s[offset_of(begin + static_cast<Index>(i), p, p.s_stride)] = scales[i];
}

}  // namespace isomer::device
