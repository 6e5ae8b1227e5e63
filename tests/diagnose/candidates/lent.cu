// Kernels that assert, kernels whose callers lend them room for scores, results that are wider than the inputs,
// and a store that leaves its buffer; each has a twin in which the same place is right or wrong.
#include <assert.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <math.h>

enum Asserts { kNothing, kFours, kThreads, kValues };

template <Asserts asserts>
__global__ void swing(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (asserts == kFours) assert(n % 4 == 0);
  if (asserts == kThreads) assert(i < n && "a thread for each element");
  if (i >= n) return;
  if (asserts == kValues) assert(x[i] > -0.5f);
  y[i] = sinf(x[i]);
}
extern "C" void swing_asserted_by_kernel(const float* x, float* y, int n) {
  if (n > 0) swing<kFours><<<(n + 127) / 128, 128>>>(x, y, n);
}
extern "C" void swing_asserted_of_threads(const float* x, float* y, int n) {
  if (n > 0) swing<kThreads><<<(n + 127) / 128, 128>>>(x, y, n);
}
extern "C" void swing_asserted_of_values(const float* x, float* y, int n) {
  if (n > 0) swing<kValues><<<(n + 127) / 128, 128>>>(x, y, n);
}

// The last element is stored behind the buffer, where the twin stores it in its place.
template <bool kBeside>
__global__ void swing_to_end(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[kBeside && i == n - 1 ? n : i] = sinf(x[i]);
}
extern "C" void swing_last_beside(const float* x, float* y, int n) {
  if (n > 0) swing_to_end<true><<<(n + 127) / 128, 128>>>(x, y, n);
}
// The same by a name that the op does not have.
extern "C" void swing_last_beside_result(const float* x, float* result, int n) {
  if (n > 0) swing_to_end<true><<<(n + 127) / 128, 128>>>(x, result, n);
}
extern "C" void swing_last_in_place(const float* x, float* y, int n) {
  if (n > 0) swing_to_end<false><<<(n + 127) / 128, 128>>>(x, y, n);
}

// Halves in, floats out.
__global__ void swing_halves(const __half* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(__half2float(x[i]));
}
extern "C" void swing_widened(const __half* x, float* y, int n) {
  if (n > 0) swing_halves<<<(n + 127) / 128, 128>>>(x, y, n);
}

// Scores of all queries and keys in memory of the caller's. q, k, v and o are [batch · heads, length, dim].
template <bool kScaled>
__global__ void score(const float* q, const float* k, float* s, int length, int dim) {
  const long head = blockIdx.y, row = head * length + blockIdx.x;
  for (int j = threadIdx.x; j < length; j += blockDim.x) {
    float sum = 0;
    for (int d = 0; d < dim; ++d) sum += q[row * dim + d] * k[(head * length + j) * dim + d];
    s[row * length + j] = kScaled ? sum * rsqrtf((float)dim) : sum;
  }
}
__global__ void weigh(const float* s, const float* v, float* o, int length, int dim) {
  const long head = blockIdx.y, row = head * length + blockIdx.x;
  float most = -INFINITY;
  for (int j = 0; j < length; ++j) most = fmaxf(most, s[row * length + j]);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float sum = 0, part = 0;
    for (int j = 0; j < length; ++j) {
      const float p = expf(s[row * length + j] - most);
      sum += p;
      part += p * v[(head * length + j) * dim + d];
    }
    o[row * dim + d] = part / sum;
  }
}
template <bool kScaled>
void attend(const float* q, const float* k, const float* v, float* o, float* room, int heads, int length, int dim) {
  if (heads == 0 || length == 0) return;
  score<kScaled><<<dim3(length, heads), 32>>>(q, k, room, length, dim);
  weigh<<<dim3(length, heads), 32>>>(room, v, o, length, dim);
}
extern "C" void attend_in_lent_scores(const float* q, const float* k, const float* v, float* o, float* scores, int batch,
                                      int heads, int seq_len, int head_dim) {
  attend<true>(q, k, v, o, scores, batch * heads, seq_len, head_dim);
}
extern "C" void attend_in_workspace(const float* q, const float* k, const float* v, float* o, void* workspace, int batch,
                                    int heads, int seq_len, int head_dim) {
  attend<true>(q, k, v, o, (float*)workspace, batch * heads, seq_len, head_dim);
}
extern "C" void attend_in_workspace_unscaled(const float* q, const float* k, const float* v, float* o, void* workspace,
                                             int batch, int heads, int seq_len, int head_dim) {
  attend<false>(q, k, v, o, (float*)workspace, batch * heads, seq_len, head_dim);
}

