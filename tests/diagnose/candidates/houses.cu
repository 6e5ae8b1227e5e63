// Kernels as other engines have them, and what their files leave unsaid, each beside a twin.
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdint>

// [heads, length, dim] of one batch, in which num_kv_heads says heads and no length. The twin gives neighbouring
// heads of q different heads of k.
template <bool kInGroups>
__global__ void attend_groups(const float* q, const float* k, const float* v, float* out, int heads, int kv_heads,
                              int length, int dim) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= heads * length) return;
  const int head = at / length, of = kInGroups ? head / (heads / kv_heads) : head % kv_heads;
  float most = -INFINITY, sum = 0;
  float* o = out + at * dim;
  for (int d = 0; d < dim; ++d) o[d] = 0;
  for (int j = 0; j < length; ++j) {
    const int key = (of * length + j) * dim;
    float s = 0;
    for (int d = 0; d < dim; ++d) s += q[at * dim + d] * k[key + d];
    s *= rsqrtf((float)dim);
    const float larger = fmaxf(most, s), before = expf(most - larger), p = expf(s - larger);
    sum = sum * before + p;
    for (int d = 0; d < dim; ++d) o[d] = o[d] * before + p * v[key + d];
    most = larger;
  }
  for (int d = 0; d < dim; ++d) o[d] /= sum;
}
extern "C" void attend_heads_in_groups(const float* dQ, const float* dK, const float* dV, float* dO, int num_q_heads,
                                       int num_kv_heads, int seq_len, int head_dim) {
  attend_groups<true><<<(num_q_heads * seq_len + 63) / 64, 64>>>(dQ, dK, dV, dO, num_q_heads, num_kv_heads, seq_len,
                                                                  head_dim);
}
extern "C" void attend_heads_in_turn(const float* dQ, const float* dK, const float* dV, float* dO, int num_q_heads,
                                     int num_kv_heads, int seq_len, int head_dim) {
  attend_groups<false><<<(num_q_heads * seq_len + 63) / 64, 64>>>(dQ, dK, dV, dO, num_q_heads, num_kv_heads, seq_len,
                                                                   head_dim);
}

// Causal, which no parameter says. The twin leaves a row its next key as well.
template <int kMore>
__global__ void attend_before(const float* q, const float* k, const float* v, float* out, int length, int dim) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= length) return;
  float most = -INFINITY, sum = 0;
  float* o = out + row * dim;
  for (int d = 0; d < dim; ++d) o[d] = 0;
  for (int j = 0; j <= row + kMore && j < length; ++j) {
    float s = 0;
    for (int d = 0; d < dim; ++d) s += q[row * dim + d] * k[j * dim + d];
    s *= rsqrtf((float)dim);
    const float larger = fmaxf(most, s), before = expf(most - larger), p = expf(s - larger);
    sum = sum * before + p;
    for (int d = 0; d < dim; ++d) o[d] = o[d] * before + p * v[j * dim + d];
    most = larger;
  }
  for (int d = 0; d < dim; ++d) o[d] /= sum;
}
extern "C" void attend_always_causal(const float* Q, const float* K, const float* V, float* output, int M, int d) {
  attend_before<0><<<(M + 63) / 64, 64>>>(Q, K, V, output, M, d);
}
extern "C" void attend_one_key_further(const float* Q, const float* K, const float* V, float* output, int M, int d) {
  attend_before<1><<<(M + 63) / 64, 64>>>(Q, K, V, output, M, d);
}

