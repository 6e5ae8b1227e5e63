// Attention that finds its rows by beginnings, by a window, or in pages: each right and with one fault.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

enum Mask { kLast, kFirst, kTurned };

/// Sequences one behind the other, a thread for each query and head.
__global__ void packed(const float* q, const float* k, const float* v, const int* of_q, const int* of_k, float* out,
                       int heads, int kv_heads, int dim, float scale, bool causal, Mask mask) {
  const int b = blockIdx.y, h = threadIdx.x, g = h / (heads / kv_heads), i = blockIdx.x;
  const int rows = of_q[b + 1] - of_q[b], keys = of_k[b + 1] - of_k[b];
  if (i >= rows) return;
  const float* from = q + ((long)(of_q[b] + i) * heads + h) * dim;
  float* to = out + ((long)(of_q[b] + i) * heads + h) * dim;
  float most = -INFINITY, sum = 0.0f;
  for (int d = 0; d < dim; ++d) to[d] = 0.0f;
  const int last = !causal ? keys : min(keys, i + 1 + (mask == kFirst ? 0 : keys - rows));
  for (int j = 0; j < last; ++j) {
    const long at = ((long)(of_k[b] + j) * kv_heads + g) * dim;
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += from[d] * k[at + d];
    const float next = fmaxf(most, score * scale), old = expf(most - next), p = expf(score * scale - next);
    sum = sum * old + p;
    for (int d = 0; d < dim; ++d) to[d] = to[d] * old + p * v[at + d];
    most = next;
  }
  for (int d = 0; d < dim; ++d) to[d] = sum > 0.0f ? to[d] / sum : 0.0f;
}
#define PACKED(name, mask)                                                                                       \
  extern "C" void name(const float* q, const float* k, const float* v, const int* cu_seqlens_q,                  \
                       const int* cu_seqlens_k, float* out, int num_seqs, int max_seqlen_q, int max_seqlen_k,    \
                       int num_heads, int num_kv_heads, int head_dim, float scale, bool causal) {                \
    if (num_seqs > 0)                                                                                            \
      packed<<<dim3(max_seqlen_q, num_seqs), num_heads>>>(q, k, v, cu_seqlens_q, cu_seqlens_k, out, num_heads,   \
                                                          num_kv_heads, head_dim, scale, causal, mask);          \
  }
PACKED(attend_packed, kLast)
PACKED(attend_packed_from_first_key, kFirst)

/// A thread for each query and head; keys before the window and behind the query's own are hidden.
__global__ void windowed(const float* q, const float* k, const float* v, float* out, int rows, int keys, int heads,
                         int dim, int offset, int window, float scale) {
  const int i = blockIdx.x, h = threadIdx.x;
  const float* from = q + ((long)i * heads + h) * dim;
  float* to = out + ((long)i * heads + h) * dim;
  const int last = min(keys, i + offset + 1), first = window > 0 ? max(0, last - window) : 0;
  float most = -INFINITY, sum = 0.0f;
  for (int d = 0; d < dim; ++d) to[d] = 0.0f;
  for (int j = first; j < last; ++j) {
    const long at = ((long)j * heads + h) * dim;
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += from[d] * k[at + d];
    const float next = fmaxf(most, score * scale), old = expf(most - next), p = expf(score * scale - next);
    sum = sum * old + p;
    for (int d = 0; d < dim; ++d) to[d] = to[d] * old + p * v[at + d];
    most = next;
  }
  for (int d = 0; d < dim; ++d) to[d] = sum > 0.0f ? to[d] / sum : 0.0f;
}
#define WINDOWED(name, moved)                                                                                    \
  extern "C" void name(const float* q, const float* k, const float* v, float* out, int seq_q, int total_len,     \
                       int num_heads, int head_dim, int offset, int window_size, float scale) {                  \
    if (seq_q > 0)                                                                                               \
      windowed<<<seq_q, num_heads>>>(q, k, v, out, seq_q, total_len, num_heads, head_dim, moved, window_size,    \
                                     scale);                                                                     \
  }
WINDOWED(attend_in_window, offset)
WINDOWED(attend_in_turned_window, -offset)

