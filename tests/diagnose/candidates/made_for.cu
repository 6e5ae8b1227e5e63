// Attention that is made for a head dimension of 64, which a constant of the file says, and what a letter says of a
// tile: each right and with one fault.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

#define PD_HD 64
#define PD_LANES 32

/// A warp for each query head; a lane has its elements of the head dimension, of which there are none below 32.
template <bool kScaled>
__global__ void paged_of_64(const float* q, const float* k, const float* v, const int* table, const int* lengths,
                            float* out, int heads, int kv_heads, int dim, int page, int width) {
  const int h = blockIdx.x, b = blockIdx.y, lane = threadIdx.x, g = h / (heads / kv_heads), each = dim / PD_LANES;
  const int keys = lengths[b];
  float acc[PD_HD / PD_LANES], most = -INFINITY, sum = 0.0f;
  for (int e = 0; e < PD_HD / PD_LANES; ++e) acc[e] = 0.0f;
  for (int j = 0; j < keys; ++j) {
    const long at = (((long)table[b * width + j / page] * page + j % page) * kv_heads + g) * dim;
    float score = 0.0f;
    for (int e = 0; e < each; ++e) score += q[((long)b * heads + h) * dim + lane * each + e] * k[at + lane * each + e];
    for (int step = 16; step > 0; step /= 2) score += __shfl_xor_sync(0xffffffffu, score, step);
    if (kScaled) score *= rsqrtf((float)dim);
    const float next = fmaxf(most, score), old = expf(most - next), p = expf(score - next);
    sum = sum * old + p;
    for (int e = 0; e < PD_HD / PD_LANES; ++e) acc[e] = acc[e] * old + p * v[at + lane * (PD_HD / PD_LANES) + e];
    most = next;
  }
  for (int e = 0; e < PD_HD / PD_LANES; ++e)
    out[((long)b * heads + h) * dim + lane * (PD_HD / PD_LANES) + e] = acc[e] / sum;
}
#define OF_64(name, scaled)                                                                                      \
  extern "C" void name(const float* q, const float* k_cache, const float* v_cache, const int* block_table,       \
                       const int* context_lens, float* out, int B, int H_q, int H_kv, int d, int block_size,     \
                       int num_blocks_per_seq) {                                                                 \
    if (B > 0)                                                                                                   \
      paged_of_64<scaled><<<dim3(H_q, B), 32>>>(q, k_cache, v_cache, block_table, context_lens, out, H_q, H_kv,  \
                                                d, block_size, num_blocks_per_seq);                              \
  }
OF_64(decode_pages_of_64_dimensions, true)
OF_64(decode_pages_of_64_dimensions_unscaled, false)

/// Rows of a buffer that may be longer than its keys.
__global__ void buffered(const half* q, const half* k, const half* v, half* out, int heads, int kv_heads, int keys,
                         int buffer, int dim, bool in_turn) {
  extern __shared__ float weights[];
  const int h = blockIdx.x, b = blockIdx.y, t = threadIdx.x, g = in_turn ? h % kv_heads : h / (heads / kv_heads);
  const long at = ((long)b * kv_heads + g) * buffer * dim, from = ((long)b * heads + h) * dim;
  for (int j = t; j < keys; j += 32) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += __half2float(q[from + d]) * __half2float(k[at + (long)j * dim + d]);
    weights[j] = score * rsqrtf((float)dim);
  }
  __syncthreads();
  float most = -INFINITY, sum = 0.0f;
  for (int j = 0; j < keys; ++j) most = fmaxf(most, weights[j]);
  for (int j = 0; j < keys; ++j) sum += expf(weights[j] - most);
  for (int d = t; d < dim; d += 32) {
    float value = 0.0f;
    for (int j = 0; j < keys; ++j) value += expf(weights[j] - most) * __half2float(v[at + (long)j * dim + d]);
    out[from + d] = __float2half(value / sum);
  }
}
#define BUFFERED(name, in_turn)                                                                                  \
  extern "C" void name(const half* Q, const half* K, const half* V, half* O, int batch, int n_q_heads,           \
                       int n_kv_heads, int seqlen_kv, int kv_buf_len, int head_dim) {                            \
    if (batch > 0)                                                                                               \
      buffered<<<dim3(n_q_heads, batch), 32, seqlen_kv * sizeof(float)>>>(Q, K, V, O, n_q_heads, n_kv_heads,     \
                                                                          seqlen_kv, kv_buf_len, head_dim,       \
                                                                          in_turn);                              \
  }
BUFFERED(decode_from_buffer, false)
BUFFERED(decode_from_buffer_in_turn, true)

