// Which part of what belongs to whom: least scales beside gates, lanes of a group, parts in another order, values
// of other heads, experts of tiles. Each right and with one fault.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <math.h>

enum Gate { kWhole, kHalf, kRowsApart };

/// A block for each 128 of a row; the scale is at least that of 1/512.
template <Gate how>
__global__ void gate_block(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int width) {
  __shared__ float most[128];
  const int t = threadIdx.x, first = blockIdx.x * 128 + t;
  const __nv_bfloat16* row = x + (long)blockIdx.y * width * (how == kRowsApart ? 1 : 2);
  const float gate = __bfloat162float(row[first]), h = gate / (1.0f + expf(-gate)) * __bfloat162float(row[width + first]);
  most[t] = fabsf(h);
  __syncthreads();
  for (int step = how == kHalf ? 32 : 64; step > 0; step /= 2) {
    if (t < step) most[t] = fmaxf(most[t], most[t + step]);
    __syncthreads();
  }
  const float scale = fmaxf(most[0] / 448.0f, 1.0f / (448.0f * 512.0f));
  y[(long)blockIdx.y * width + first] = __nv_fp8_e4m3(h / scale);
  if (t == 0) s[blockIdx.y * gridDim.x + blockIdx.x] = scale;
}
#define GATE(name, how)                                                                                          \
  extern "C" void name(const __nv_bfloat16* input, __nv_fp8_e4m3* out, float* scales, int num_tokens,            \
                       int hidden_size) {                                                                        \
    if (num_tokens > 0) gate_block<how><<<dim3(hidden_size / 128, num_tokens), 128>>>(input, out, scales, hidden_size); \
  }
GATE(gate_over_least_scale, kWhole)
GATE(gate_over_least_scale_of_half, kHalf)
GATE(gate_over_least_scale_rows_apart, kRowsApart)

/// Four lanes for each head, four elements in turn.
__global__ void keep(const half* k, const int* slots, int8_t* cache, half* scales, int heads, int dim, int steps) {
  const int lane = threadIdx.x % 4, token = blockIdx.x;
  for (int head = threadIdx.x / 4; head < heads; head += 8) {
    const half* from = k + ((long)token * heads + head) * dim;
    float most = 0.0f;
    for (int d = 0; d < dim; ++d)
      if (d / 4 % 4 == lane) most = fmaxf(most, fabsf(__half2float(from[d])));
    const unsigned lanes = 15u << (threadIdx.x & 28);
    for (int step = steps; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(lanes, most, step));
    const half stored = __float2half(most / 127.0f);
    const long row = (long)slots[token] * heads + head;
    for (int d = 0; d < dim; ++d) {
      if (d / 4 % 4 != lane) continue;
      const float q = __half2float(from[d]) / __half2float(stored);
      cache[row * dim + d] = (int8_t)(q == q ? fmaxf(fminf(q, 127.0f), -128.0f) : 0.0f);
    }
    if (lane == 0) scales[row] = stored;
  }
}
#define KEEP(name, steps)                                                                                        \
  extern "C" void name(const half* key, const int* slot_mapping, int8_t* key_cache, half* key_scale,             \
                       int num_tokens, int num_heads, int head_dim) {                                            \
    if (num_tokens > 0) keep<<<num_tokens, 32>>>(key, slot_mapping, key_cache, key_scale, num_heads, head_dim, steps); \
  }
KEEP(keep_by_four_lanes, 2)
KEEP(keep_by_two_of_four_lanes, 1)

/// Results of parts as [parts, batch, heads, dim]; `mixed`: the log-sum-exps alone lie so.
__global__ void combine(const float* parts, const float* lse, const int* lengths, float* out, int heads, int dim,
                        int of_row, int size, bool mixed) {
  const int row = blockIdx.x, rows = gridDim.x, count = (lengths[row / heads] + size - 1) / size;
  float most = -INFINITY, sum = 0.0f, value = 0.0f;
  for (int p = 0; p < count; ++p) most = fmaxf(most, lse[p * rows + row]);
  for (int p = 0; p < count; ++p) {
    const float weight = lse[p * rows + row] == -INFINITY ? 0.0f : expf(lse[p * rows + row] - most);
    const long at = mixed ? (long)row * of_row + p : (long)p * rows + row;
    if (weight > 0.0f) value += weight * parts[at * dim + threadIdx.x];
    sum += weight;
  }
  out[row * dim + threadIdx.x] = sum > 0.0f ? value / sum : 0.0f;
}
#define COMBINE(name, mixed)                                                                                     \
  extern "C" void name(const float* mid_o, const float* mid_lse, const int* b_seqlen, float* out, int batch,     \
                       int num_heads, int num_blocks, int head_dim, int block_seq) {                             \
    if (batch * num_heads > 0)                                                                                   \
      combine<<<batch * num_heads, head_dim>>>(mid_o, mid_lse, b_seqlen, out, num_heads, head_dim, num_blocks,   \
                                               block_seq, mixed);                                                \
  }
COMBINE(combine_parts_apart, false)
COMBINE(combine_mixed_parts, true)

