// A warp's products and softmax. A lane has rows g and g + 8 of each of the warp's fragments of 16, g = lane
// / 4, and of every eight keys or columns the two from lane % 4 · 2 on.
#pragma once

#include "gpu/device/exponential.cuh"
#include "gpu/device/pairs.cuh"
#include "ops/attention/kernels/attention_sm80_tile.cuh"

namespace isomer::device::attention_sm80 {

/// P comes from S and a reference for each row that need not be the row's maximum: out and lse divide it away
/// again. A row keeps its reference while its weights stay below what Element and their sums hold.
struct State {
  f32 reference[kM][2];
  f32 sum[kM][2];  ///< of this lane's keys
  f32 o[kM][kDimV / 8][4];
};

/// A sum of a lane's weights above it says that the reference is too low.
constexpr f32 kMostSum = 4096.0f;

/// P of a block with Element's rounding, 16 keys to a product: two adjacent fragments of S are its left
/// operand.
struct Weights {
  u32 of[kM][kN / 2][4];

  /// Of the keys that a lane has of fragment n, row half r.
  ISOMER_DEVICE void put(int m, int n, int r, f32 first, f32 second) {
    of[m][n / 2][n % 2 * 2 + r] = pack<Element>(first, second);
  }
};

/// What scores are multiplied by, on the way to powers of two.
struct Scale {
  f32 cap;   ///< with softcap: before tanh
  f32 log2;  ///< of what follows

  ISOMER_DEVICE Scale(const Parameters& p, const Work& t)
      : cap(t.factor), log2(kSoftcap ? p.softcap * kLog2E : t.factor) {}
  /// The reference of a row that has seen no key: below any score.
  ISOMER_DEVICE f32 lowest() const { return -0x1p126f / fmaxf(log2, 1.0f); }
};

/// Where a lane's rows of matrices begin, `pitch` bytes apart: of q and v, whose lanes 16… have the second 16
/// bytes of a step, and of k, whose lanes 8… of each 16 have them. Steps are 32 bytes apart and swizzled.
ISOMER_DEVICE int lane_offset(int pitch) {
  const int l = computed_here(lane());
  return piece_at(l % 16, l / 16, pitch);
}
ISOMER_DEVICE int lane_offset_of_keys(int pitch) {
  const int l = computed_here(lane());
  return piece_at(l % 8 + l / 16 * 8, l / 8 % 2, pitch);
}
ISOMER_DEVICE const u8* step_at(const u8* base, int offset, int step) {
  return base + (offset ^ (step % 4 * 32)) + step / 4 * AttentionSm80Layout::kPanelBytes;
}

/// S = Q·Kᵀ. `q` is where the warp's rows begin.
ISOMER_DEVICE void score(const u8* q, const u8* k, f32 (&s)[kM][kN][4]) {
  const int of_rows = lane_offset(kLayout.pitch), of_keys = lane_offset_of_keys(kLayout.pitch);
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int c = 0; c < 4; ++c) s[m][n][c] = 0.0f;
        // With one stage, in parts: ptxas fetches ahead until no register is left for the loop over blocks.
#pragma unroll(kStages == 1 && kM == 2 ? 4 : kDim / 16)
  for (int step = 0; step < kDim / 16; ++step) {
    u32 a[kM][4];
#pragma unroll
    for (int m = 0; m < kM; ++m) load_matrices(a[m], step_at(q + m * 16 * kLayout.pitch, of_rows, step));
#pragma unroll
    for (int n = 0; n < kN; n += 2) {
      u32 b[4];
      load_matrices(b, step_at(k + n * 8 * kLayout.pitch, of_keys, step));
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        multiply_add<Element>(s[m][n], a[m], {b[0], b[1]});
        multiply_add<Element>(s[m][n + 1], a[m], {b[2], b[3]});
      }
    }
  }
}

ISOMER_DEVICE void cap(const Scale& scale, f32 (&s)[kM][kN][4]) {
  if constexpr (kSoftcap) {
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int n = 0; n < kN; ++n)
#pragma unroll
        for (int c = 0; c < 4; ++c) s[m][n][c] = tanhf(s[m][n][c] * scale.cap);
  }
}

