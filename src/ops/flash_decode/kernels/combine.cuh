// What the warps of a block found about the same tokens' heads, put together and written.
#pragma once

#include "gpu/device/portable.cuh"
#include "gpu/device/softmax_state.cuh"
#include "ops/flash_decode/kernels/stage1.h"

namespace isomer::device {

/// Of kParts disjoint sets of tokens: the largest logit, Σ e^(S − largest) and Σ e^(S − largest)·v, of each
/// head. Logits carry the factor log2(e).
template <int kParts, int kHeads, int kHeadDim>
struct Partials {
  f32 largest[kParts][kHeads], sum[kParts][kHeads];
  f32 out[kParts][kHeads][kHeadDim];
};

/// Writes block j of sequence b for `heads` query heads from `head` on; all threads take part.
template <int kThreads, int kParts, int kHeads, int kHeadDim>
ISOMER_DEVICE void combine(const FlashDecodeStage1Parameters& p,
                           const Partials<kParts, kHeads, kHeadDim>& from, i64 b, i64 j, i64 head,
                           int heads) {
  f32* mid_out = p.mid_out + b * p.out_batch + head * p.out_head + j * p.out_block;
  f32* mid_lse = p.mid_lse + b * p.lse_batch + head * p.lse_head + j * p.lse_block;
  for (int at = static_cast<int>(threadIdx.x); at < heads * kHeadDim; at += kThreads) {
    const int h = at / kHeadDim, d = at % kHeadDim;
    if (d >= p.head_dim) continue;
    f32 out = 0.0f;
    const SoftmaxState all = join<kParts>(
        [&](int w) {
          return SoftmaxState{from.largest[w][h], from.sum[w][h]};
        },
        [&](int w, f32 share) { out += share * from.out[w][h][d]; });
    // No token, or none with weight: 0 and −inf.
    mid_out[h * p.out_head + d * p.out_inner] = all.sum == 0.0f ? 0.0f : out / all.sum;
    if (d == 0) mid_lse[h * p.lse_head] = lse_of(all);
  }
}

}  // namespace isomer::device
