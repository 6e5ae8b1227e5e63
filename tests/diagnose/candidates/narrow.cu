// Kernels of attention for less than the op can do, each with a fault of its own beside: a head dimension that is
// fixed, one query, keys in parts. What they are not made for is not asked, and says nothing of the fault.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

enum Faults { kNone, kUnscaled, kInTurn, kNoBarrier, kUnlike };

// A block of 64 threads for a row of q; the head dimension is 64, and there is no batch.
template <int kFault>
__global__ void attend_row(const float* q, const float* k, const float* v, float* o, int kv_len, int heads,
                           int kv_heads) {
  constexpr int kDim = 64;
  const int row = blockIdx.x, head = blockIdx.y, t = threadIdx.x;
  const int of = kFault == kInTurn ? head % kv_heads : head / (heads / kv_heads);
  __shared__ float dot[kDim];
  const float x = q[((size_t)row * heads + head) * kDim + t] * (kFault == kUnscaled ? 1 : 0.125f);
  float most = -1e30f, sum = 0, acc = 0;
  for (int j = 0; j < kv_len; ++j) {
    dot[t] = x * k[((size_t)j * kv_heads + of) * kDim + t];
    __syncthreads();
    for (int s = kDim / 2; s > 0; s >>= 1) {
      if (t < s) dot[t] += dot[t + s];
      __syncthreads();
    }
    const float s = dot[0], larger = fmaxf(most, s), before = expf(most - larger), p = expf(s - larger);
    if (kFault != kNoBarrier) __syncthreads();
    sum = sum * before + p;
    acc = acc * before + p * v[((size_t)j * kv_heads + of) * kDim + t];
    most = larger;
  }
  o[((size_t)row * heads + head) * kDim + t] = acc / sum;
}
extern "C" void attend_of_64_unscaled(const float* q, const float* k, const float* v, float* o, int q_len, int kv_len,
                                      int num_heads, int num_kv_heads) {
  attend_row<kUnscaled><<<dim3(q_len, num_heads), 64>>>(q, k, v, o, kv_len, num_heads, num_kv_heads);
}
extern "C" void attend_of_64_in_turn(const float* q, const float* k, const float* v, float* o, int q_len, int kv_len,
                                     int num_heads, int num_kv_heads) {
  attend_row<kInTurn><<<dim3(q_len, num_heads), 64>>>(q, k, v, o, kv_len, num_heads, num_kv_heads);
}
extern "C" void attend_of_64_without_barrier(const float* q, const float* k, const float* v, float* o, int q_len,
                                             int kv_len, int num_heads, int num_kv_heads) {
  attend_row<kNoBarrier><<<dim3(q_len, num_heads), 64>>>(q, k, v, o, kv_len, num_heads, num_kv_heads);
}

// Eight warps for a row, with as many heads of k as of q and one length for both; each warp has a maximum and a sum
// of its own, which in the faulty one are kept where all eight write.
template <int kFault>
__global__ void attend_warps(const float* q, const float* k, const float* v, float* o, int length, int heads) {
  constexpr int kDim = 32, kWarps = 8;
  const int row = blockIdx.x, head = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __shared__ float most[kWarps], sum[kWarps], part[kWarps][kDim];
  const int own = kFault == kNoBarrier ? 0 : warp;
  const float x = q[((size_t)row * heads + head) * kDim + lane] * 0.17677669529f;
  float m = -INFINITY, l = 0, acc = 0;
  for (int j = warp; j < length; j += kWarps) {
    float s = x * k[((size_t)j * heads + head) * kDim + lane];
    for (int w = 16; w; w >>= 1) s += __shfl_xor_sync(~0u, s, w);
    const float larger = fmaxf(m, s), before = expf(m - larger), p = expf(s - larger);
    l = l * before + p;
    acc = acc * before + p * v[((size_t)j * heads + head) * kDim + lane];
    m = larger;
  }
  if (lane == 0) most[own] = m, sum[own] = l;
  part[warp][lane] = acc;
  __syncthreads();
  if (warp != 0) return;
  float top = -INFINITY, all = 0, value = 0;
  for (int w = 0; w < kWarps; ++w) top = fmaxf(top, most[kFault == kNoBarrier ? 0 : w]);
  for (int w = 0; w < kWarps; ++w) {
    const float weight = expf(most[kFault == kNoBarrier ? 0 : w] - top);
    all += weight * sum[kFault == kNoBarrier ? 0 : w];
    value += weight * part[w][lane];
  }
  o[((size_t)row * heads + head) * kDim + lane] = value / all;
}
extern "C" void attend_eight_warps(const float* q, const float* k, const float* v, float* o, int seq_len,
                                   int num_heads) {
  attend_warps<kNone><<<dim3(seq_len, num_heads), 256>>>(q, k, v, o, seq_len, num_heads);
}
extern "C" void attend_eight_warps_in_one_place(const float* q, const float* k, const float* v, float* o, int seq_len,
                                                int num_heads) {
  attend_warps<kNoBarrier><<<dim3(seq_len, num_heads), 256>>>(q, k, v, o, seq_len, num_heads);
}