/// Tiles of B keys, T of them, by one block of 32 threads; the sums are not weighed anew.
__global__ void tiled(const float* Q, const float* K, const float* V, float* O, int N, int d, int T, int B) {
  extern __shared__ float scores[];
  const int t = threadIdx.x;
  for (int i = 0; i < T; ++i) {
    float sum = 0.0f, most = -INFINITY;
    const int row = i * B + t;
    for (int x = 0; x < d; ++x) O[row * d + x] = 0.0f;
    for (int j = 0; j < T; ++j) {
      float tile = -INFINITY;
      for (int y = 0; y < B; ++y) {
        float score = 0.0f;
        for (int x = 0; x < d; ++x) score += Q[row * d + x] * K[(j * B + y) * d + x];
        scores[t * B + y] = score * rsqrtf((float)d);
        tile = fmaxf(tile, scores[t * B + y]);
      }
      most = fmaxf(most, tile);
      for (int y = 0; y < B; ++y) {
        const float p = expf(scores[t * B + y] - most);
        sum += p;
        for (int x = 0; x < d; ++x) O[row * d + x] += p * V[(j * B + y) * d + x];
      }
    }
    for (int x = 0; x < d; ++x) O[row * d + x] /= sum;
  }
}
extern "C" void attend_by_tiles_of_default(const float* Q, const float* K, const float* V, float* O, int N, int d, int T,
                                           int B = 32) {
  tiled<<<1, 32, 32 * B * sizeof(float)>>>(Q, K, V, O, N, d, T, B);
}

/// Keys and values in bytes with a scale for each row.
__global__ void of_bytes(const half* q, const signed char* k, const half* ks, const signed char* v, const half* vs,
                         half* out, int heads, int kv_heads, int keys, int dim) {
  const int h = blockIdx.x, b = blockIdx.y, g = h / (heads / kv_heads);
  const long row = ((long)b * kv_heads + g) * keys, from = ((long)b * heads + h) * dim;
  float most = -INFINITY, sum = 0.0f;
  for (int pass = 0; pass < 2; ++pass)
    for (int j = 0; j < keys; ++j) {
      float score = 0.0f;
      for (int d = 0; d < dim; ++d) score += __half2float(q[from + d]) * k[(row + j) * dim + d];
      score *= rsqrtf((float)dim) * __half2float(ks[row + j]);
      if (pass == 0) most = fmaxf(most, score);
      else sum += expf(score - most);
    }
  for (int d = threadIdx.x; d < dim; d += 32) {
    float value = 0.0f;
    for (int j = 0; j < keys; ++j) {
      float score = 0.0f;
      for (int e = 0; e < dim; ++e) score += __half2float(q[from + e]) * k[(row + j) * dim + e];
      value += expf(score * rsqrtf((float)dim) * __half2float(ks[row + j]) - most) * v[(row + j) * dim + d] *
               __half2float(vs[row + j]);
    }
    out[from + d] = __float2half(value / sum);
  }
}
extern "C" void decode_bytes(const half* q, const signed char* k, const half* k_scale, const signed char* v,
                             const half* v_scale, half* out, int batch, int num_heads, int num_kv_heads, int seqlen_kv,
                             int head_dim) {
  if (batch > 0)
    of_bytes<<<dim3(num_heads, batch), 32>>>(q, k, k_scale, v, v_scale, out, num_heads, num_kv_heads, seqlen_kv,
                                             head_dim);
}

/// Two parts of the keys, each with its own maximum and sum in memory that the caller lends. The twin leaves out a
/// part that has no keys, which is read all the same.
__global__ void parts_of(const float* q, const float* k, const float* v, float* room, int heads, int kv_heads, int keys,
                         int dim, bool all) {
  const int h = blockIdx.x, b = blockIdx.y, part = blockIdx.z, g = h / (heads / kv_heads), half = 8;
  const long from = ((long)b * heads + h) * dim;
  float* to = room + (((long)b * heads + h) * 2 + part) * (dim + 2);
  const int first = part * half, last = part == 0 ? min(keys, half) : keys;
  if (!all && first >= last) return;
  float most = -INFINITY, sum = 0.0f;
  for (int d = 0; d < dim; ++d) to[d] = 0.0f;
  for (int j = first; j < last; ++j) {
    const long at = (((long)b * keys + j) * kv_heads + g) * dim;
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += q[from + d] * k[at + d];
    const float next = fmaxf(most, score * rsqrtf((float)dim)), old = expf(most - next), p = expf(score * rsqrtf((float)dim) - next);
    sum = sum * old + p;
    for (int d = 0; d < dim; ++d) to[d] = to[d] * old + p * v[at + d];
    most = next;
  }
  to[dim] = most, to[dim + 1] = sum;
}
__global__ void join_parts(const float* room, float* out, int heads, int dim) {
  const int row = blockIdx.y * heads + blockIdx.x;
  const float *one = room + (long)row * 2 * (dim + 2), *other = one + dim + 2;
  const float most = fmaxf(one[dim], other[dim]), a = expf(one[dim] - most), b = expf(other[dim] - most);
  const float sum = one[dim + 1] * a + other[dim + 1] * b;
  for (int d = 0; d < dim; ++d) out[(long)row * dim + d] = (one[d] * a + other[d] * b) / sum;
}
#define IN_PARTS(name, all)                                                                                      \
  extern "C" void name(const float* q, const float* k, const float* v, float* out, float* workspace, int batch,  \
                       int num_heads, int num_kv_heads, int seqlen_kv, int head_dim) {                           \
    if (batch == 0) return;                                                                                      \
    parts_of<<<dim3(num_heads, batch, 2), 1>>>(q, k, v, workspace, num_heads, num_kv_heads, seqlen_kv, head_dim, \
                                               all);                                                             \
    join_parts<<<dim3(num_heads, batch), 1>>>(workspace, out, num_heads, head_dim);                              \
  }
IN_PARTS(decode_written_parts, true)
IN_PARTS(decode_unwritten_parts, false)
