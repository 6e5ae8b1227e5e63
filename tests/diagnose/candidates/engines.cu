// Attention as the engines that run on one device have it, each right and with one fault: a query by its
// position in a cache, keys before the queries, sizes and strides in bytes.
#include <cuda_runtime.h>
#include <math.h>

enum What { kRight, kWithoutLast, kUnscaled, kInTurn, kWithoutOwn, kHalfDepth, kSquares };

/// One query at `pos`; a layer's cache begins at `loff`.
__global__ void at_position(int pos, int seq_len, const float* q, float* att, float* xb, const float* key_cache,
                            const float* value_cache, int kv_dim, int kv_mul, int head_size, int loff, What what) {
  const int h = blockIdx.x, keys = what == kWithoutLast ? pos : pos + 1;
  const int offset = loff + (what == kInTurn ? h % (kv_dim / head_size) : h / kv_mul) * head_size;
  float* scores = att + h * seq_len;
  for (int t = threadIdx.x; t < keys; t += blockDim.x) {
    float score = 0.0f;
    for (int i = 0; i < head_size; ++i) score += q[h * head_size + i] * key_cache[t * kv_dim + offset + i];
    scores[t] = what == kUnscaled ? score : score / sqrtf(head_size);
  }
  __syncthreads();
  float most = -INFINITY, sum = 0.0f;
  for (int t = 0; t < keys; ++t) most = fmaxf(most, scores[t]);
  for (int t = 0; t < keys; ++t) sum += expf(scores[t] - most);
  for (int i = threadIdx.x; i < head_size; i += blockDim.x) {
    float value = 0.0f;
    for (int t = 0; t < keys; ++t) value += expf(scores[t] - most) * value_cache[t * kv_dim + offset + i];
    xb[h * head_size + i] = value / sum;
  }
}
#define AT_POSITION(name, what)                                                                                  \
  extern "C" void name(int pos, int n_heads, int max_seq_len, const float* q, float* att, float* xb,             \
                       const float* key_cache, const float* value_cache, int kv_dim, int kv_mul, int head_size,  \
                       int loff) {                                                                               \
    at_position<<<n_heads, 32>>>(pos, max_seq_len, q, att, xb, key_cache, value_cache, kv_dim, kv_mul,           \
                                 head_size, loff, what);                                                         \
  }
AT_POSITION(engine_at_position, kRight)
AT_POSITION(engine_at_position_without_last, kWithoutLast)
AT_POSITION(engine_at_position_unscaled, kUnscaled)
AT_POSITION(engine_at_position_in_turn, kInTurn)

/// Queries behind `past_len` keys of a cache, always causal.
__global__ void behind_past(const float* q, const float* k, const float* v, float* o, int q_len, int past_len,
                            int heads, int kv_heads, int dim, What what) {
  extern __shared__ float scores[];
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z, g = h / (heads / kv_heads), keys = past_len + q_len;
  const float* query = q + ((b * q_len + i) * heads + h) * dim;
  const int last = what == kWithoutOwn ? max(past_len + i - 1, 0) : past_len + i;
  for (int j = threadIdx.x; j < keys; j += blockDim.x) {
    float score = 0.0f;
    for (int d = 0; d < (what == kHalfDepth ? dim / 2 : dim); ++d)
      score += query[d] * k[((b * keys + j) * kv_heads + g) * dim + d];
    scores[j] = j > last ? -INFINITY : score * rsqrtf(dim);
  }
  __syncthreads();
  float most = -INFINITY, sum = 0.0f;
  for (int j = 0; j < keys; ++j) most = fmaxf(most, scores[j]);
  for (int j = 0; j < keys; ++j) {
    const float weight = expf(scores[j] - most);
    sum += what == kSquares ? weight * weight : weight;
  }
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float value = 0.0f;
    for (int j = 0; j < keys; ++j)
      value += expf(scores[j] - most) * v[((b * keys + j) * kv_heads + g) * dim + d];
    o[((b * q_len + i) * heads + h) * dim + d] = value / sum;
  }
}
#define BEHIND_PAST(name, what)                                                                                  \
  extern "C" void name(const float* q, const float* k, const float* v, float* attn_output, int batch_size,       \
                       int q_len, int past_len, int num_heads, int num_kv_heads, int head_dim) {                 \
    if (batch_size == 0) return;                                                                                 \
    behind_past<<<dim3(q_len, num_heads, batch_size), 32, (past_len + q_len) * sizeof(float)>>>(                 \
        q, k, v, attn_output, q_len, past_len, num_heads, num_kv_heads, head_dim, what);                         \
  }
BEHIND_PAST(engine_behind_past, kRight)
BEHIND_PAST(engine_behind_past_without_own, kWithoutOwn)
BEHIND_PAST(engine_behind_past_half_depth, kHalfDepth)
BEHIND_PAST(engine_behind_past_squares, kSquares)

