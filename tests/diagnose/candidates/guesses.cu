// Functions of whose numbers and memory the names say little: tiles, codes of types, lengths with adjectives, memory
// of any type, experts; each right, and with one fault.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <math.h>

#include "dlpack.h"

/// A block for `tile` queries of a head, a thread for each.
__global__ void by_tiles(const float* q, const float* k, const float* v, float* o, int length, int heads, int dim,
                         float scale, bool weighed) {
  extern __shared__ float shared[];
  const int row = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
  float* sums = shared + threadIdx.x * dim;
  const auto at = [&](int i) { return (i * heads + h) * dim; };
  if (row >= length) return;
  for (int d = 0; d < dim; ++d) sums[d] = 0.0f;
  float most = -INFINITY, all = 0.0f;
  for (int j = 0; j < length; ++j) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += q[at(row) + d] * k[at(j) + d];
    score *= scale;
    const float larger = fmaxf(most, score), before = expf(most - larger), weight = expf(score - larger);
    all = all * (weighed ? before : 1.0f) + weight;
    for (int d = 0; d < dim; ++d) sums[d] = sums[d] * before + weight * v[at(j) + d];
    most = larger;
  }
  for (int d = 0; d < dim; ++d) o[at(row) + d] = sums[d] / all;
}
#define BY_TILES(name, weighed)                                                                                  \
  extern "C" void name(const float* q, const float* k, const float* v, float* out, int seq_len, int num_heads,   \
                       int head_dim, float softmax_scale, int Br) {                                              \
    by_tiles<<<dim3((seq_len + Br - 1) / Br, num_heads), Br, Br * head_dim * sizeof(float)>>>(                   \
        q, k, v, out, seq_len, num_heads, head_dim, softmax_scale, weighed);                                     \
  }
BY_TILES(attend_tiles_of_any_size, true)
BY_TILES(attend_tiles_of_any_size_unweighed, false)

/// One query of as many keys as are valid.
__global__ void of_valid(const __half* q, const __half* k, const __half* v, __half* o, int heads, int kv_heads, int dim,
                         int valid, float scale) {
  extern __shared__ float scores[];
  const int h = blockIdx.x, g = h / (heads / kv_heads);
  for (int j = threadIdx.x; j < valid; j += blockDim.x) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d)
      score += __half2float(q[h * dim + d]) * __half2float(k[(j * kv_heads + g) * dim + d]);
    scores[j] = score * scale;
  }
  __syncthreads();
  float most = -INFINITY, all = 0.0f;
  for (int j = 0; j < valid; ++j) most = fmaxf(most, scores[j]);
  for (int j = 0; j < valid; ++j) all += expf(scores[j] - most);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float value = 0.0f;
    for (int j = 0; j < valid; ++j)
      value += expf(scores[j] - most) * __half2float(v[(j * kv_heads + g) * dim + d]);
    o[h * dim + d] = __float2half(value / all);
  }
}
#define OF_VALID(name, valid)                                                                                    \
  extern "C" void name(const __half* q, const __half* k_cache, const __half* v_cache, __half* output,            \
                       int num_q_heads, int num_kv_heads, int head_dim, int max_kv_len, int valid_kv_len,        \
                       float scale) {                                                                            \
    of_valid<<<num_q_heads, 64, max_kv_len * sizeof(float)>>>(q, k_cache, v_cache, output, num_q_heads,          \
                                                              num_kv_heads, head_dim, valid, scale);             \
  }
OF_VALID(decode_valid_keys, valid_kv_len)
OF_VALID(decode_valid_keys_but_the_last, valid_kv_len - 1)

/// States of f32 or of f16, as a code says.
template <class T>
__global__ void join(T* out, float* out_lse, const T* a, const float* a_lse, const T* b, const float* b_lse,
                     int dim, bool of_two) {
  const int row = blockIdx.x;
  const float most = fmaxf(a_lse[row], b_lse[row]), of_a = expf(a_lse[row] - most), of_b = expf(b_lse[row] - most);
  for (int d = threadIdx.x; d < dim; d += blockDim.x)
    out[row * dim + d] = T((of_a * float(a[row * dim + d]) + of_b * float(b[row * dim + d])) / (of_a + of_b));
  if (threadIdx.x == 0) out_lse[row] = most + (of_two ? log2f(of_a + of_b) : logf(of_a + of_b));
}
#define JOIN(name, of_two)                                                                                       \
  extern "C" void name(void* output, void* output_lse, const void* prefix_output, const void* prefix_lse,        \
                       const void* suffix_output, const void* suffix_lse, int num_tokens, int num_heads,         \
                       int head_size, int dtype) {                                                               \
    if (num_tokens == 0) return;                                                                                 \
    const auto run = [&](auto* out, const auto* a, const auto* b) {                                              \
      join<<<num_tokens * num_heads, 32>>>(out, (float*)output_lse, a, (const float*)prefix_lse, b,              \
                                           (const float*)suffix_lse, head_size, of_two);                         \
    };                                                                                                           \
    if (dtype == 0) run((float*)output, (const float*)prefix_output, (const float*)suffix_output);               \
    else run((__half*)output, (const __half*)prefix_output, (const __half*)suffix_output);                       \
  }
JOIN(join_by_code, false)
JOIN(join_by_code_of_two, true)