/// Keys that a row does not see, and those without a page. The block's first key is `begin` from the task's
/// begin.
ISOMER_DEVICE void mask(const Limits* limits, const u32* lost, int begin, f32 (&s)[kM][kN][4]) {
  const int first = lane() % 4 * 2;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const Limits its = limits[row_of(m, r)];
      const int low = its.low - begin - first, high = its.high - begin - first;
#pragma unroll
      for (int n = 0; n < kN; ++n)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const int key = n * 8 + c;
          if (key < low || key >= high) s[m][n][2 * r + c] = -infinity();
          if constexpr (kPages) {
            if (lost[key + first] != 0) s[m][n][2 * r + c] = -infinity();
          }
        }
    }
}

/// P with the references as they are; adds to the sums. True, and no sum is changed, where a row of the warp
/// has outgrown its reference: P is nothing then.
ISOMER_DEVICE bool weigh(const Scale& scale, const f32 (&s)[kM][kN][4], State& state, Weights& weights) {
  f32 sum[kM][2];
  bool fits = true;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const f32 base = state.reference[m][r] * scale.log2;
      f32 sums[2] = {};
#pragma unroll
      for (int n = 0; n < kN; ++n) {
        const f32 x = exp2_fast(fmaf(s[m][n][2 * r], scale.log2, -base)),
                  y = exp2_fast(fmaf(s[m][n][2 * r + 1], scale.log2, -base));
        sums[0] += x;
        sums[1] += y;
        weights.put(m, n, r, x, y);
      }
      sum[m][r] = sums[0] + sums[1];
      fits = fits && sum[m][r] <= kMostSum;  // NaN does not
    }
  if (any_lane(!fits)) return true;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) state.sum[m][r] += sum[m][r];
  return false;
}

/// The same with the rows' maxima as references, to which sums and Σ P·v are brought first.
ISOMER_DEVICE void weigh_from_maxima(const Scale& scale, const f32 (&s)[kM][kN][4], State& state,
                                     Weights& weights) {
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      f32 top = state.reference[m][r];
#pragma unroll
      for (int n = 0; n < kN; ++n) top = fmaxf(top, fmaxf(s[m][n][2 * r], s[m][n][2 * r + 1]));
      top = reduce_lanes<4>(top, [](f32 a, f32 b) { return fmaxf(a, b); });
      const f32 factor = exp2_fast((state.reference[m][r] - top) * scale.log2), base = top * scale.log2;
      state.reference[m][r] = top;
      f32 sum = state.sum[m][r] * factor;
#pragma unroll
      for (int n = 0; n < kN; ++n) {
        const f32 x = exp2_fast(fmaf(s[m][n][2 * r], scale.log2, -base)),
                  y = exp2_fast(fmaf(s[m][n][2 * r + 1], scale.log2, -base));
        sum += x + y;
        weights.put(m, n, r, x, y);
      }
      state.sum[m][r] = sum;
#pragma unroll
      for (int u = 0; u < kDimV / 8; ++u)
#pragma unroll
        for (int c = 0; c < 2; ++c) state.o[m][u][2 * r + c] *= factor;
    }
}

/// Adds Σ P·v of a block.
ISOMER_DEVICE void gather(const u8* v, const Weights& weights, State& state) {
  const int offset = lane_offset(kLayout.pitch_v);
#pragma unroll
  for (int n = 0; n < kN; n += 2)
#pragma unroll
    for (int u = 0; u < kDimV / 16; ++u) {
      u32 b[4];
      load_matrices_transposed(b, step_at(v + n * 8 * kLayout.pitch_v, offset, u));
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        multiply_add<Element>(state.o[m][2 * u], weights.of[m][n / 2], {b[0], b[1]});
        multiply_add<Element>(state.o[m][2 * u + 1], weights.of[m][n / 2], {b[2], b[3]});
      }
    }
}

}  // namespace isomer::device::attention_sm80
