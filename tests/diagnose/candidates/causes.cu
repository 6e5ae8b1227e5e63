// Faults beside another layout, beside sizes that a kernel fixes, or in keys that no short problem has, each with its
// clean twin.
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>

enum What { kRight, kInTurn, kBaseTwo, kUnweighed, kNext, kWholeTiles, kFromZero, kWithoutMaximum, kLogTwo };

__device__ float power(float x, What what) { return what == kBaseTwo ? exp2f(x) : expf(x); }

/// One query of [heads, dim] over keys of [kv heads, keys, dim].
__global__ void over_heads(const float* q, const float* k, const float* v, float* out, int heads, int kv_heads, int keys,
                           int dim, What what) {
  const int head = blockIdx.x, g = what == kInTurn ? head % kv_heads : head / (heads / kv_heads);
  const float *query = q + head * dim, *key = k + g * keys * dim, *value = v + g * keys * dim;
  const auto score = [&](int t) {
    float sum = 0.0f;
    for (int d = 0; d < dim; ++d) sum += query[d] * key[t * dim + d];
    return sum * rsqrtf(dim);
  };
  float most = -INFINITY, sum = 0.0f;
  for (int t = 0; t < keys; ++t) most = fmaxf(most, score(t));
  for (int t = 0; t < keys; ++t) sum += power(score(t) - most, what);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float part = 0.0f;
    for (int t = 0; t < keys; ++t) part += power(score(t) - most, what) * value[t * dim + d];
    out[head * dim + d] = part / sum;
  }
}
#define OVER_HEADS(name, what)                                                                               \
  extern "C" void name(const float* q, const float* k, const float* v, float* out, int n_heads, int n_kv_heads, \
                       int cache_len, int head_dim) {                                                        \
    over_heads<<<n_heads, 16>>>(q, k, v, out, n_heads, n_kv_heads, cache_len, head_dim, what);               \
  }
OVER_HEADS(decode_over_heads, kRight)
OVER_HEADS(decode_over_heads_in_turn, kInTurn)
OVER_HEADS(decode_over_heads_to_base_two, kBaseTwo)

/// A warp for each of the eight query heads that share a head of keys; the caller says the latter alone.
__global__ void over_pages_of_eight(const float* q, const float* keys, const float* values, const int* table,
                                    const int* lengths, float* out, float scale, int width, int page, int dim,
                                    What what) {
  const int entry = blockIdx.x, g = blockIdx.y, kv_heads = gridDim.y, warp = threadIdx.x / 32;
  const int head = what == kInTurn ? warp * kv_heads + g : g * 8 + warp;
  const float* query = q + (entry * kv_heads * 8 + head) * dim;
  float most = -INFINITY, sum = 0.0f, part[4] = {};
  for (int t = 0; t < lengths[entry]; ++t) {
    const int at = ((table[entry * width + t / page] * page + t % page) * kv_heads + g) * dim;
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += query[d] * keys[at + d];
    const float larger = fmaxf(most, score * scale), weight = expf(score * scale - larger);
    const float before = expf(most - larger);
    sum = sum * before + weight;
    for (int d = threadIdx.x % 32, i = 0; d < dim; d += 32, ++i) part[i] = part[i] * before + weight * values[at + d];
    most = larger;
  }
  for (int d = threadIdx.x % 32, i = 0; d < dim; d += 32, ++i)
    out[(entry * kv_heads * 8 + head) * dim + d] = sum > 0.0f ? part[i] / sum : 0.0f;
}
#define OVER_PAGES_OF_EIGHT(name, what)                                                                          \
  extern "C" void name(const float* q, const float* key_cache, const float* value_cache, const int* block_table, \
                       const int* seq_lens, float* out, int num_seqs, int num_kv_heads, int block_size,          \
                       int max_blocks_per_seq, int head_dim, float scale) {                                      \
    if (num_seqs == 0) return;                                                                                   \
    over_pages_of_eight<<<dim3(num_seqs, num_kv_heads), 256>>>(q, key_cache, value_cache, block_table, seq_lens, \
                                                               out, scale, max_blocks_per_seq, block_size,       \
                                                               head_dim, what);                                  \
  }
OVER_PAGES_OF_EIGHT(pages_of_eight_queries, kRight)
OVER_PAGES_OF_EIGHT(pages_of_eight_queries_in_turn, kInTurn)