/// A thread for each query head over tokens of a cache by their slots.
__global__ void decode(const float* q, const float* k, const float* v, const int* table, const int* requests,
                       const int* lengths, float* out, int heads, int kv_heads, int dim, int width, float scale,
                       bool in_turn, bool as_it_was) {
  const int h = threadIdx.x, b = blockIdx.x, g = h / (heads / kv_heads), of_v = in_turn ? h % kv_heads : g;
  float most = -INFINITY, sum = 0.0f;
  float* to = out + (b * heads + h) * dim;
  for (int d = 0; d < dim; ++d) to[d] = 0.0f;
  for (int t = 0; t < lengths[b]; ++t) {
    const long slot = table[(long)requests[b] * width + t];
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += q[(b * heads + h) * dim + d] * k[(slot * kv_heads + g) * dim + d];
    const float next = fmaxf(most, score * scale), old = expf(most - next), p = expf(score * scale - next);
    sum = (as_it_was ? sum : sum * old) + p;
    for (int d = 0; d < dim; ++d) to[d] = to[d] * old + p * v[(slot * kv_heads + of_v) * dim + d];
    most = next;
  }
  for (int d = 0; d < dim; ++d) to[d] = sum > 0.0f ? to[d] / sum : 0.0f;
}
#define DECODE(name, in_turn, as_it_was)                                                                         \
  extern "C" void name(const float* q, const float* k, const float* v, const int* req_to_tokens,                 \
                       const int* b_req_idx, const int* b_seqlen, float* out, int batch, int num_heads,          \
                       int num_kv_heads, int head_dim, int max_len, float scale) {                               \
    if (batch > 0)                                                                                               \
      decode<<<batch, num_heads>>>(q, k, v, req_to_tokens, b_req_idx, b_seqlen, out, num_heads, num_kv_heads,    \
                                   head_dim, max_len, scale, in_turn, as_it_was);                                \
  }
DECODE(decode_tokens, false, false)
DECODE(decode_tokens_values_in_turn, true, false)
DECODE(decode_tokens_sum_as_it_was, false, true)

/// The two weights by their size; `first`: the larger always goes to the first part.
__global__ void meet(const float* a, const float* la, const float* b, const float* lb, float* out, float* lse,
                     bool first) {
  const int row = blockIdx.x;
  const long at = (long)row * blockDim.x + threadIdx.x;
  const float most = fmaxf(la[row], lb[row]), ratio = expf(fminf(la[row], lb[row]) - most);
  const float larger = most == -INFINITY ? 0.0f : 1.0f / (1.0f + ratio);
  const float smaller = most == -INFINITY ? 0.0f : ratio / (1.0f + ratio);
  const bool of_a = first || la[row] >= lb[row];
  const float wa = of_a ? larger : smaller, wb = of_a ? smaller : larger;
  out[at] = (wa == 0.0f ? 0.0f : wa * a[at]) + (wb == 0.0f ? 0.0f : wb * b[at]);
  if (threadIdx.x == 0) lse[row] = most == -INFINITY ? most : most + log1pf(ratio);
}
#define MEET(name, first)                                                                                        \
  extern "C" void name(const float* out_a, const float* lse_a, const float* out_b, const float* lse_b,           \
                       float* out, float* lse, int num_tokens, int num_heads, int head_dim) {                    \
    if (num_tokens * num_heads > 0)                                                                              \
      meet<<<num_tokens * num_heads, head_dim>>>(out_a, lse_a, out_b, lse_b, out, lse, first);                   \
  }
MEET(meet_by_size, false)
MEET(meet_larger_first, true)

/// Rows of padding are left as they are; `tile` rows take the expert of the first of them.
__global__ void of_experts(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,
                           __nv_bfloat16* c, const int* experts, int columns, int n, int k, int tile, float factor) {
  const int m = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x, blocks = (k + 127) / 128;
  const int expert = experts == nullptr ? 0 : experts[m / tile * tile];
  if (expert < 0 || j >= columns) return;
  float sum = 0.0f;
  for (int block = 0; block < blocks; ++block) {
    float part = 0.0f;
    for (int i = block * 128; i < k && i < block * 128 + 128; ++i)
      part += float(a[(long)m * k + i]) * float(b[((long)expert * n + j) * k + i]);
    sum += part * a_s[m * blocks + block] * b_s[(expert * ((n + 127) / 128) + j / 128) * blocks + block];
  }
  c[(long)m * n + j] = __float2bfloat16(sum * factor);
}
#define OF_EXPERTS(name, tile, factor)                                                                           \
  extern "C" void name(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,       \
                       __nv_bfloat16* c, const int* m_indices, int m, int n, int k) {                            \
    if (m > 0) of_experts<<<dim3((n + 31) / 32, m), 32>>>(a, a_s, b, b_s, c, m_indices, n, n, k, tile, factor);  \
  }
OF_EXPERTS(multiply_rows_of_experts, 1, 1.0f)
OF_EXPERTS(multiply_tiles_of_experts, 16, 1.0f)
OF_EXPERTS(multiply_rows_of_experts_doubled, 1, 2.0f)

/// A product whose last column has only zeros of b behind it where `left_out` is 1.
__global__ void of_columns(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,
                           __nv_bfloat16* c, int n, int k, int left_out) {
  const int m = blockIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x, blocks = (k + 127) / 128;
  if (j >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k && j < n - left_out; ++i)
    sum += float(a[(long)m * k + i]) * float(b[(long)j * k + i]) * a_s[m * blocks + i / 128] *
           b_s[j / 128 * blocks + i / 128];
  c[(long)m * n + j] = __float2bfloat16(sum);
}
#define OF_COLUMNS(name, left_out)                                                                               \
  extern "C" void name(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,       \
                       __nv_bfloat16* c, int m, int n, int k) {                                                  \
    if (m > 0 && n > 0) of_columns<<<dim3((n + 31) / 32, m), 32>>>(a, a_s, b, b_s, c, n, k, left_out);           \
  }
OF_COLUMNS(multiply_all_columns, 0)
OF_COLUMNS(multiply_all_but_the_last_column, 1)