/// ne are sizes from the innermost, nb strides in bytes.
__global__ void of_graph(const char* q, const char* k, const char* v, float* dst, float scale, int ne00, int ne01,
                         int ne02, int ne11, int ne12, int nb01, int nb02, int nb03, int nb11, int nb12, int nb13,
                         int nb21, int nb22, int nb23, What what) {
  extern __shared__ float scores[];
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z, g = h / (ne02 / ne12);
  const float* query = (const float*)(q + nb03 * b + nb02 * h + nb01 * i);
  for (int j = threadIdx.x; j < ne11; j += blockDim.x) {
    const float* key = (const float*)(k + nb13 * b + nb12 * g + nb11 * j);
    float score = 0.0f;
    for (int d = 0; d < ne00; ++d) score += query[d] * key[d];
    scores[j] = what == kUnscaled ? score : score * scale;
  }
  __syncthreads();
  float most = -INFINITY, sum = 0.0f;
  for (int j = 0; j < ne11; ++j) most = fmaxf(most, scores[j]);
  for (int j = 0; j < ne11; ++j) sum += expf(scores[j] - most);
  for (int d = threadIdx.x; d < ne00; d += blockDim.x) {
    float value = 0.0f;
    for (int j = 0; j < ne11; ++j)
      value += expf(scores[j] - most) * ((const float*)(v + nb23 * b + nb22 * g + nb21 * j))[d];
    dst[((b * ne01 + i) * ne02 + h) * ne00 + d] = value / sum;
  }
}
#define OF_GRAPH(name, what)                                                                                     \
  extern "C" void name(const char* Q, const char* K, const char* V, float* dst, float scale, int ne00, int ne01, \
                       int ne02, int ne03, int ne11, int ne12, int nb01, int nb02, int nb03, int nb11, int nb12, \
                       int nb13, int nb21, int nb22, int nb23) {                                                 \
    if (ne03 == 0) return;                                                                                       \
    of_graph<<<dim3(ne01, ne02, ne03), 32, ne11 * sizeof(float)>>>(Q, K, V, dst, scale, ne00, ne01, ne02, ne11,  \
                                                                   ne12, nb01, nb02, nb03, nb11, nb12, nb13,     \
                                                                   nb21, nb22, nb23, what);                      \
  }
OF_GRAPH(engine_of_graph, kRight)
OF_GRAPH(engine_of_graph_unscaled, kUnscaled)

/// One query; lanes take pairs of dimensions, and all warps meet within the loop over them: 64 at once.
__global__ void in_pairs(const float* q, const float* k, const float* v, float* o, int keys, int heads, int kv_heads,
                         int dim, What what) {
  extern __shared__ float scores[];
  float* sums = scores + keys;
  const int h = blockIdx.x, g = what == kInTurn ? h % kv_heads : h / (heads / kv_heads);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int j = threadIdx.x; j < keys; j += blockDim.x) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += q[h * dim + d] * k[(j * kv_heads + g) * dim + d];
    scores[j] = score * rsqrtf(dim);
  }
  __syncthreads();
  float most = -INFINITY, sum = 0.0f;
  for (int j = 0; j < keys; ++j) most = fmaxf(most, scores[j]);
  for (int j = 0; j < keys; ++j) sum += expf(scores[j] - most);
  for (int d = 2 * lane; d < dim; d += 64) {
    float one = 0.0f, other = 0.0f;
    for (int j = warp; j < keys; j += warps) {
      const float weight = expf(scores[j] - most);
      one += weight * v[(j * kv_heads + g) * dim + d];
      other += weight * v[(j * kv_heads + g) * dim + d + 1];
    }
    if (warp == 0) sums[d] = sums[d + 1] = 0.0f;
    __syncthreads();
    atomicAdd(&sums[d], one);
    atomicAdd(&sums[d + 1], other);
    __syncthreads();
    if (warp == 0) o[h * dim + d] = sums[d] / sum, o[h * dim + d + 1] = sums[d + 1] / sum;
  }
}
#define IN_PAIRS(name, what)                                                                                     \
  extern "C" void name(const float* q, const float* k_cache, const float* v_cache, float* out, int kv_len,       \
                       int n_heads, int n_kv_heads, int head_dim) {                                              \
    in_pairs<<<n_heads, 64, (kv_len + head_dim) * sizeof(float)>>>(q, k_cache, v_cache, out, kv_len, n_heads,    \
                                                                   n_kv_heads, head_dim, what);                  \
  }
IN_PAIRS(engine_in_pairs, kRight)
IN_PAIRS(engine_in_pairs_in_turn, kInTurn)

/// One query, and no number that says so.
__global__ void of_keys(const float* q, const float* k, const float* v, float* o, int keys, int heads, int kv_heads,
                        int dim, What what) {
  extern __shared__ float scores[];
  const int h = blockIdx.x, g = what == kInTurn ? h % kv_heads : h / (heads / kv_heads);
  for (int j = threadIdx.x; j < keys; j += blockDim.x) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += q[h * dim + d] * k[(j * kv_heads + g) * dim + d];
    scores[j] = score * rsqrtf(dim);
  }
  __syncthreads();
  float most = -INFINITY, sum = 0.0f;
  for (int j = 0; j < keys; ++j) most = fmaxf(most, scores[j]);
  for (int j = 0; j < keys; ++j) sum += expf(scores[j] - most);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float value = 0.0f;
    for (int j = 0; j < keys; ++j) value += expf(scores[j] - most) * v[(j * kv_heads + g) * dim + d];
    o[h * dim + d] = value / sum;
  }
}
#define OF_KEYS(name, what)                                                                                      \
  extern "C" int name(const float* q, const float* k, const float* v, float* o, unsigned kv_len,                 \
                      unsigned num_qo_heads, unsigned num_kv_heads, unsigned head_dim) {                         \
    if (head_dim != 64) return -1;                                                                               \
    of_keys<<<num_qo_heads, 32, kv_len * sizeof(float)>>>(q, k, v, o, kv_len, num_qo_heads, num_kv_heads,        \
                                                          head_dim, what);                                       \
    return 0;                                                                                                    \
  }
OF_KEYS(engine_of_keys, kRight)
OF_KEYS(engine_of_keys_in_turn, kInTurn)
