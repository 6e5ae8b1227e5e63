// Functions of tensors that do less than the op: heads first, one length, whole tiles, no batch; and host code
// that goes on where a kernel has ended.
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <math.h>

#include <stdexcept>

#include "dlpack.h"

template <bool kScaled>
__global__ void attend(const float* q, const float* k, const float* v, float* o, int length, int dim) {
  const long head = (long)blockIdx.y * length * dim, row = head + (long)blockIdx.x * dim;
  const float scale = kScaled ? rsqrtf((float)dim) : 1.0f;
  float most = -INFINITY, sum = 0;
  for (int j = 0; j < length; ++j) {
    float s = 0;
    for (int d = 0; d < dim; ++d) s += q[row + d] * k[head + (long)j * dim + d];
    most = fmaxf(most, s * scale);
  }
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float part = 0;
    sum = 0;
    for (int j = 0; j < length; ++j) {
      float s = 0;
      for (int e = 0; e < dim; ++e) s += q[row + e] * k[head + (long)j * dim + e];
      const float p = expf(s * scale - most);
      sum += p;
      part += p * v[head + (long)j * dim + d];
    }
    o[row + d] = part / sum;
  }
}

// Any rank: the last two are the length and the dimension, what is before them are heads.
template <bool kScaled>
int attend_tensors(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* o, int rank, int tile) {
  if (q->ndim != rank || q->dtype.bits != 32) return 1;
  int heads = 1;
  for (int i = 0; i < rank; ++i)
    if (k->shape[i] != q->shape[i] || v->shape[i] != q->shape[i]) return 2;
  for (int i = 0; i < rank - 2; ++i) heads *= (int)q->shape[i];
  const int length = (int)q->shape[rank - 2], dim = (int)q->shape[rank - 1];
  if (length % tile != 0) return 3;
  if (heads * length > 0)
    attend<kScaled><<<dim3(length, heads), 32>>>(data_of<float>(q), data_of<float>(k), data_of<float>(v),
                                                 data_of<float>(o), length, dim);
  return 0;
}

extern "C" int attend_equal_lengths(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out) {
  return attend_tensors<true>(q, k, v, out, 4, 1);
}
extern "C" int attend_whole_tiles(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out) {
  return attend_tensors<true>(q, k, v, out, 4, 16);
}
extern "C" int attend_without_batch(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out) {
  return attend_tensors<true>(q, k, v, out, 3, 1);
}
extern "C" int attend_equal_lengths_unscaled(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out) {
  return attend_tensors<false>(q, k, v, out, 4, 1);
}
// One check of dtypes and sizes together.
template <bool kScaled>
void attend_checked(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* o) {
  bool same = q->dtype.bits == 32;
  for (int i = 0; i < 4; ++i) same = same && k->shape[i] == q->shape[i] && v->shape[i] == q->shape[i];
  if (!same) throw std::runtime_error("Expected q.dtype == float32 && q.sizes() == k.sizes() to be true");
  attend_tensors<kScaled>(q, k, v, o, 4, 1);
}
extern "C" void attend_checked_at_once(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out) {
  attend_checked<true>(q, k, v, out);
}
extern "C" void attend_checked_unscaled(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out) {
  attend_checked<false>(q, k, v, out);
}

// One query of each head, [B, H, D], over a cache of keys: [B, S, Hkv, D] or [B, Hkv, S, D], in parts of 64 keys that
// are joined by their weights. Twins: parts that are summed as they are, and heads in turn.
enum Joined { kWeighed, kUnweighed, kInTurn };
__global__ void join_one_query(const float* q, const float* k, const float* v, float* o, int length, int dim, int heads,
                               int key_heads, long each, long of_head, Joined joined) {
  const int h = blockIdx.x, b = blockIdx.y, d = threadIdx.x;
  const int of = joined == kInTurn ? h % key_heads : h / (heads / key_heads);
  const float* query = q + ((long)b * heads + h) * dim;
  const long base = (long)b * length * key_heads * dim + of * of_head;
  float most = -INFINITY, sum = 0, all = 0;
  for (int first = 0; first < length; first += 64) {
    float top = -INFINITY, part = 0, out = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (int j = first; j < min(length, first + 64); ++j) {
        float s = 0;
        for (int i = 0; i < dim; ++i) s += query[i] * k[base + j * each + i];
        s *= rsqrtf((float)dim);
        if (pass == 0) top = fmaxf(top, s);
        else part += expf(s - top), out += expf(s - top) * v[base + j * each + d];
      }
    const float next = fmaxf(most, top);
    const float before = joined == kUnweighed ? 1 : expf(most - next), now = joined == kUnweighed ? 1 : expf(top - next);
    sum = sum * before + part * now;
    all = all * before + out * now;
    most = next;
  }
  o[((long)b * heads + h) * dim + d] = all / sum;
}
int attend_one_query(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* o, bool heads_first,
                     Joined joined) {
  if (q->ndim != 3 || k->ndim != 4 || q->dtype.bits != 32) return 1;
  const int heads = (int)q->shape[1], dim = (int)q->shape[2];
  const int length = (int)k->shape[heads_first ? 2 : 1], key_heads = (int)k->shape[heads_first ? 1 : 2];
  if (q->shape[0] * heads * length > 0)
    join_one_query<<<dim3(heads, (int)q->shape[0]), dim>>>(
        data_of<float>(q), data_of<float>(k), data_of<float>(v), data_of<float>(o), length, dim, heads, key_heads,
        heads_first ? dim : (long)key_heads * dim, heads_first ? (long)length * dim : dim, joined);
  return 0;
}
#define ONE_QUERY(name, heads_first, joined)                                                                 \
  extern "C" int name(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out) {              \
    return attend_one_query(q, k, v, out, heads_first, joined);                                              \
  }
