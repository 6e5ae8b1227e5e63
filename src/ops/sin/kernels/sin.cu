// y = sin(x), elementwise. A block owns one piece of a row: kThreads × kUnroll vectors. Vectors are 16 bytes where both
// views' rows are contiguous and aligned, else single elements.
#include "gpu/device/portable.cuh"
#include "ops/sin/kernels/sin.h"
#include "ops/sin/kernels/sine.cuh"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kVector = ISOMER_VECTOR, kUnroll = ISOMER_UNROLL;
using Element = ISOMER_ELEMENT;

extern "C" __global__ void __launch_bounds__(kThreads) isomer_sin(const SinParameters p) {
  constexpr i64 kPiece = static_cast<i64>(kThreads) * kVector * kUnroll;
  for (i64 piece = blockIdx.x; piece < p.rows * p.pieces; piece += gridDim.x) {
    i64 row = piece / p.pieces;
    const i64 begin = (piece - row * p.pieces) * kPiece;
    const Element* x = static_cast<const Element*>(p.x);
    Element* y = static_cast<Element*>(p.y);
    for (int d = 0; d < SinParameters::kOuter && row > 0; ++d) {
      const i64 index = row % p.outer[d];
      row /= p.outer[d];
      x += index * p.x_stride[d];
      y += index * p.y_stride[d];
    }
    if constexpr (kVector > 1) {
      Vector<Element, kVector> in[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const i64 at = begin + (static_cast<i64>(u) * kThreads + threadIdx.x) * kVector;
        if (at + kVector <= p.length) in[u] = load_once<kVector>(x + at);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const i64 at = begin + (static_cast<i64>(u) * kThreads + threadIdx.x) * kVector;
        if (at + kVector <= p.length) {
#pragma unroll
          for (int i = 0; i < kVector; ++i) in[u].of[i] = sine(in[u].of[i]);
          store<kVector>(y + at, in[u]);
        } else {
          for (i64 i = at; i < p.length; ++i) y[i] = sine(x[i]);
        }
      }
    } else {
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        const i64 at = begin + static_cast<i64>(u) * kThreads + threadIdx.x;
        if (at < p.length) y[at * p.y_step] = sine(x[at * p.x_step]);
      }
    }
  }
}

}  // namespace isomer::device
