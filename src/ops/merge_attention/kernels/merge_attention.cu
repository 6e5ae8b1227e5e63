// Two attention results of one row become one: out = w_a·a + w_b·b with w_i = e^(lse_i − lse), lse =
// ln(e^lse_a + e^lse_b).
//
// kLanes lanes share a row, 16 bytes of each part at a time. A block takes a tile of kUnroll × kRows rows;
// all of them are under way before the first is used: 2·kUnroll loads in each lane. out may be a, and lse
// lse_a: a lane reads what it overwrites first, and of the lanes of a row only the first one looks at lse.
#include "gpu/device/portable.cuh"
#include "gpu/device/softmax_state.cuh"
#include "gpu/device/words.cuh"
#include "ops/merge_attention/kernels/merge_attention.h"

namespace isomer::device {

using Element = ISOMER_ELEMENT;
using Out = ISOMER_ELEMENT_OUT;
using Index = ISOMER_INDEX;  // of a row
constexpr int kThreads = ISOMER_THREADS, kLanes = ISOMER_LANES_OF_ROW, kUnroll = ISOMER_UNROLL,
              kDims = ISOMER_DIMS;
constexpr bool kVectors = ISOMER_VECTORS != 0;  // rows of the three are multiples of 16 bytes, and aligned so
constexpr int kVector = 16 / sizeof(Element);
constexpr int kRows = kThreads / kLanes;
constexpr int kStored = 16 / sizeof(Out) < kVector ? 16 / sizeof(Out) : kVector;  // elements of one store

/// Where a row lies, in elements.
struct Place {
  i64 a, b, out, lse_a, lse_b, lse;
};

ISOMER_DEVICE Place place_of(const MergeAttentionParameters& p, Index row) {
  Place place = {};
#pragma unroll
  for (int d = 0; d < kDims; ++d) {
    const Index next = d + 1 < kDims ? row / static_cast<Index>(p.size[d]) : 0;
    const i64 index = static_cast<i64>(row - next * static_cast<Index>(p.size[d]));
    row = next;
    place.a += index * p.a_stride[d];
    place.b += index * p.b_stride[d];
    place.out += index * p.out_stride[d];
    place.lse_a += index * p.lse_a_stride[d];
    place.lse_b += index * p.lse_b_stride[d];
    place.lse += index * p.lse_stride[d];
  }
  return place;
}

/// The 16 bytes of a row from `at` on, of which `left` elements are the row's.
ISOMER_DEVICE Words load_part(const void* row, i64 at, i64 left) {
  const Element* from = static_cast<const Element*>(row) + at;
  if constexpr (kVectors) return *reinterpret_cast<const Words*>(from);
  return gather_words(from, 1, left < kVector ? static_cast<int>(left) : kVector);
}

/// Rows of one tile from `first` on. kFull: every row of the tile and every lane's first part exist, so that
/// the loads go out together, with no branch between.
template <bool kFull>
ISOMER_DEVICE void merge_tile(const MergeAttentionParameters& p, i64 first) {
  const int sub = lane() % kLanes, leader = lane() - sub;
  const i64 column = sub * kVector;
  Place place[kUnroll];
  f32 lse_a[kUnroll], lse_b[kUnroll];
  Words a[kUnroll], b[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const i64 row = first + u * kRows;
    lse_a[u] = lse_b[u] = -infinity();
    if (!kFull && row >= p.rows) continue;
    place[u] = place_of(p, static_cast<Index>(row));
    if (sub == 0) {
      lse_a[u] = p.lse_a[place[u].lse_a];
      lse_b[u] = p.lse_b[place[u].lse_b];
    }
    if (!kFull && column >= p.length) continue;
    a[u] = load_part(p.a, place[u].a + column, p.length - column);
    b[u] = load_part(p.b, place[u].b + column, p.length - column);
  }
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const f32 x = shuffle(lse_a[u], leader), y = shuffle(lse_b[u], leader);
    if (!kFull && first + u * kRows >= p.rows) continue;
    // A part without weight is not looked at: it may hold NaN.
    const bool with_a = x != -infinity(), with_b = y != -infinity();
    const f32 largest = x > y ? x : y;
    const f32 e_a = share_of(x, largest, kLog2E), e_b = share_of(y, largest, kLog2E);
    const f32 sum = e_a + e_b, w_a = e_a / sum, w_b = e_b / sum;
    if (p.lse != nullptr && sub == 0)
      p.lse[place[u].lse] = with_a || with_b ? largest + log2_fast(sum) * kLn2 : -infinity();
    for (i64 at = sub * kVector; at < p.length; at += kLanes * kVector) {
      if (at >= kLanes * kVector) {
        a[u] = load_part(p.a, place[u].a + at, p.length - at);
        b[u] = load_part(p.b, place[u].b + at, p.length - at);
      }
      f32 of_a[kVector], of_b[kVector];
      unpack<Element>(a[u], of_a);
      unpack<Element>(b[u], of_b);
      Vector<Out, kStored> merged[kVector / kStored];
#pragma unroll
      for (int i = 0; i < kVector; ++i)
        merged[i / kStored].of[i % kStored] =
            from_f32<Out>((with_a ? w_a * of_a[i] : 0.0f) + (with_b ? w_b * of_b[i] : 0.0f));
      Out* to = static_cast<Out*>(p.out) + place[u].out + at;
      if constexpr (kVectors) {
#pragma unroll
        for (int i = 0; i < kVector / kStored; ++i) store<kStored>(to + i * kStored, merged[i]);
      } else {
#pragma unroll
        for (int i = 0; i < kVector; ++i)
          if (at + i < p.length) to[i] = merged[i / kStored].of[i % kStored];
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    isomer_merge_attention(const MergeAttentionParameters p) {
  constexpr i64 kTile = kUnroll * kRows;
  for (i64 tile = blockIdx.x; tile < p.tiles; tile += gridDim.x) {
    const i64 first = tile * kTile + static_cast<int>(threadIdx.x) / kLanes;
    if ((tile + 1) * kTile <= p.rows && p.length >= kLanes * kVector)
      merge_tile<true>(p, first);
    else
      merge_tile<false>(p, first);
  }
}

}  // namespace isomer::device