ONE_QUERY(attend_one_query_of_keys, false, kWeighed)
ONE_QUERY(attend_one_query_of_heads, true, kWeighed)
ONE_QUERY(attend_one_query_unweighed, true, kUnweighed)
ONE_QUERY(attend_one_query_in_turn, false, kInTurn)

// A product of 8-bit floats without the scales of a: another operation.
__global__ void multiply(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* b_s, float* c, int M, int N,
                         int K) {
  const int n = blockIdx.x, m = blockIdx.y;
  float sum = 0;
  for (int k = threadIdx.x; k < K; k += 32) sum += (float)a[(long)m * K + k] * (float)b[(long)n * K + k] * b_s[0];
  for (int w = 16; w; w >>= 1) sum += __shfl_xor_sync(~0u, sum, w);
  if (threadIdx.x == 0) c[(long)m * N + n] = sum;
}
extern "C" void multiply_by_weights(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* b_s, float* c, int M,
                                    int N, int K) {
  if (M > 0) multiply<<<dim3(N, M), 32>>>(a, b, b_s, c, M, N, K);
}

// A warp for 128 elements, each thread's four beside each other. One twin stores neighbours in each other's place,
// in the other each thread keeps what a reduction downwards left it.
template <bool kExchanged, bool kDownwards>
__global__ void groups(const float* x, __nv_fp8_e4m3* y, float* s) {
  const long first = blockIdx.x * 128L;
  float top = 0;
  for (int i = 0; i < 4; ++i) top = fmaxf(top, fabsf(x[first + threadIdx.x * 4 + i]));
  for (int step = 16; step > 0; step /= 2)
    top = fmaxf(top, kDownwards ? __shfl_down_sync(~0u, top, step) : __shfl_xor_sync(~0u, top, step));
  const float scale = fmaxf(top, 1e-4f) / 448.0f;
  for (int i = 0; i < 4; ++i) {
    const long at = first + threadIdx.x * 4 + i;
    y[kExchanged ? at ^ 1 : at] = __nv_fp8_e4m3(x[at] / scale);
  }
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
extern "C" void quantise_groups(const float* x, __nv_fp8_e4m3* y, float* s, int rows, int columns) {
  if (rows > 0) groups<false, false><<<rows * (columns / 128), 32>>>(x, y, s);
}
extern "C" void quantise_groups_neighbours_exchanged(const float* x, __nv_fp8_e4m3* y, float* s, int rows, int columns) {
  if (rows > 0) groups<true, false><<<rows * (columns / 128), 32>>>(x, y, s);
}
extern "C" void quantise_groups_by_own_maxima(const float* x, __nv_fp8_e4m3* y, float* s, int rows, int columns) {
  if (rows > 0) groups<false, true><<<rows * (columns / 128), 32>>>(x, y, s);
}

__global__ void wave(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
extern "C" void wave_and_last_by_address(const float* x, float* y, int n) {
  if (n < 1) return;
  if (n > 1) wave<<<n / 256 + 1, 256>>>(x, y, n - 1);
  cudaDeviceSynchronize();
  y[n - 1] = sinf(x[n - 1]);
}
extern "C" void wave_and_last_by_copies(const float* x, float* y, int n) {
  if (n < 1) return;
  if (n > 1) wave<<<n / 256 + 1, 256>>>(x, y, n - 1);
  cudaDeviceSynchronize();
  float last = 0;
  cudaMemcpy(&last, x + n - 1, sizeof last, cudaMemcpyDeviceToHost);
  last = sinf(last);
  cudaMemcpy(y + n - 1, &last, sizeof last, cudaMemcpyHostToDevice);
}

// Computed by the host, beside a kernel that has no part in it.
__global__ void nothing(const float* x) {
  if (x == nullptr) __trap();
}
extern "C" void wave_computed_beside(const float* x, float* y, int n) {
  if (n < 1) return;
  float* all = new float[n];
  cudaMemcpy(all, x, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) all[i] = sinf(all[i]);
  nothing<<<1, 32>>>(x);
  cudaMemcpy(y, all, n * sizeof(float), cudaMemcpyHostToDevice);
  delete[] all;
}