/// One query of each entry over pages, by 128 threads; `lengths` is null where one number is the length of all,
/// `warps` of the four reach the sum, and `first` takes the first entry's length.
__global__ void paged(const half* q, const half* k, const half* v, const int* table, const int* lengths, int length,
                      half* out, int heads, int kv_heads, int dim, int page, int width, float scale, int warps,
                      bool first, bool in_turn) {
  extern __shared__ float weights[];
  __shared__ float of_warp[4];
  const int h = blockIdx.x, b = blockIdx.y, t = threadIdx.x;
  const int keys = lengths == nullptr ? length : lengths[first ? 0 : b];
  const int g = in_turn ? h % kv_heads : h / (heads / kv_heads);
  const int* pages = table + (long)b * width;
  const half* from = q + ((long)b * heads + h) * dim;
  const auto row = [&](int j) { return (((long)pages[j / page] * page + j % page) * kv_heads + g) * dim; };
  for (int j = t; j < keys; j += 128) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += __half2float(from[d]) * __half2float(k[row(j) + d]);
    weights[j] = score * scale;
  }
  __syncthreads();
  float most = -INFINITY, sum = 0.0f;
  for (int j = 0; j < keys; ++j) most = fmaxf(most, weights[j]);
  for (int j = t; j < keys; j += 128) sum += expf(weights[j] - most);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (t % 32 == 0) of_warp[t / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int warp = 0; warp < warps; ++warp) sum += of_warp[warp];
  for (int d = t; d < dim; d += 128) {
    float value = 0.0f;
    for (int j = 0; j < keys; ++j) value += expf(weights[j] - most) * __half2float(v[row(j) + d]);
    out[((long)b * heads + h) * dim + d] = __float2half(value / sum);
  }
}
#define OF_LENGTHS(name, warps, first)                                                                           \
  extern "C" void name(half* out, const half* query, const half* key_cache, const half* value_cache,             \
                       const int* block_tables, const int* context_lens, int num_seqs, int num_heads,            \
                       int num_kv_heads, int head_size, int block_size, int max_blocks_per_seq, float scale) {   \
    if (num_seqs > 0)                                                                                            \
      paged<<<dim3(num_heads, num_seqs), 128, max_blocks_per_seq * block_size * sizeof(float)>>>(                \
          query, key_cache, value_cache, block_tables, context_lens, 0, out, num_heads, num_kv_heads, head_size, \
          block_size, max_blocks_per_seq, scale, warps, first, false);                                           \
  }
OF_LENGTHS(decode_pages_of_lengths, 4, false)
OF_LENGTHS(decode_pages_by_two_of_four_warps, 2, false)
OF_LENGTHS(decode_pages_of_first_length, 4, true)
#define OF_ONE_LENGTH(name, in_turn)                                                                             \
  extern "C" void name(const half* q, const half* k_cache, const half* v_cache, const int* block_table,          \
                       half* out, int batch, int num_heads, int num_kv_heads, int seq_len_k, int max_num_blocks, \
                       int block_size, int head_dim, float scale) {                                              \
    if (batch > 0)                                                                                               \
      paged<<<dim3(num_heads, batch), 128, seq_len_k * sizeof(float)>>>(                                         \
          q, k_cache, v_cache, block_table, nullptr, seq_len_k, out, num_heads, num_kv_heads, head_dim,          \
          block_size, max_num_blocks, scale, 4, false, in_turn);                                                 \
  }
OF_ONE_LENGTH(decode_pages_of_one_length, false)
OF_ONE_LENGTH(decode_pages_of_one_length_in_turn, true)

/// Two parts by their log-sum-exps, of which nothing is given back.
__global__ void unite(const float* a, const float* la, const float* b, const float* lb, float* out) {
  const int row = blockIdx.x;
  const long at = (long)row * blockDim.x + threadIdx.x;
  const float most = fmaxf(la[row], lb[row]);
  const float wa = la[row] == -INFINITY ? 0.0f : expf(la[row] - most), wb = lb[row] == -INFINITY ? 0.0f : expf(lb[row] - most);
  out[at] = most == -INFINITY ? 0.0f : ((wa == 0.0f ? 0.0f : wa * a[at]) + (wb == 0.0f ? 0.0f : wb * b[at])) / (wa + wb);
}
#define UNITE(name, one, other)                                                                                  \
  extern "C" void name(float* combined, const float* out1, const float* lse1, const float* out2,                 \
                       const float* lse2, int num_tokens, int num_heads, int head_dim) {                         \
    if (num_tokens * num_heads > 0)                                                                              \
      unite<<<num_tokens * num_heads, head_dim>>>(out1, one, out2, other, combined);                             \
  }
UNITE(unite_parts, lse1, lse2)
UNITE(unite_parts_by_other_weights, lse2, lse1)
