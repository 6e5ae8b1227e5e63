// Decode of keys in pages, [page_size, heads, dim] each, right and with one fault; in pages that lie otherwise; and
// of one row of keys for each entry.
#include <cuda_runtime.h>
#include <math.h>

enum What { kRight, kInTurn, kUnscaled, kWithoutLast, kHeadsFirst, kSplit, kSwizzled, kOfFirst };

__global__ void over_pages(float* out, const float* q, const float* keys, const float* values, const int* table,
                           const int* lengths, float scale, int heads, int kv_heads, int width, int page, int dim,
                           What what) {
  extern __shared__ float scores[];
  const int head = blockIdx.x, entry = blockIdx.y;
  const int g = what == kInTurn ? head % kv_heads : head / (heads / kv_heads);
  const int length = lengths[entry] - (what == kWithoutLast ? 1 : 0);
  if (what == kOfFirst) width = 0;
  const float* query = q + (entry * heads + head) * dim;
  const auto at = [&](int t) {
    const long first = (long)table[entry * width + t / page] * page * kv_heads * dim;
    return first + (what == kHeadsFirst ? (g * page + t % page) * dim : (t % page * kv_heads + g) * dim);
  };
  for (int t = threadIdx.x; t < length; t += blockDim.x) {
    float score = 0.0f;
    const float* split = keys + ((long)table[entry * width + t / page] * kv_heads + g) * page * dim;
    for (int d = 0; d < dim; ++d)
      score += query[d] * (what == kSplit      ? split[(d / 4 * page + t % page) * 4 + d % 4]
                           : what == kSwizzled ? keys[at(t) + (d ^ 1)]
                                               : keys[at(t) + d]);
    scores[t] = what == kUnscaled ? score : score * scale;
  }
  __syncthreads();
  float most = -INFINITY, sum = 0.0f;
  for (int t = 0; t < length; ++t) most = fmaxf(most, scores[t]);
  for (int t = 0; t < length; ++t) sum += expf(scores[t] - most);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float value = 0.0f;
    for (int t = 0; t < length; ++t) {
      const long turned = ((long)table[entry * width + t / page] * kv_heads + g) * page * dim + d * page + t % page;
      value += expf(scores[t] - most) * values[what == kSplit ? turned : at(t) + d];
    }
    out[(entry * heads + head) * dim + d] = length > 0 ? value / sum : 0.0f;
  }
}
#define OVER_PAGES(name, what)                                                                                   \
  extern "C" void name(float* out, const float* query, const float* key_cache, const float* value_cache,         \
                       int num_seqs, int num_heads, int num_kv_heads, float scale, const int* block_tables,      \
                       const int* seq_lens, int block_size, int max_num_blocks_per_seq, int head_size,           \
                       int max_seq_len) {                                                                        \
    if (num_seqs == 0) return;                                                                                   \
    over_pages<<<dim3(num_heads, num_seqs), 32, max_seq_len * sizeof(float)>>>(                                  \
        out, query, key_cache, value_cache, block_tables, seq_lens, scale, num_heads, num_kv_heads,              \
        max_num_blocks_per_seq, block_size, head_size, what);                                                    \
  }
OVER_PAGES(pages_of_keys, kRight)
OVER_PAGES(pages_of_keys_in_turn, kInTurn)
OVER_PAGES(pages_of_keys_unscaled, kUnscaled)
OVER_PAGES(pages_of_keys_without_last, kWithoutLast)
OVER_PAGES(pages_of_first, kOfFirst)
OVER_PAGES(pages_of_heads, kHeadsFirst)
OVER_PAGES(pages_of_split_keys, kSplit)
OVER_PAGES(pages_of_swizzled_keys, kSwizzled)