// Tiles of 8 keys. The first twin takes a tile that is masked as a whole for one with keys, the second adds to an
// output that nobody has set.
enum class Tile { guarded, unguarded, added };
template <Tile kTile>
__global__ void attend_in_tiles(const float* q, const float* k, const float* v, float* out, int length, int dim,
                                bool causal) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= length) return;
  float most = -INFINITY, sum = 0, s[8];
  float* o = out + row * dim;
  for (int d = 0; d < dim && kTile != Tile::added; ++d) o[d] = 0;
  for (int begin = 0; begin < length; begin += 8) {
    float tile = -INFINITY;
    for (int c = 0; c < 8; ++c) {
      s[c] = -INFINITY;
      if (begin + c >= length || (causal && begin + c > row)) continue;
      s[c] = 0;
      for (int d = 0; d < dim; ++d) s[c] += q[row * dim + d] * k[(begin + c) * dim + d];
      s[c] *= rsqrtf((float)dim);
      tile = fmaxf(tile, s[c]);
    }
    if (kTile != Tile::unguarded && tile == -INFINITY) continue;
    const float larger = fmaxf(most, tile), before = expf(most - larger), now = expf(tile - larger);
    sum *= before;
    for (int d = 0; d < dim; ++d) o[d] *= before;
    for (int c = 0; c < 8 && begin + c < length; ++c) {
      const float p = expf(s[c] - tile) * now;
      sum += p;
      for (int d = 0; d < dim; ++d) o[d] += p * v[(begin + c) * dim + d];
    }
    most = larger;
  }
  for (int d = 0; d < dim; ++d) o[d] /= sum;
}
#define ATTEND_IN_TILES(name, tile)                                                                                \
  extern "C" void name(const float* Q, const float* K, const float* V, float* O, int S, int D, bool causal) {      \
    attend_in_tiles<tile><<<(S + 63) / 64, 64>>>(Q, K, V, O, S, D, causal);                                        \
  }
ATTEND_IN_TILES(attend_guarded_tiles, Tile::guarded)
ATTEND_IN_TILES(attend_unguarded_tiles, Tile::unguarded)
ATTEND_IN_TILES(attend_onto_output, Tile::added)

// A mask that may be null stands where other kernels have their output.
__global__ void mask_before(const float* mask, float* scores, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (mask != nullptr && i < n) scores[i] += mask[i];
}
extern "C" void attend_with_mask(const float* Q, const float* K, const float* V, float* mask, float* dst, int S, int D,
                                 bool causal) {
  attend_in_tiles<Tile::guarded><<<(S + 63) / 64, 64>>>(Q, K, V, dst, S, D, causal);
  mask_before<<<(S * D + 63) / 64, 64>>>(mask, dst, S * D);
}

// Scales that no tensor of the op is: another operation.
__global__ void attend_normed(const float* q, const float* k, const float* v, const float* norms, float* out, int length,
                              int dim) {
  for (int at = threadIdx.x; at < length * dim; at += 64) out[at] = q[at] * k[at] * v[at] * norms[at / dim];
}
extern "C" void attend_scaled_keys(const float* Q, const float* K, const float* V, const float* k_norms, float* output,
                                   int M, int d) {
  attend_normed<<<1, 64>>>(Q, K, V, k_norms, output, M, d);
}

// The factor 448 / amax has a least amax, and the stored scale has none. The twin forgets the magnitude.
template <bool kMagnitude>
__global__ void tiles_by_factor(__nv_fp8_e4m3* out, float* scales, const float* in, int rows, int columns, int across) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= (rows + 127) / 128 * across) return;
  const int row = i / across * 128, column = i % across * 128;
  float amax = 0;
  for (int m = row; m < min(row + 128, rows); ++m)
    for (int n = column; n < min(column + 128, columns); ++n) {
      const float x = in[m * columns + n];
      amax = fmaxf(amax, kMagnitude ? fabsf(x) : x);
    }
  const float factor = 448.0f / fmaxf(amax, 1e-10f);
  scales[i] = amax / 448.0f;
  for (int m = row; m < min(row + 128, rows); ++m)
    for (int n = column; n < min(column + 128, columns); ++n)
      out[m * columns + n] = __nv_fp8_e4m3(in[m * columns + n] * factor);
}
extern "C" void quantize_tiles_by_factor(__nv_fp8_e4m3* out, float* block_scales, const float* in, int M, int K,
                                         int block_size) {
  tiles_by_factor<true><<<((M + 127) / 128 * ((K + 127) / 128) + 63) / 64, 64>>>(out, block_scales, in, M, K,
                                                                                 (K + 127) / 128);
}
extern "C" void quantize_tiles_by_signed_factor(__nv_fp8_e4m3* out, float* block_scales, const float* in, int M, int K,
                                                int block_size) {
  tiles_by_factor<false><<<((M + 127) / 128 * ((K + 127) / 128) + 63) / 64, 64>>>(out, block_scales, in, M, K,
                                                                                  (K + 127) / 128);
}
