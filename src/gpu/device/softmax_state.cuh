// A row's softmax over some of its keys, as kernels carry it and put parts of it together. Logits are times
// log2(e), and exponents are taken from the largest, so that none overflows.
#pragma once

#include "gpu/device/exponential.cuh"

namespace isomer::device {

/// Of no key: −inf and 0.
struct SoftmaxState {
  f32 max;  ///< the largest logit
  f32 sum;  ///< Σ 2^(logit − max)
};

/// What exponents are taken from: the largest logit, and 0 where there is none, so that 2^(−inf − origin) is
/// 0.
ISOMER_DEVICE f32 origin_of(f32 max) { return max == -infinity() ? 0.0f : max; }

/// What multiplies the sum and Σ P·v of a part whose largest logit is `max`, where `all` is the largest of
/// all parts. 0 for a part of no keys. `unit` is log2(e) for logits as they are.
ISOMER_DEVICE f32 share_of(f32 max, f32 all, f32 unit = 1.0f) {
  return max == -infinity() ? 0.0f : exp2_fast((max - all) * unit);
}

/// ln Σ e^logit; −inf of no key.
ISOMER_DEVICE f32 lse_of(const SoftmaxState& state) {
  return state.sum == 0.0f ? -infinity() : (state.max + log2_fast(state.sum)) * kLn2;
}

/// The state of kParts parts together. state_of(i) is part i's; take(i, share) adds its share of Σ P·v, and
/// is not called for a part of no keys, whose Σ P·v may be anything.
template <int kParts, class StateOf, class Take>
ISOMER_DEVICE SoftmaxState join(const StateOf& state_of, const Take& take) {
  f32 all = state_of(0).max;
#pragma unroll
  for (int i = 1; i < kParts; ++i) all = fmaxf(all, state_of(i).max);
  SoftmaxState joined = {all, 0.0f};
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    const SoftmaxState part = state_of(i);
    if (part.sum == 0.0f) continue;  // and not where it is NaN
    const f32 share = share_of(part.max, all);
    joined.sum += share * part.sum;
    take(i, share);
  }
  return joined;
}

}  // namespace isomer::device