/// Caches of [entries, rows, heads, dim], or of [entries, heads, rows, dim].
__global__ void over_caches(const float* q, const float* keys, const float* values, const int* lengths, float* out,
                            int heads, int kv_heads, int rows, int dim, What what) {
  extern __shared__ float scores[];
  const int head = blockIdx.x, entry = blockIdx.y, g = head / (heads / kv_heads), length = lengths[entry];
  const float* query = q + (entry * heads + head) * dim;
  const auto at = [&](int t) {
    return what == kHeadsFirst ? ((entry * kv_heads + g) * rows + t) * dim : ((entry * rows + t) * kv_heads + g) * dim;
  };
  for (int t = threadIdx.x; t < length; t += blockDim.x) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += query[d] * keys[at(t) + d];
    scores[t] = what == kUnscaled ? score : score * rsqrtf(dim);
  }
  __syncthreads();
  float most = -INFINITY, sum = 0.0f;
  for (int t = 0; t < length; ++t) most = fmaxf(most, scores[t]);
  for (int t = 0; t < length; ++t) sum += expf(scores[t] - most);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float value = 0.0f;
    for (int t = 0; t < length; ++t) value += expf(scores[t] - most) * values[at(t) + d];
    out[(entry * heads + head) * dim + d] = length > 0 ? value / sum : 0.0f;
  }
}
#define OVER_CACHES(name, what)                                                                                  \
  extern "C" void name(const float* q, const float* k_cache, const float* v_cache, const int* seq_lens,          \
                       float* out, int batch, int num_heads, int num_kv_heads, int max_seq_len, int head_dim) {  \
    if (batch == 0) return;                                                                                      \
    over_caches<<<dim3(num_heads, batch), 32, max_seq_len * sizeof(float)>>>(                                    \
        q, k_cache, v_cache, seq_lens, out, num_heads, num_kv_heads, max_seq_len, head_dim, what);               \
  }
OVER_CACHES(caches_of_keys, kRight)
OVER_CACHES(caches_of_keys_unscaled, kUnscaled)
OVER_CACHES(caches_of_heads, kHeadsFirst)

/// Pages whose keys lie in parts of four, stepped through by what the caller says: from one page to the next, and from
/// one head to the next.
__global__ void by_steps_of_pages(float* out, const float* q, const float* keys, const float* values, const int* table,
                                  const int* lengths, float scale, int kv_heads, int width, int page, int dim,
                                  int page_step, int head_step, bool in_turn) {
  extern __shared__ float scores[];
  const int heads = gridDim.x, head = blockIdx.x, entry = blockIdx.y, length = lengths[entry];
  const int g = in_turn ? head % kv_heads : head / (heads / kv_heads);
  const float* query = q + (entry * heads + head) * dim;
  const auto at = [&](int t) { return (long)table[entry * width + t / page] * page_step + g * head_step; };
  for (int t = threadIdx.x; t < length; t += blockDim.x) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += query[d] * keys[at(t) + (d / 4 * page + t % page) * 4 + d % 4];
    scores[t] = score * scale;
  }
  __syncthreads();
  float most = -INFINITY, sum = 0.0f;
  for (int t = 0; t < length; ++t) most = fmaxf(most, scores[t]);
  for (int t = 0; t < length; ++t) sum += expf(scores[t] - most);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float value = 0.0f;
    for (int t = 0; t < length; ++t) value += expf(scores[t] - most) * values[at(t) + d * page + t % page];
    out[(entry * heads + head) * dim + d] = length > 0 ? value / sum : 0.0f;
  }
}
#define BY_STEPS_OF_PAGES(name, in_turn)                                                                         \
  extern "C" int name(float* out, const float* query, const float* key_cache, const float* value_cache,          \
                      int num_seqs, int num_heads, int num_kv_heads, int head_size, float scale,                 \
                      const int* block_tables, const int* context_lens, int block_size, int max_context_len,     \
                      int max_num_blocks_per_seq, int kv_block_stride, int kv_head_stride) {                     \
    if (head_size != 64 && head_size != 128) return -1;                                                          \
    if (num_seqs > 0)                                                                                            \
      by_steps_of_pages<<<dim3(num_heads, num_seqs), 32, max_context_len * sizeof(float)>>>(                     \
          out, query, key_cache, value_cache, block_tables, context_lens, scale, num_kv_heads,                   \
          max_num_blocks_per_seq, block_size, head_size, kv_block_stride, kv_head_stride, in_turn);              \
    return 0;                                                                                                    \
  }
BY_STEPS_OF_PAGES(pages_by_steps, false)
BY_STEPS_OF_PAGES(pages_by_steps_in_turn, true)