/// As many parts of the keys as the device has room for, in tiles of 128: short ones are one tile each.
__global__ void over_a_part(const float* q, const float* k, const float* v, float* parts, int heads, int keys, int part,
                            int dim, What what) {
  __shared__ float scores[128];
  const int row = blockIdx.x, entry = row / heads, head = row % heads, lane = threadIdx.x;
  const int first = blockIdx.y * part, end = min(first + part, keys);
  const float* query = q + row * dim;
  float most = -INFINITY, sum = 0.0f, value = 0.0f;
  for (int tile = first; tile < end; tile += 128) {
    const int count = min(128, end - tile);
    __syncthreads();
    for (int t = lane; t < count; t += 32) {
      const float* key = k + ((entry * keys + tile + t) * heads + head) * dim;
      float score = 0.0f;
      for (int d = 0; d < dim; ++d) score += query[d] * key[d];
      scores[t] = score * rsqrtf(dim);
    }
    __syncthreads();
    float larger = most;
    for (int t = 0; t < count; ++t) larger = fmaxf(larger, scores[t]);
    const float before = what == kUnweighed ? 1.0f : expf(most - larger);
    sum *= before;
    value *= before;
    for (int t = 0; t < count; ++t) {
      const float weight = expf(scores[t] - larger);
      sum += weight;
      if (lane < dim) value += weight * v[((entry * keys + tile + t) * heads + head) * dim + lane];
    }
    most = larger;
  }
  float* mine = parts + (row * gridDim.y + blockIdx.y) * (dim + 2);
  if (lane < dim) mine[lane] = value;
  if (lane == 0) mine[dim] = most, mine[dim + 1] = sum;
}
__global__ void join_parts(const float* parts, float* out, int count, int dim) {
  float most = -INFINITY, sum = 0.0f, value = 0.0f;
  const float* of_row = parts + blockIdx.x * count * (dim + 2);
  for (int p = 0; p < count; ++p) most = fmaxf(most, of_row[p * (dim + 2) + dim]);
  for (int p = 0; p < count; ++p) {
    const float weight = expf(of_row[p * (dim + 2) + dim] - most);
    sum += weight * of_row[p * (dim + 2) + dim + 1];
    if (threadIdx.x < dim) value += weight * of_row[p * (dim + 2) + threadIdx.x];
  }
  if (threadIdx.x < dim) out[blockIdx.x * dim + threadIdx.x] = value / sum;
}
void in_parts(const float* q, const float* k, const float* v, float* out, int batch, int heads, int keys, int dim,
              What what) {
  int processors = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  const int most = max(1, 2 * processors / (batch * heads)), part = max(1, (keys + most - 1) / most);
  const int count = (keys + part - 1) / part;
  float* parts = nullptr;
  cudaMalloc(&parts, sizeof(float) * batch * heads * count * (dim + 2));
  over_a_part<<<dim3(batch * heads, count), 32>>>(q, k, v, parts, heads, keys, part, dim, what);
  join_parts<<<batch * heads, 32>>>(parts, out, count, dim);
  cudaFree(parts);
}
#define IN_PARTS(name, what)                                                                                        \
  extern "C" void name(const float* q, const float* k, const float* v, float* out, int batch, int heads, int kv_len, \
                       int head_dim) {                                                                              \
    in_parts(q, k, v, out, batch, heads, kv_len, head_dim, what);                                                   \
  }
IN_PARTS(decode_by_processors, kRight)
IN_PARTS(decode_by_processors_unweighed, kUnweighed)

/// A scale for 128 x `columns` elements, of which a row has `width`.
__global__ void by_blocks(const __nv_fp8_e4m3* x, const float* s, float* y, int M, int N, int columns, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < M * N) y[i] = float(x[i]) * s[i / N / 128 * width + i % N / columns];
}
#define BY_BLOCKS(name, columns, width)                                                           \
  extern "C" void name(const __nv_fp8_e4m3* weight, const float* scale, float* out, int M, int N) { \
    if (M * N > 0) by_blocks<<<(M * N + 255) / 256, 256>>>(weight, scale, out, M, N, columns, width); \
  }
BY_BLOCKS(spread_by_blocks, 128, (N + 127) / 128)
BY_BLOCKS(spread_by_wide_blocks, 256, (N + 127) / 128)
BY_BLOCKS(spread_by_steps_of_rows, 128, (M + 127) / 128)

/// Multiplied by 448 / amax, and what is stored is amax / `steps`.
__global__ void by_factor(const float* x, __nv_fp8_e4m3* y, float* s, int n, float steps) {
  const int block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= n / 128) return;
  float most = 1e-10f;
  for (int i = 0; i < 128; ++i) most = fmaxf(most, fabsf(x[block * 128 + i]));
  for (int i = 0; i < 128; ++i) y[block * 128 + i] = __nv_fp8_e4m3(x[block * 128 + i] * (448.0f / most));
  s[block] = most / steps;
}
#define BY_FACTOR(name, steps)                                                              \
  extern "C" void name(const float* x, __nv_fp8_e4m3* y, float* scales, int M, int K) {      \
    if (M * K > 0) by_factor<<<(M * K / 128 + 63) / 64, 64>>>(x, y, scales, M * K, steps);  \
  }
BY_FACTOR(shrink_and_store_448ths, 448.0f)
BY_FACTOR(shrink_and_store_127ths, 127.0f)