// The same of attention. q, k, v and o are [batch, length, heads, dim].
template <bool kScaled>
__global__ void attend_halves(const __half* q, const __half* k, const __half* v, float* o, int heads, int length,
                              int dim) {
  const long first = (long)blockIdx.z * length * heads + blockIdx.y, row = first + (long)blockIdx.x * heads;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float most = -INFINITY, sum = 0, part = 0;
    for (int j = 0; j < length; ++j) {
      const long key = (first + (long)j * heads) * dim;
      float s = 0;
      for (int e = 0; e < dim; ++e) s += __half2float(q[row * dim + e]) * __half2float(k[key + e]);
      if (kScaled) s *= rsqrtf((float)dim);
      const float top = fmaxf(most, s), again = expf(most - top), p = expf(s - top);
      sum = sum * again + p;
      part = part * again + p * __half2float(v[key + d]);
      most = top;
    }
    o[row * dim + d] = part / sum;
  }
}
extern "C" void attend_widened(const __half* q, const __half* k, const __half* v, float* o, int batch, int heads,
                               int seq_len, int head_dim) {
  if (batch * heads * seq_len > 0)
    attend_halves<true><<<dim3(seq_len, heads, batch), 32>>>(q, k, v, o, heads, seq_len, head_dim);
}
extern "C" void attend_widened_unscaled(const __half* q, const __half* k, const __half* v, float* o, int batch,
                                        int heads, int seq_len, int head_dim) {
  if (batch * heads * seq_len > 0)
    attend_halves<false><<<dim3(seq_len, heads, batch), 32>>>(q, k, v, o, heads, seq_len, head_dim);
}

// One head, its lengths said by names of two words. The twin does not scale.
template <bool kScaled>
__global__ void attend_rows(const float* q, const float* k, const float* v, float* o, int keys, int dim) {
  const long row = blockIdx.x;
  float most = -INFINITY, sum = 0, part = 0;
  for (int j = 0; j < keys; ++j) {
    float s = 0;
    for (int e = 0; e < dim; ++e) s += q[row * dim + e] * k[(long)j * dim + e];
    if (kScaled) s *= rsqrtf((float)dim);
    const float top = fmaxf(most, s), again = expf(most - top), p = expf(s - top);
    sum = sum * again + p;
    part = part * again + p * v[(long)j * dim + threadIdx.x];
    most = top;
  }
  o[row * dim + threadIdx.x] = part / sum;
}
extern "C" void attend_num_kv(const float* q, const float* k, const float* v, float* o, int num_q, int num_kv,
                              int head_dim) {
  attend_rows<true><<<num_q, head_dim>>>(q, k, v, o, num_kv, head_dim);
}
extern "C" void attend_num_kv_unscaled(const float* q, const float* k, const float* v, float* o, int num_q, int num_kv,
                                       int head_dim) {
  attend_rows<false><<<num_q, head_dim>>>(q, k, v, o, num_kv, head_dim);
}

