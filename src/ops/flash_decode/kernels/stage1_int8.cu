// Attention of up to kHeads query heads of one kv head over one block of tokens of an int8 cache, in f32.
//
// A warp takes kUnroll tokens at a time, warps in turn. All lanes of a warp share a row: each has kPer
// adjacent channels, which lie within 8 that share a scale, so that a lane reads one scale of a row. Queries
// and accumulators stay in registers, every row is read once for all heads, and the warps' results are merged
// at the end in shared memory.
#include "gpu/device/overlap.cuh"
#include "ops/flash_decode/kernels/combine.cuh"
#include "ops/flash_decode/kernels/tables.cuh"

namespace isomer::device {

using Element = ISOMER_ELEMENT;      // of q
using Scale = ISOMER_ELEMENT_SCALE;  // of k_scale and v_scale
constexpr int kThreads = ISOMER_THREADS, kHeads = ISOMER_HEADS, kHeadDim = ISOMER_HEAD_DIM;
constexpr bool kVectors = ISOMER_VECTORS != 0;  // rows of k and v are contiguous and aligned to 16 bytes
constexpr int kPer = kHeadDim / kWarpSize;      // channels of a lane
constexpr int kWarps = kThreads / kWarpSize, kUnroll = 4;
static_assert(kPer >= 1 && 8 % kPer == 0);

/// This lane's channels of a row, as they lie in memory.
struct Channels {
  Vector<i8, kPer> q;
  Scale scale;
};

ISOMER_DEVICE Channels channels_of(const i8* row, i64 inner, const Scale* scale) {
  Channels channels;
  if constexpr (kVectors) {
    channels.q = load<kPer>(row);
  } else {
#pragma unroll
    for (int i = 0; i < kPer; ++i) channels.q.of[i] = row[i * inner];
  }
  channels.scale = *scale;
  return channels;
}

ISOMER_DEVICE f32 channel(const Channels& channels, int i) {
  return to_f32(channels.q.of[i]) * to_f32(channels.scale);
}

extern "C" __global__ void __launch_bounds__(kThreads, resident_blocks(kThreads, 2))
    isomer_flash_decode_stage1_int8(const FlashDecodeStage1Int8Parameters p) {
  __shared__ Partials<kWarps, kHeads, kHeadDim> partials;
  wait_for_previous();
  const int kv = static_cast<int>(blockIdx.x) / p.chunks;
  const int first_head = (static_cast<int>(blockIdx.x) - kv * p.chunks) * kHeads;  // in the group
  const int heads = p.group - first_head < kHeads ? p.group - first_head : kHeads;
  const i64 head = static_cast<i64>(kv) * p.group + first_head;
  const int d = lane() * kPer;
  const bool inside = d < p.head_dim;
  const i8* keys = static_cast<const i8*>(p.k) + kv * p.k_head + d * p.k_inner;
  const i8* values = static_cast<const i8*>(p.v) + kv * p.v_head + d * p.v_inner;
  const Scale* key_scales = static_cast<const Scale*>(p.k_scale) + kv * p.ks_head + d / 8 * p.ks_step;
  const Scale* value_scales = static_cast<const Scale*>(p.v_scale) + kv * p.vs_head + d / 8 * p.vs_step;

  for (i64 b = blockIdx.z; b < p.batch; b += gridDim.z) {
    const i64 length = length_of(p, b);
    const i32* tokens = tokens_of(p, b);
    for (i64 j = blockIdx.y; j < p.blocks; j += gridDim.y) {
      const i64 begin = j * p.block_seq;
      if (begin >= length) break;
      const i64 count = length - begin < p.block_seq ? length - begin : p.block_seq;
      const i32* block_tokens = tokens == nullptr ? nullptr : tokens + begin * p.token_step;

      f32 q[kHeads][kPer], largest[kHeads], sum[kHeads], out[kHeads][kPer];
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        const Element* row =
            static_cast<const Element*>(p.q) + b * p.q_batch + (head + h) * p.q_head + d * p.q_inner;
        largest[h] = -infinity();
        sum[h] = 0.0f;
#pragma unroll
        for (int i = 0; i < kPer; ++i) {
          q[h][i] = inside && h < heads ? to_f32(row[i * p.q_inner]) : 0.0f;
          out[h][i] = 0.0f;
        }
      }

      for (i64 t = warp() * kUnroll; t < count; t += kWarps * kUnroll) {
        Channels k[kUnroll] = {}, v[kUnroll] = {};  // of no token, and beyond D: zeros
        bool exists[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
          const i64 slot = slot_of(p, block_tokens, t + u, count);
          exists[u] = slot >= 0;
          if (!exists[u] || !inside) continue;
          k[u] = channels_of(keys + slot * p.k_slot, p.k_inner, key_scales + slot * p.ks_slot);
          v[u] = channels_of(values + slot * p.v_slot, p.v_inner, value_scales + slot * p.vs_slot);
        }
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          f32 s[kUnroll], most = largest[h];
#pragma unroll
          for (int u = 0; u < kUnroll; ++u) {
            f32 dot = 0.0f;
#pragma unroll
            for (int i = 0; i < kPer; ++i) dot += q[h][i] * channel(k[u], i);
            dot = sum_lanes<kWarpSize>(dot);
            s[u] = exists[u] ? dot * p.scale_log2 : -infinity();
            most = s[u] > most ? s[u] : most;
          }
          if (most != largest[h]) {
            const f32 factor = share_of(largest[h], most);
            largest[h] = most;
            sum[h] *= factor;
#pragma unroll
            for (int i = 0; i < kPer; ++i) out[h][i] *= factor;
          }
          const f32 origin = origin_of(most);
#pragma unroll
          for (int u = 0; u < kUnroll; ++u) {
            const f32 weight = exp2_fast(s[u] - origin);
            sum[h] += weight;
#pragma unroll
            for (int i = 0; i < kPer; ++i) out[h][i] += weight * channel(v[u], i);
          }
        }
      }

      let_next_begin();
#pragma unroll
      for (int h = 0; h < kHeads; ++h) {
        if (lane() == 0) {
          partials.largest[warp()][h] = largest[h];
          partials.sum[warp()][h] = sum[h];
        }
#pragma unroll
        for (int i = 0; i < kPer; ++i) partials.out[warp()][h][d + i] = out[h][i];
      }
      __syncthreads();
      combine<kThreads>(p, partials, b, j, head, heads);
      __syncthreads();
    }
  }
}

}  // namespace isomer::device