// One query of each head; seq_len is how many keys there are. q and o are [batch, heads, dim], k and v [batch,
// heads, length, dim].
template <int kFault>
__global__ void attend_query(const float* q, const float* k, const float* v, float* o, int length, int dim) {
  const float* keys = k + (size_t)blockIdx.x * length * dim;
  const float* values = v + (size_t)blockIdx.x * length * dim;
  const float* query = q + (size_t)blockIdx.x * dim;
  float most = -INFINITY, sum = 0, acc = 0;
  for (int j = 0; j < length; ++j) {
    float s = 0;
    for (int d = 0; d < dim; ++d) s += query[d] * keys[(size_t)j * dim + d];
    if (kFault != kUnscaled) s *= rsqrtf((float)dim);
    const float larger = fmaxf(most, s), before = expf(most - larger), p = expf(s - larger);
    sum = sum * before + p;
    acc = acc * before + p * values[(size_t)j * dim + threadIdx.x];
    most = larger;
  }
  o[(size_t)blockIdx.x * dim + threadIdx.x] = acc / sum;
}
extern "C" void decode_seq_len_of_keys(const float* q, const float* k, const float* v, float* out, int batch_size,
                                       int num_heads, int seq_len, int head_dim) {
  attend_query<kNone><<<batch_size * num_heads, head_dim>>>(q, k, v, out, seq_len, head_dim);
}
extern "C" void attend_query_of_keys(const float* q, const float* k, const float* v, float* out, int batch_size,
                                     int num_heads, int seq_len, int head_dim) {
  attend_query<kNone><<<batch_size * num_heads, head_dim>>>(q, k, v, out, seq_len, head_dim);
}
extern "C" void decode_seq_len_of_keys_unscaled(const float* q, const float* k, const float* v, float* out,
                                                int batch_size, int num_heads, int seq_len, int head_dim) {
  attend_query<kUnscaled><<<batch_size * num_heads, head_dim>>>(q, k, v, out, seq_len, head_dim);
}

// Keys in parts, the parts' scores summed over the lanes of a warp, which in the faulty one each lane leaves as they
// are; partial results lie in memory that the caller lends.
template <int kFault>
__global__ void attend_part(const float* q, const float* k, const float* v, float* parts, int keys, int dim,
                            int splits) {
  const int head = blockIdx.x, split = blockIdx.y, lane = threadIdx.x, step = (keys + splits - 1) / splits;
  float* part = parts + ((size_t)head * splits + split) * (dim + 2);
  float most = -INFINITY, sum = 0;
  for (int d = lane; d < dim; d += 32) part[2 + d] = 0;
  for (int j = split * step; j < min(keys, (split + 1) * step); ++j) {
    float s = 0;
    for (int d = lane; d < dim; d += 32) s += q[(size_t)head * dim + d] * k[((size_t)head * keys + j) * dim + d];
    if (kFault != kUnlike)
      for (int w = 16; w; w >>= 1) s += __shfl_xor_sync(~0u, s, w);
    s *= rsqrtf((float)dim);
    const float larger = fmaxf(most, s), before = expf(most - larger), p = expf(s - larger);
    sum = sum * before + p;
    for (int d = lane; d < dim; d += 32)
      part[2 + d] = part[2 + d] * before + p * v[((size_t)head * keys + j) * dim + d];
    most = larger;
  }
  if (lane == 0) part[0] = most, part[1] = sum;
}
__global__ void join_parts(const float* parts, float* o, int dim, int splits) {
  const float* part = parts + (size_t)blockIdx.x * splits * (dim + 2);
  float most = -INFINITY, sum = 0, value = 0;
  for (int i = 0; i < splits; ++i) most = fmaxf(most, part[(size_t)i * (dim + 2)]);
  for (int i = 0; i < splits; ++i, part += dim + 2) {
    const float weight = expf(part[0] - most);
    sum += weight * part[1];
    value += weight * part[2 + threadIdx.x];
  }
  o[(size_t)blockIdx.x * dim + threadIdx.x] = value / sum;
}
template <int kFault>
void attend_parts(const float* q, const float* k, const float* v, float* o, float* parts, int heads, int keys, int dim,
                  int splits) {
  if (heads == 0) return;
  attend_part<kFault><<<dim3(heads, splits), 32>>>(q, k, v, parts, keys, dim, splits);
  join_parts<<<heads, dim>>>(parts, o, dim, splits);
}
extern "C" void decode_parts_of_lanes(const float* q, const float* k, const float* v, float* o, float* partials,
                                      int batch, int heads, int kv_len, int head_dim, int num_splits) {
  attend_parts<kNone>(q, k, v, o, partials, batch * heads, kv_len, head_dim, num_splits);
}
extern "C" void decode_parts_of_each_lane(const float* q, const float* k, const float* v, float* o, float* partials,
                                          int batch, int heads, int kv_len, int head_dim, int num_splits) {
  attend_parts<kUnlike>(q, k, v, o, partials, batch * heads, kv_len, head_dim, num_splits);
}