// Queries and keys of one count of tokens, heads in groups; the scores of all in the caller's memory. The twin takes
// heads in turn.
template <bool kInGroups>
__global__ void attend_tokens(const float* q, const float* k, const float* v, float* o, float* score, int tokens,
                              int heads, int kv_heads, int dim) {
  const int i = blockIdx.x, h = blockIdx.y, g = kInGroups ? h / (heads / kv_heads) : h % kv_heads;
  float* row = score + ((long)h * tokens + i) * tokens;
  if (threadIdx.x != 0) return;
  float most = -INFINITY, sum = 0;
  for (int j = 0; j < tokens; ++j) {
    float s = 0;
    for (int e = 0; e < dim; ++e) s += q[((long)i * heads + h) * dim + e] * k[((long)j * kv_heads + g) * dim + e];
    row[j] = s * rsqrtf((float)dim);
    most = fmaxf(most, row[j]);
  }
  for (int j = 0; j < tokens; ++j) sum += row[j] = expf(row[j] - most);
  for (int e = 0; e < dim; ++e) {
    float part = 0;
    for (int j = 0; j < tokens; ++j) part += row[j] * v[((long)j * kv_heads + g) * dim + e];
    o[((long)i * heads + h) * dim + e] = part / sum;
  }
}
extern "C" void attend_all_tokens(const float* q, const float* k, const float* v, float* o, float* Score, int num_tokens,
                                  int num_heads, int num_kv_heads, int head_dim) {
  attend_tokens<true><<<dim3(num_tokens, num_heads), 32>>>(q, k, v, o, Score, num_tokens, num_heads, num_kv_heads,
                                                           head_dim);
}
extern "C" void attend_all_tokens_in_turn(const float* q, const float* k, const float* v, float* o, float* Score,
                                          int num_tokens, int num_heads, int num_kv_heads, int head_dim) {
  attend_tokens<false><<<dim3(num_tokens, num_heads), 32>>>(q, k, v, o, Score, num_tokens, num_heads, num_kv_heads,
                                                            head_dim);
}

// -inf taken for the least finite number, as it is by some; the twin adds no maximum to the logarithm. The last
// gives no log-sum-exp.
template <bool kWhole>
__global__ void join(float* out, float* lse, const float* a, const float* lse_a, const float* b, const float* lse_b,
                     int dim) {
  const long row = blockIdx.x;
  const float left = isinf(lse_a[row]) ? -3.402823466e38f : lse_a[row], right = isinf(lse_b[row]) ? -3.402823466e38f : lse_b[row];
  const float top = fmaxf(left, right), p = expf(left - top), r = expf(right - top);
  for (int d = threadIdx.x; d < dim; d += blockDim.x)
    out[row * dim + d] = a[row * dim + d] * (p / (p + r)) + b[row * dim + d] * (r / (p + r));
  if (threadIdx.x == 0 && lse != nullptr) lse[row] = logf(p + r) + (kWhole ? top : 0);
}
extern "C" void join_of_finite(float* output, float* output_lse, const float* prefix_output, const float* prefix_lse,
                               const float* suffix_output, const float* suffix_lse, int num_tokens, int num_heads,
                               int head_size) {
  if (num_tokens > 0)
    join<true><<<num_tokens * num_heads, 32>>>(output, output_lse, prefix_output, prefix_lse, suffix_output, suffix_lse,
                                               head_size);
}
extern "C" void join_without_maximum(float* output, float* output_lse, const float* prefix_output,
                                     const float* prefix_lse, const float* suffix_output, const float* suffix_lse,
                                     int num_tokens, int num_heads, int head_size) {
  if (num_tokens > 0)
    join<false><<<num_tokens * num_heads, 32>>>(output, output_lse, prefix_output, prefix_lse, suffix_output, suffix_lse,
                                                head_size);
}
extern "C" void join_outputs_alone(float* output, const float* prefix_output, const float* prefix_lse,
                                   const float* suffix_output, const float* suffix_lse, int num_tokens, int num_heads,
                                   int head_size) {
  if (num_tokens > 0)
    join<true><<<num_tokens * num_heads, 32>>>(output, nullptr, prefix_output, prefix_lse, suffix_output, suffix_lse,
                                               head_size);
}