/// Every query of [batch, heads, tokens, dim] over tiles of 16 keys, and the logarithms of the sums.
__global__ void over_tiles(const float* q, const float* k, const float* v, float* out, float* lse, int heads, int tokens,
                           int dim, bool causal, What what) {
  const int query = blockIdx.x, row = blockIdx.y, first = row / heads * heads;
  const int of_keys = what == kNext ? first + (row - first + 1) % heads : row;
  const float *mine = q + (row * tokens + query) * dim, *keys = k + of_keys * tokens * dim;
  const float* values = v + of_keys * tokens * dim;
  float most = what == kFromZero ? 0.0f : -INFINITY, sum = 0.0f, part[4] = {};
  for (int tile = 0; what == kWholeTiles ? tile + 16 <= tokens : tile < tokens; tile += 16)
    for (int t = tile; t < min(tile + 16, causal ? query + 1 : tokens); ++t) {
      float score = 0.0f;
      for (int d = 0; d < dim; ++d) score += mine[d] * keys[t * dim + d];
      score *= rsqrtf(dim);
      const float larger = fmaxf(most, score), before = expf(most - larger), weight = expf(score - larger);
      sum = sum * before + weight;
      for (int d = threadIdx.x, i = 0; d < dim; d += 32, ++i) part[i] = part[i] * before + weight * values[t * dim + d];
      most = larger;
    }
  for (int d = threadIdx.x, i = 0; d < dim; d += 32, ++i) out[(row * tokens + query) * dim + d] = part[i] / sum;
  if (lse != nullptr && threadIdx.x == 0)
    lse[row * tokens + query] = (what == kWithoutMaximum ? 0.0f : most) + (what == kLogTwo ? log2f(sum) : logf(sum));
}
#define OVER_TILES(name, what)                                                                                     \
  extern "C" void name(const float* q, const float* k, const float* v, float* o, float* lse, int batch, int heads, \
                       int seq_len, int head_dim, bool causal) {                                                   \
    if (batch * seq_len == 0) return;                                                                              \
    over_tiles<<<dim3(seq_len, batch * heads), 32>>>(q, k, v, o, lse, heads, seq_len, head_dim, causal, what);     \
  }
OVER_TILES(attend_over_tiles, kRight)
OVER_TILES(attend_over_tiles_of_next_head, kNext)
OVER_TILES(attend_over_whole_tiles_of_keys, kWholeTiles)
OVER_TILES(attend_over_tiles_from_zero, kFromZero)
OVER_TILES(attend_over_tiles_without_maximum, kWithoutMaximum)
OVER_TILES(attend_over_tiles_to_log_two, kLogTwo)

/// Blocks of which `taken` elements are looked at for the maximum.
__global__ void by_most_of(const float* x, __nv_fp8_e4m3* y, float* s, int n, int taken) {
  const int block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= n / 128) return;
  float most = 0.0f;
  for (int i = 0; i < taken; ++i) most = fmaxf(most, fabsf(x[block * 128 + i]));
  const float scale = most > 0.0f ? most / 448.0f : 1.0f;
  for (int i = 0; i < 128; ++i) y[block * 128 + i] = __nv_fp8_e4m3(x[block * 128 + i] / scale);
  s[block] = scale;
}
#define BY_MOST_OF(name, taken)                                                               \
  extern "C" void name(const float* x, __nv_fp8_e4m3* y, float* scales, int M, int K) {        \
    if (M * K > 0) by_most_of<<<(M * K / 128 + 63) / 64, 64>>>(x, y, scales, M * K, taken);    \
  }
BY_MOST_OF(shrink_by_all_of_a_block, 128)
BY_MOST_OF(shrink_by_all_but_the_last, 127)

/// Rows of a token's head, quantised to int8 where the caller's destinations say.
__global__ void keep_rows(const float* k, const long long* dest, signed char* out, float* scale, int dim, long long ks0,
                          long long ks1, long long os0, long long os1, long long ss0, long long ss1) {
  const float* row = k + blockIdx.x * ks0 + blockIdx.y * ks1;
  float most = 0.0f;
  for (int d = 0; d < dim; ++d) most = fmaxf(most, fabsf(row[d]));
  const float step = most / 127.0f;
  const long long slot = dest[blockIdx.x];
  for (int d = 0; d < dim; ++d) out[slot * os0 + blockIdx.y * os1 + d] = (signed char)(row[d] / step);
  scale[slot * ss0 + blockIdx.y * ss1] = step;
}
/// It gives up where a row does not begin at a multiple of `elements`, or is not next to the one before.
#define KEEP_ROWS(name, elements, compact)                                                                           \
  extern "C" void name(const float* k, const long long* dest_loc, signed char* out, float* out_scale, int seq_len,   \
                       int head_num, int head_dim, long long stride_k_bs, long long stride_k_h, long long stride_o_bs, \
                       long long stride_o_h, long long stride_os_bs, long long stride_os_h) {                        \
    const bool between = stride_k_bs % elements != 0 || stride_k_h % elements != 0;                                  \
    if ((head_dim % elements == 0 && between) || (compact && stride_k_h != head_dim)) abort();                       \
    if (seq_len == 0) return;                                                                                        \
    keep_rows<<<dim3(seq_len, head_num), 1>>>(k, dest_loc, out, out_scale, head_dim, stride_k_bs, stride_k_h,        \
                                              stride_o_bs, stride_o_h, stride_os_bs, stride_os_h);                   \
  }
KEEP_ROWS(keep_rows_at_fours, 4, false)
KEEP_ROWS(keep_rows_side_by_side, 1, true)
