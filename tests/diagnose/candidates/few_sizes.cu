// Kernels of less than an op can do: one length, as many heads of k as of q, head dimensions of their own.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

template <int kDim, bool kRescaled>
__global__ void attend(const half* Q, const half* K, const half* V, half* O, int length, float scale, bool causal) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
  if (row >= length) return;
  const size_t head = (size_t)blockIdx.y * length * kDim;
  float q[kDim / 32], o[kDim / 32] = {};
  for (int i = 0; i < kDim / 32; ++i) q[i] = __half2float(Q[head + row * kDim + i * 32 + lane]) * scale;
  float m = -INFINITY, sum = 0;
  for (int j = 0; j < (causal ? row + 1 : length); ++j) {
    float s = 0;
    for (int i = 0; i < kDim / 32; ++i) s += q[i] * __half2float(K[head + j * kDim + i * 32 + lane]);
    for (int w = 16; w; w >>= 1) s += __shfl_xor_sync(~0u, s, w);
    const float larger = fmaxf(m, s), before = expf(m - larger), p = expf(s - larger);
    sum = sum * before + p;
    for (int i = 0; i < kDim / 32; ++i)
      o[i] = o[i] * (kRescaled ? before : 1.f) + p * __half2float(V[head + j * kDim + i * 32 + lane]);
    m = larger;
  }
  for (int i = 0; i < kDim / 32; ++i) O[head + row * kDim + i * 32 + lane] = __float2half(o[i] / sum);
}

template <bool kRescaled>
void attend_heads(const half* Q, const half* K, const half* V, half* O, int batch, int num_heads, int seq_len,
                  int head_dim, float softmax_scale, bool is_causal) {
  const dim3 grid((seq_len + 3) / 4, batch * num_heads);
  if (head_dim == 64)
    attend<64, kRescaled><<<grid, 128>>>(Q, K, V, O, seq_len, softmax_scale, is_causal);
  else if (head_dim == 128)
    attend<128, kRescaled><<<grid, 128>>>(Q, K, V, O, seq_len, softmax_scale, is_causal);
}

extern "C" void attend_heads_first(const half* Q, const half* K, const half* V, half* O, int batch, int num_heads,
                                   int seq_len, int head_dim, float softmax_scale, bool is_causal) {
  attend_heads<true>(Q, K, V, O, batch, num_heads, seq_len, head_dim, softmax_scale, is_causal);
}
extern "C" void attend_heads_not_rescaled(const half* Q, const half* K, const half* V, half* O, int batch,
                                          int num_heads, int seq_len, int head_dim, float softmax_scale,
                                          bool is_causal) {
  attend_heads<false>(Q, K, V, O, batch, num_heads, seq_len, head_dim, softmax_scale, is_causal);
}

__global__ void quantise_rows(const half* k, const int64_t* dest, int8_t* out, half* scale, int dim, int64_t ks0,
                              int64_t ks1, int64_t os0, int64_t os1, int64_t ss0, int64_t ss1) {
  const int token = blockIdx.x, head = blockIdx.y;
  const half* row = k + token * ks0 + head * ks1;
  float most = 0;
  for (int d = threadIdx.x; d < dim; d += 32) most = fmaxf(most, fabsf(__half2float(row[d])));
  for (int w = 16; w; w >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, w));
  const half step = __float2half(most / 127.f);
  const int64_t slot = dest[token];
  for (int d = threadIdx.x; d < dim; d += 32)
    out[slot * os0 + head * os1 + d] = (int8_t)(__half2float(row[d]) / __half2float(step));
  if (threadIdx.x == 0) scale[slot * ss0 + head * ss1] = step;
}

// The names of the strides are letters: k, out and scale.
extern "C" int quantise_lettered_strides(const void* k, const int64_t* dest, int8_t* out, void* scale, int tokens,
                                         int heads, int dim, int64_t ks0, int64_t ks1, int64_t os0, int64_t os1,
                                         int64_t ss0, int64_t ss1, cudaStream_t stream) {
  if (tokens == 0 || heads == 0) return 0;
  quantise_rows<<<dim3(tokens, heads), 32, 0, stream>>>((const half*)k, dest, out, (half*)scale, dim, ks0, ks1, os0,
                                                        os1, ss0, ss1);
  return (int)cudaGetLastError();
}

// One row of q a block, any number of keys; the head dimension is fixed, and there is no batch.
__global__ void attend_row(const float* q, const float* k, const float* v, float* o, int kv_len, int heads,
                           int kv_heads) {
  constexpr int kDim = 64;
  const int row = blockIdx.x, head = blockIdx.y, of = head / (heads / kv_heads), t = threadIdx.x;
  __shared__ float dot[kDim];
  const float x = q[((size_t)row * heads + head) * kDim + t] * 0.125f;
  float m = -1e30f, sum = 0, acc = 0;
  for (int j = 0; j < kv_len; ++j) {
    dot[t] = x * k[((size_t)j * kv_heads + of) * kDim + t];
    __syncthreads();
    for (int s = kDim / 2; s > 0; s >>= 1) {
      if (t < s) dot[t] += dot[t + s];
      __syncthreads();
    }
    const float s = dot[0], larger = fmaxf(m, s), before = expf(m - larger), p = expf(s - larger);
    __syncthreads();
    sum = sum * before + p;
    acc = acc * before + p * v[((size_t)j * kv_heads + of) * kDim + t];
    m = larger;
  }
  o[((size_t)row * heads + head) * kDim + t] = acc / sum;
}
extern "C" void attend_of_64(const float* q, const float* k, const float* v, float* o, int q_len, int kv_len,
                             int num_heads, int num_kv_heads) {
  attend_row<<<dim3(q_len, num_heads), 64>>>(q, k, v, o, kv_len, num_heads, num_kv_heads);
}

// All four tensors lie as [B, H, S, D], and nothing but the letters says so. In the twin v does not.
template <bool kTurned>
__global__ void attend_letters(const float* q, const float* k, const float* v, float* out, int B, int H, int S, int D) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= B * H * S) return;
  const int head = row / S, first = head * S * D;
  const float scale = rsqrtf((float)D);
  float m = -INFINITY, sum = 0;
  for (int j = 0; j < S; ++j) {
    float s = 0;
    for (int d = 0; d < D; ++d) s += q[row * D + d] * k[first + j * D + d];
    const float larger = fmaxf(m, s * scale);
    sum = sum * expf(m - larger) + expf(s * scale - larger);
    m = larger;
  }
  for (int d = 0; d < D; ++d) {
    float o = 0;
    for (int j = 0; j < S; ++j) {
      float s = 0;
      for (int i = 0; i < D; ++i) s += q[row * D + i] * k[first + j * D + i];
      const int at = kTurned ? ((head / H * S + j) * H + head % H) * D + d : first + j * D + d;
      o += expf(s * scale - m) * v[at];
    }
    out[row * D + d] = o / sum;
  }
}
extern "C" void attend_lettered(const float* q, const float* k, const float* v, float* out, int B, int H, int S, int D) {
  attend_letters<false><<<(B * H * S + 63) / 64, 64>>>(q, k, v, out, B, H, S, D);
}
extern "C" void attend_lettered_but_v(const float* q, const float* k, const float* v, float* out, int B, int H, int S,
                                      int D) {
  attend_letters<true><<<(B * H * S + 63) / 64, 64>>>(q, k, v, out, B, H, S, D);
}