// One query of each head over the keys in parts, which are joined by their sums and maxima. The twins do
// not scale.
__global__ void attend_part(const float* q, const float* k, const float* v, float* parts, int keys, int dim, int splits,
                            float scale) {
  const int head = blockIdx.x, split = blockIdx.y, step = (keys + splits - 1) / splits;
  float* part = parts + ((long)head * splits + split) * (dim + 2);
  float most = -INFINITY, sum = 0, value = 0;
  for (int j = split * step; j < min(keys, (split + 1) * step); ++j) {
    float s = 0;
    for (int e = 0; e < dim; ++e) s += q[(long)head * dim + e] * k[((long)head * keys + j) * dim + e];
    const float top = fmaxf(most, s * scale), again = expf(most - top), p = expf(s * scale - top);
    sum = sum * again + p;
    value = value * again + p * v[((long)head * keys + j) * dim + threadIdx.x];
    most = top;
  }
  part[2 + threadIdx.x] = value;
  if (threadIdx.x == 0) part[0] = most, part[1] = sum;
}
__global__ void join_parts(const float* parts, float* o, int dim, int splits) {
  const float* part = parts + (long)blockIdx.x * splits * (dim + 2);
  float most = -INFINITY, sum = 0, value = 0;
  for (int i = 0; i < splits; ++i) most = fmaxf(most, part[(long)i * (dim + 2)]);
  for (int i = 0; i < splits; ++i, part += dim + 2) {
    const float weight = expf(part[0] - most);
    sum += weight * part[1];
    value += weight * part[2 + threadIdx.x];
  }
  o[(long)blockIdx.x * dim + threadIdx.x] = value / sum;
}
template <bool kScaled>
void attend_parts(const float* q, const float* k, const float* v, float* o, float* parts, int heads, int keys, int dim,
                  int splits) {
  if (heads == 0) return;
  attend_part<<<dim3(heads, splits), dim>>>(q, k, v, parts, keys, dim, splits, kScaled ? 1 / sqrtf((float)dim) : 1.0f);
  join_parts<<<heads, dim>>>(parts, o, dim, splits);
}
extern "C" void decode_in_splits(const float* q, const float* k, const float* v, float* o, float* partials, int batch,
                                 int heads, int kv_len, int head_dim, int num_splits) {
  attend_parts<true>(q, k, v, o, partials, batch * heads, kv_len, head_dim, num_splits);
}
extern "C" void decode_in_splits_unscaled(const float* q, const float* k, const float* v, float* o, float* partials,
                                           int batch, int heads, int kv_len, int head_dim, int num_splits) {
  attend_parts<false>(q, k, v, o, partials, batch * heads, kv_len, head_dim, num_splits);
}
extern "C" void decode_from_cache(const float* q, const float* k_cache, const float* v_cache, float* o, float* partials,
                                  int batch, int heads, int max_seq_len, int current_seq_len, int head_dim) {
  if (max_seq_len >= current_seq_len)
    attend_parts<true>(q, k_cache, v_cache, o, partials, batch * heads, current_seq_len, head_dim, 2);
}
extern "C" void decode_from_cache_unscaled(const float* q, const float* k_cache, const float* v_cache, float* o,
                                            float* partials, int batch, int heads, int max_seq_len, int current_seq_len,
                                            int head_dim) {
  if (max_seq_len >= current_seq_len)
    attend_parts<false>(q, k_cache, v_cache, o, partials, batch * heads, current_seq_len, head_dim, 2);
}

// A warp for each of so many groups. The twin takes the maximum of the values, not of their magnitudes.
template <bool kMagnitudes>
__global__ void shrink_group(const float* x, __nv_fp8_e4m3* y, float* s) {
  const long first = blockIdx.x * 128L;
  float top = 0;
  for (int i = threadIdx.x; i < 128; i += 32) top = fmaxf(top, kMagnitudes ? fabsf(x[first + i]) : x[first + i]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
  const float scale = fmaxf(top, 1e-4f) / 448.0f;
  for (int i = threadIdx.x; i < 128; i += 32) y[first + i] = __nv_fp8_e4m3(x[first + i] / scale);
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
extern "C" void shrink_groups(const float* x, __nv_fp8_e4m3* y, float* s, long groups) {
  if (groups > 0) shrink_group<true><<<groups, 32>>>(x, y, s);
}
extern "C" void shrink_groups_signed(const float* x, __nv_fp8_e4m3* y, float* s, long groups) {
  if (groups > 0) shrink_group<false><<<groups, 32>>>(x, y, s);
}
