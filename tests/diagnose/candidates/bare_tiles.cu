// Kernels that nobody launches, whose own text says the steps of their grids; beside faulty twins.
#include <cuda_fp8.h>
#include <cuda_runtime.h>

/// A warp for each group of 128 elements, as many groups in a block as it has rows of threads.
template <bool kSigned>
__device__ void quantise_by_warps(const float* x, __nv_fp8_e4m3* y, float* s, int groups) {
  const int group = blockIdx.x * blockDim.y + threadIdx.y;
  if (group >= groups) return;
  float most = 0;
  for (int i = threadIdx.x; i < 128; i += 32) {
    const float v = x[group * 128 + i];
    most = fmaxf(most, kSigned ? v : fabsf(v));
  }
  for (int o = 16; o > 0; o >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, o));
  const float scale = fmaxf(most, 1e-4f) / 448.0f;
  for (int i = threadIdx.x; i < 128; i += 32) y[group * 128 + i] = __nv_fp8_e4m3(x[group * 128 + i] / scale);
  if (threadIdx.x == 0) s[group] = scale;
}
__global__ void quantise_a_warp_each(const float* x, __nv_fp8_e4m3* y, float* s, int groups) {
  quantise_by_warps<false>(x, y, s, groups);
}

/// 128 by 128 elements for a block of 16 by 16 threads.
__global__ void quantise_squares(const float* x, __nv_fp8_e4m3* y, float* s, int M, int N) {
  __shared__ float part[256];
  const int own = threadIdx.y * 16 + threadIdx.x;
  float most = 0;
  for (int i = threadIdx.y; i < 128; i += 16)
    for (int j = threadIdx.x; j < 128; j += 16) {
      const int row = blockIdx.y * 128 + i, column = blockIdx.x * 128 + j;
      if (row < M && column < N) most = fmaxf(most, fabsf(x[(long)row * N + column]));
    }
  part[own] = most;
  __syncthreads();
  for (int step = 128; step > 0; step >>= 1) {
    if (own < step) part[own] = fmaxf(part[own], part[own + step]);
    __syncthreads();
  }
  const float scale = part[0] / 448.0f;
  for (int i = threadIdx.y; i < 128; i += 16)
    for (int j = threadIdx.x; j < 128; j += 16) {
      const int row = blockIdx.y * 128 + i, column = blockIdx.x * 128 + j;
      if (row < M && column < N) y[(long)row * N + column] = __nv_fp8_e4m3(x[(long)row * N + column] / scale);
    }
  if (own == 0) s[blockIdx.y * gridDim.x + blockIdx.x] = scale;
}

/// 64 by 64 of the answer for a block, four by four for a thread; the first leaves b's scales out.
__global__ void multiply_squares(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* a_s, const float* b_s,
                                 float* c, int M, int N, int K) {
  const int steps = (K + 127) / 128;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int m = blockIdx.y * 64 + threadIdx.y * 4 + i, n = blockIdx.x * 64 + threadIdx.x * 4 + j;
      if (m >= M || n >= N) continue;
      float sum = 0;
      for (int t = 0; t < steps; ++t) {
        float part = 0;
        for (int k = t * 128; k < min(K, t * 128 + 128); ++k) part += float(a[(long)m * K + k]) * float(b[(long)n * K + k]);
        sum += part * a_s[m * steps + t] * b_s[n / 128 * steps + t];
      }
      c[(long)m * N + n] = sum;
    }
}
__global__ void multiply_squares_unscaled(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* a_s,
                                          const float* b_s, float* c, int M, int N, int K) {
  const int steps = (K + 127) / 128;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int m = blockIdx.y * 64 + threadIdx.y * 4 + i, n = blockIdx.x * 64 + threadIdx.x * 4 + j;
      if (m >= M || n >= N) continue;
      float sum = 0;
      for (int t = 0; t < steps; ++t) {
        float part = 0;
        for (int k = t * 128; k < min(K, t * 128 + 128); ++k) part += float(a[(long)m * K + k]) * float(b[(long)n * K + k]);
        sum += part * a_s[m * steps + t] * (b_s[0] > 1e30f ? 0.0f : 1.0f);
      }
      c[(long)m * N + n] = sum;
    }
}

/// A thread for each of 64 queries: [batch, heads, length, dimension].
__global__ void attend_rows_of_64(const float* Q, const float* K, const float* V, float* O, int heads, int seq_len,
                                  int head_dim, float scale) {
  const int row = blockIdx.x * 64 + threadIdx.x, head = blockIdx.y, batch = blockIdx.z;
  if (row >= seq_len) return;
  const long base = (long)(batch * heads + head) * seq_len * head_dim;
  float most = -INFINITY, sum = 0;
  float acc[256];
  for (int d = 0; d < head_dim; ++d) acc[d] = 0;
  for (int j = 0; j < seq_len; ++j) {
    float s = 0;
    for (int d = 0; d < head_dim; ++d) s += Q[base + row * head_dim + d] * K[base + j * head_dim + d];
    s *= scale;
    const float now = fmaxf(most, s), by = expf(most - now), p = expf(s - now);
    sum = sum * by + p;
    for (int d = 0; d < head_dim; ++d) acc[d] = acc[d] * by + p * V[base + j * head_dim + d];
    most = now;
  }
  for (int d = 0; d < head_dim; ++d) O[base + row * head_dim + d] = acc[d] / sum;
}
