// Attention on the tensor cores of Ampere and later, by mma.sync: 16-bit q, k and v in rows of 16-byte
// pieces.
//
// A block of kWarps warps owns kRows query rows, kM·16 to a warp, and goes through their keys from the last
// to the first, kKeys at a time. S, P and Σ P·v stay in registers; q, k and v lie in shared memory.
//
//   two stages   K(n) V(n) are there │ ask for K(n−1) V(n−1) │ S = Q·Kᵀ, softmax, Σ P·v │ …      one barrier
//   a block one stage    K(n) is there │ ask for V(n) │ S, softmax │ V(n) is there │ ask for K(n−1) │ Σ P·v │
//   …   two of them
//
// kResident blocks share a multiprocessor: while the warps of one take exponentials those of another
// multiply.
#include "ops/attention/kernels/attention_sm80_way_out.cuh"

namespace isomer::device::attention_sm80 {

/// A warp at its rows of the tile.
struct Warp {
  const Parameters& p;
  const Work& t;
  const Shared& shared;
  Copies& copies;
  State state;
  Weights weights;

  ISOMER_DEVICE Warp(const Parameters& parameters, const Work& work, const Shared& memory, Copies& under_way)
      : p(parameters), t(work), shared(memory), copies(under_way) {
#pragma unroll
    for (int m = 0; m < kM; ++m) {
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        state.reference[m][r] = Scale(p, t).lowest();
        state.sum[m][r] = 0.0f;
      }
#pragma unroll
      for (int u = 0; u < kDimV / 8; ++u)
#pragma unroll
        for (int c = 0; c < 4; ++c) state.o[m][u][c] = 0.0f;
    }
  }

  ISOMER_DEVICE void copy_k(int begin, int stage) {
    copy_keys<kDim>(copies, p, t, p.k, t.k, p.head_dim, begin, shared.k(stage), shared.lost(stage));
  }
  ISOMER_DEVICE void copy_v(int begin, int stage) {
    copy_keys<kDimV>(copies, p, t, p.v, t.v, p.head_dim_v, begin, shared.v(stage), nullptr);
  }
  ISOMER_DEVICE const u8* q() const { return shared.q() + first_row() * kLayout.pitch; }

  /// Whether some row of the warp sees a key of the block that begins there.
  ISOMER_DEVICE bool sees(int begin) const {
    const WarpLimits limits = shared.seen();
    return begin < limits.high && begin + kKeys > limits.low;
  }
  /// Whether every row of the warp sees every key of the block, and all of them have pages.
  ISOMER_DEVICE bool is_clear(int begin, int stage) const {
    const WarpLimits limits = shared.seen();
    if (begin < limits.clear_low || begin + kKeys > limits.clear_high) return false;
    bool lost = false;
    if constexpr (kPages) {
#pragma unroll
      for (int key = 0; key < kKeys; key += 32) lost = lost || shared.lost(stage)[key + lane()] != 0;
    }
    return !kPages || !any_lane(lost);
  }

  /// P of a block. A block that needs a mask, the first one, and one on which a row outgrows its
  /// reference take the rows' maxima; the last has S computed anew.
  ISOMER_DEVICE void attend_to(int begin, int stage) {
    const Scale scale(p, t);
    const bool clear = is_clear(begin, stage);
    f32 s[kM][kN][4];
    const bool first = begin + kKeys >= shared.seen().high;
    for (bool trusts = clear && !first;; trusts = false) {
      score(q(), shared.k(stage), s);
      cap(scale, s);
      if (trusts && !weigh(scale, s, state, weights)) return;
      if (trusts) continue;
      if (!clear) mask(shared.limits(), shared.lost(stage), begin, s);
      weigh_from_maxima(scale, s, state, weights);
      return;
    }
  }

  ISOMER_DEVICE void run(int blocks) {
    for (int begin = (blocks - 1) * kKeys; begin >= 0; begin -= kKeys) {
      const int stage = kStages == 2 ? begin / kKeys & 1 : 0;
      copies.template wait<0>();
      __syncthreads();
      if constexpr (kStages == 2) {
        if (begin > 0) {
          copy_k(begin - kKeys, stage ^ 1);
          copy_v(begin - kKeys, stage ^ 1);
        }
      } else {
        copy_v(begin, 0);
      }
      copies.end_group();
      const bool seen = sees(begin);
      if (seen) attend_to(begin, stage);
      if constexpr (kStages == 1) {
        copies.template wait<0>();
        __syncthreads();
        if (begin > 0) copy_k(begin - kKeys, 0);
        copies.end_group();
      }
      if (seen) gather(shared.v(stage), weights, state);
    }
  }
};

ISOMER_DEVICE void attend(const Parameters& p, const Work& t, const Shared& shared) {
  Copies copies;
  const bool any = t.keys.lo < t.keys.hi;
  const int blocks = any ? static_cast<int>((t.keys.hi - t.begin + kKeys - 1) / kKeys) : 0;
  if (any) copy_queries(copies, p, t, shared);
  put_limits(p, t, shared);
  Warp warp(p, t, shared, copies);
  if (any) {
    const int stage = kStages == 2 ? (blocks - 1) & 1 : 0;
    warp.copy_k((blocks - 1) * kKeys, stage);
    if constexpr (kStages == 2) warp.copy_v((blocks - 1) * kKeys, stage);
    copies.end_group();
  }
  warp.run(blocks);
  way_out(p, t, shared, Scale(p, t), warp.state);
}

}  // namespace isomer::device::attention_sm80

namespace isomer::device {

extern "C" __global__ void __launch_bounds__(attention_sm80::kThreads, attention_sm80::kResident)
    isomer_attention_sm80(const AttentionSm80Parameters p) {
  extern __shared__ Vector<f32, 4> memory[];
  const attention_sm80::Shared shared{reinterpret_cast<u8*>(memory)};
  if (threadIdx.x == 0) shared.work() = attention_sm80::work_of(p, static_cast<u32>(blockIdx.x));
  __syncthreads();
  if (shared.work().exists) attention_sm80::attend(p, shared.work(), shared);
}

}  // namespace isomer::device
