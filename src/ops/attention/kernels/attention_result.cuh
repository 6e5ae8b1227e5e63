// What a row's maximum, sum and Σ P·v make of out and lse.
#pragma once

#include "gpu/device/softmax_state.cuh"
#include "ops/attention/kernels/attention_entry.cuh"

namespace isomer::device::attention {

struct Result {
  f32 factor;  ///< multiplies Σ P·v; 0 for a row that weighs no key
  f32 lse;
};

/// Of a row's softmax. The sink joins here, once.
ISOMER_DEVICE Result result_of(const AttentionParameters& p, i64 b, i64 head, SoftmaxState row) {
  const f32 sink = p.sink ? read(p.sink, p.sink_type, head) : -infinity();
  if (row.sum == 0.0f) return {0.0f, sink};
  f32 share = 1.0f;
  if (sink != -infinity()) {
    const f32 all = fmaxf(row.max, sink * kLog2E);
    share = share_of(row.max, all);
    row = {all, row.sum * share + share_of(sink * kLog2E, all)};
  }
  return {factor(p.v_descale, b, quotient_of(head, p.of_group)) / row.sum * share,
          row.max * kLn2 + logf(row.sum)};
}

/// N adjacent elements of out, 2 or 4.
template <class T, int N>
ISOMER_DEVICE void write(const AttentionParameters& p, T* to, const f32 (&o)[N], f32 factor) {
  Vector<T, N> out;
#pragma unroll
  for (int c = 0; c < N; ++c) out.of[c] = from_f32<T>(factor == 0.0f ? 0.0f : o[c] * factor);
  if (p.out_vectors) {
    store<N>(to, out);
  } else {
#pragma unroll
    for (int c = 0; c < N; ++c) to[c] = out.of[c];
  }
}

}  // namespace isomer::device::attention