/// As many rows of each expert as are counted; `first`: all with the scales of the first.
__global__ void of_masked(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,
                          __nv_bfloat16* c, const int* counts, int most, int n, int k, bool first) {
  const int expert = blockIdx.z, row = expert * most + blockIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (blockIdx.y >= counts[expert] || column >= n) return;
  const int steps = (k + 127) / 128, rows_of_scales = (n + 127) / 128;
  float all = 0.0f;
  for (int step = 0; step < steps; ++step) {
    float sum = 0.0f;
    for (int i = step * 128; i < min(step * 128 + 128, k); ++i)
      sum += float(a[(long)row * k + i]) * float(b[((long)expert * n + column) * k + i]);
    all += sum * a_s[row * steps + step] * b_s[((first ? 0 : expert) * rows_of_scales + column / 128) * steps + step];
  }
  c[(long)row * n + column] = __float2bfloat16(all);
}
#define OF_MASKED(name, first)                                                                                   \
  extern "C" void name(const __nv_fp8_e4m3* lhs, const float* lhs_scales, const __nv_fp8_e4m3* rhs,              \
                       const float* rhs_scales, __nv_bfloat16* out, const int* masked_m, int num_groups,         \
                       int max_m, int n, int k) {                                                                \
    if (num_groups > 0 && max_m > 0)                                                                             \
      of_masked<<<dim3((n + 31) / 32, max_m, num_groups), 32>>>(lhs, lhs_scales, rhs, rhs_scales, out, masked_m, \
                                                                max_m, n, k, first);                             \
  }
OF_MASKED(multiply_masked_groups, false)
OF_MASKED(multiply_masked_groups_by_first_scales, true)

/// Tensors that say their sizes: q [B, H, D], caches in pages of [heads, keys, dim], 16 keys and 64 dimensions.
__global__ void of_page_tensors(const float* q, const float* keys, const float* values, const int* table,
                                const int* lengths, float* out, int heads, int kv_heads, int width, float scale,
                                bool turned) {
  constexpr int kDim = 64, kPage = 16;
  extern __shared__ float scores[];
  const int h = blockIdx.x, entry = blockIdx.y, length = lengths[entry];
  const int g = turned ? h % kv_heads : h / (heads / kv_heads);
  const auto at = [&](int t) {
    return (((long)table[entry * width + t / kPage] * kv_heads + g) * kPage + t % kPage) * kDim;
  };
  for (int t = threadIdx.x; t < length; t += blockDim.x) {
    float score = 0.0f;
    for (int d = 0; d < kDim; ++d) score += q[(entry * heads + h) * kDim + d] * keys[at(t) + d];
    scores[t] = score * scale;
  }
  __syncthreads();
  float most = -INFINITY, all = 0.0f;
  for (int t = 0; t < length; ++t) most = fmaxf(most, scores[t]);
  for (int t = 0; t < length; ++t) all += expf(scores[t] - most);
  float value = 0.0f;
  for (int t = 0; t < length; ++t) value += expf(scores[t] - most) * values[at(t) + threadIdx.x];
  out[(entry * heads + h) * kDim + threadIdx.x] = value / all;
}
template <class T>
T* memory_of(const DLTensor* tensor) {
  return (T*)((char*)tensor->data + tensor->byte_offset);
}
#define OF_PAGE_TENSORS(name, turned)                                                                            \
  extern "C" int name(DLTensor* out, DLTensor* query, DLTensor* key_cache, DLTensor* value_cache,                \
                      DLTensor* block_tables, DLTensor* context_lens, float scale, int block_size) {             \
    if (query->ndim != 3 || query->dtype.bits != 32 || query->shape[2] != 64 || block_size != 16) return 1;      \
    const int heads = (int)query->shape[1], width = (int)block_tables->shape[1];                                 \
    of_page_tensors<<<dim3(heads, (unsigned)query->shape[0]), 64, width * block_size * sizeof(float)>>>(         \
        memory_of<float>(query), memory_of<float>(key_cache), memory_of<float>(value_cache),                     \
        memory_of<int>(block_tables), memory_of<int>(context_lens), memory_of<float>(out), heads,                \
        (int)key_cache->shape[1], width, scale, turned);                                                         \
    return 0;                                                                                                    \
  }
OF_PAGE_TENSORS(pages_of_tensors, false)
OF_PAGE_TENSORS(pages_of_tensors_in_turn, true)

/// A gated product in blocks of 128, of which two letters say the sizes; `of_two`: 2 for e in the sigmoid.
__global__ void gated(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int width, bool of_two) {
  const long row = blockIdx.y;
  const int column = blockIdx.x * 128 + threadIdx.x;
  const float gate = __bfloat162float(x[row * 2 * width + column]);
  const float other = __bfloat162float(x[row * 2 * width + width + column]);
  const float h = gate / (1.0f + (of_two ? exp2f(-gate) : expf(-gate))) * other;
  __shared__ float maxima[4];
  float most = fabsf(h);
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
  if (threadIdx.x % 32 == 0) maxima[threadIdx.x / 32] = most;
  __syncthreads();
  for (int warp = 0; warp < 4; ++warp) most = fmaxf(most, maxima[warp]);
  const float scale = fmaxf(most, 1e-4f) / 448.0f;
  y[row * width + column] = __nv_fp8_e4m3(h / scale);
  if (threadIdx.x == 0) s[row * gridDim.x + blockIdx.x] = scale;
}
#define GATED(name, of_two)                                                                                      \
  extern "C" void name(const void* input, void* output, float* scales, int M, int K) {                           \
    if (M > 0)                                                                                                   \
      gated<<<dim3(K / 128, M), 128>>>((const __nv_bfloat16*)input, (__nv_fp8_e4m3*)output, scales, K, of_two);  \
  }
GATED(gate_by_letters, false)
GATED(gate_by_letters_of_two, true)