// A causal mask that the caller places: key j is seen by query i where j <= i + causal_shift.
template <int kFault>
__global__ void attend_shifted(const float* q, const float* k, const float* v, float* o, int keys, int heads,
                               int kv_heads, int dim, int shift) {
  const int row = blockIdx.x, head = blockIdx.y, t = threadIdx.x;
  const int of = kFault == kInTurn ? head % kv_heads : head / (heads / kv_heads);
  float most = -1e30f, sum = 0, acc = 0;
  for (int j = 0; j < keys && j <= row + shift; ++j) {
    float s = 0;
    for (int d = 0; d < dim; ++d)
      s += q[((size_t)row * heads + head) * dim + d] * k[((size_t)j * kv_heads + of) * dim + d];
    s *= rsqrtf((float)dim);
    const float larger = fmaxf(most, s), before = expf(most - larger), p = expf(s - larger);
    sum = sum * before + p;
    acc = acc * before + p * v[((size_t)j * kv_heads + of) * dim + t];
    most = larger;
  }
  o[((size_t)row * heads + head) * dim + t] = sum > 0 ? acc / sum : 0;
}
extern "C" void attend_causal_shift(const float* q, const float* k, const float* v, float* o, int seqlen_q, int seqlen_k,
                                    int num_heads, int num_kv_heads, int head_dim, int causal_shift) {
  attend_shifted<kNone><<<dim3(seqlen_q, num_heads), head_dim>>>(q, k, v, o, seqlen_k, num_heads, num_kv_heads, head_dim,
                                                                 causal_shift);
}
extern "C" void attend_causal_shift_in_turn(const float* q, const float* k, const float* v, float* o, int seqlen_q,
                                            int seqlen_k, int num_heads, int num_kv_heads, int head_dim,
                                            int causal_shift) {
  attend_shifted<kInTurn><<<dim3(seqlen_q, num_heads), head_dim>>>(q, k, v, o, seqlen_k, num_heads, num_kv_heads,
                                                                   head_dim, causal_shift);
}

// One query, and kv_len keys; the faulty one keeps the first key of each split for its part.
template <int kFault>
__global__ void attend_split(const float* q, const float* k, const float* v, float* parts, float* lses, int keys,
                             int heads, int kv_heads, int dim, int splits) {
  const int head = blockIdx.x, split = blockIdx.y, batch = blockIdx.z, d = threadIdx.x;
  const int of = head / (heads / kv_heads), step = (keys + splits - 1) / splits;
  const float* query = q + ((size_t)batch * heads + head) * dim;
  float most = -INFINITY, sum = 0, part = 0;
  for (int j = split * step; j < min(keys, (split + 1) * step); ++j) {
    const size_t row = (((size_t)batch * keys + j) * kv_heads + of) * dim;
    float s = 0;
    for (int i = 0; i < dim; ++i) s += query[i] * k[row + i];
    s *= rsqrtf((float)dim);
    const float larger = fmaxf(most, s), before = expf(most - larger), p = expf(s - larger);
    sum = sum * before + p;
    part = kFault == kUnlike ? (j == split * step ? p * v[row + d] : part) : part * before + p * v[row + d];
    most = larger;
  }
  const size_t at = ((size_t)batch * heads + head) * splits + split;
  parts[at * dim + d] = part / sum;
  if (d == 0) lses[at] = most + logf(sum);
}
__global__ void join_splits(const float* parts, const float* lses, float* o, int heads, int dim, int splits) {
  const size_t row = (size_t)blockIdx.y * heads + blockIdx.x;
  float most = -INFINITY, sum = 0, value = 0;
  for (int i = 0; i < splits; ++i) most = fmaxf(most, lses[row * splits + i]);
  for (int i = 0; i < splits; ++i) {
    const float weight = expf(lses[row * splits + i] - most);
    sum += weight;
    value += weight * parts[(row * splits + i) * dim + threadIdx.x];
  }
  o[row * dim + threadIdx.x] = value / sum;
}
extern "C" void decode_kv_len(const float* Q, const float* K_cache, const float* V_cache, float* O, float* O_partial,
                              float* lse_partial, int batch_size, int kv_len, int n_heads, int n_kv_heads, int head_dim,
                              int num_splits) {
  if (batch_size == 0) return;
  attend_split<kUnlike><<<dim3(n_heads, num_splits, batch_size), head_dim>>>(Q, K_cache, V_cache, O_partial, lse_partial,
                                                                             kv_len, n_heads, n_kv_heads, head_dim,
                                                                             num_splits);
  join_splits<<<dim3(n_heads, batch_size), head_dim>>>(O_partial, lse_partial, O, n_heads, head_dim, num_splits);
}
extern "C" void decode_from_pages(const float* q, const float* k_cache, const float* v_cache, float* out,
                                  const int* block_table, int num_heads, int head_dim, int page_size) {
  attend_query<kNone><<<num_heads, head_dim>>>(q, k_cache, v_cache, out, block_table[0] * page_size, head_dim);
}

// One head. Rows are loaded as if they had 64 elements, whatever d is.
__global__ void attend_loaded(const float* q, const float* k, const float* v, float* o, int n, int d) {
  __shared__ float keys[64], values[64];
  const int row = blockIdx.x, t = threadIdx.x;
  float most = -1e30f, sum = 0, acc = 0;
  for (int j = 0; j < n; ++j) {
    keys[t] = k[(size_t)j * d + t], values[t] = v[(size_t)j * d + t];
    __syncthreads();
    float s = 0;
    for (int i = 0; i < d; ++i) s += q[(size_t)row * d + i] * keys[i];
    s *= rsqrtf((float)d);
    const float larger = fmaxf(most, s), before = expf(most - larger), p = expf(s - larger);
    sum = sum * before + p;
    acc = acc * before + p * values[t];
    most = larger;
    __syncthreads();
  }
  if (t < d) o[(size_t)row * d + t] = acc / sum;
}
extern "C" void attend_one_head_of_64(const float* Q, const float* K, const float* V, float* O, int N, int d) {
  attend_loaded<<<N, 64>>>(Q, K, V, O, N, d);
}

// Sums by atomics, whose order changes the last bits; the second adds a slope of its caller's to the scores.
template <bool kSlopes>
__global__ void attend_added(const float* q, const float* k, const float* v, float* o, int n, int d, float alpha) {
  __shared__ float acc[256], sum;
  const int row = blockIdx.x, t = threadIdx.x;
  if (t == 0) sum = 0;
  for (int i = t; i < d; i += blockDim.x) acc[i] = 0;
  float most = -INFINITY;
  for (int j = 0; j < n; ++j) {
    float s = 0;
    for (int i = 0; i < d; ++i) s += q[(size_t)row * d + i] * k[(size_t)j * d + i];
    most = fmaxf(most, s * rsqrtf((float)d) + (kSlopes ? alpha * (row - j) : 0));
  }
  __syncthreads();
  for (int j = t; j < n; j += blockDim.x) {
    float s = 0;
    for (int i = 0; i < d; ++i) s += q[(size_t)row * d + i] * k[(size_t)j * d + i];
    const float p = expf(s * rsqrtf((float)d) + (kSlopes ? alpha * (row - j) : 0) - most);
    atomicAdd(&sum, p);
    for (int i = 0; i < d; ++i) atomicAdd(&acc[i], p * v[(size_t)j * d + i]);
  }
  __syncthreads();
  for (int i = t; i < d; i += blockDim.x) o[(size_t)row * d + i] = acc[i] / sum;
}
extern "C" void attend_by_atomics(const float* Q, const float* K, const float* V, float* output, int N, int d) {
  attend_added<false><<<N, 32>>>(Q, K, V, output, N, d, 0);
}
extern "C" void attend_with_slopes(const float* Q, const float* K, const float* V, float* output, int N, int d,
                                   float alpha) {
  attend_added<true><<<N, 32>>>(Q, K, V, output, N, d, alpha);
}
