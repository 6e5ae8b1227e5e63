// Kernels of any size, each beside a twin that stops before the sizes that models have; sums of parts of the keys, and
// arrays that have no room together.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <math.h>

// A block for a query, a thread for a dimension and for those that lie a block further on.
template <int kMost>
__global__ void look_up(const float* Q, const float* K, const float* V, float* O, int M, int N, int d) {
  extern __shared__ float weight[];
  const float* q = Q + blockIdx.x * d;
  for (int j = threadIdx.x; j < N; j += blockDim.x) {
    float score = 0;
    for (int e = 0; e < d; ++e) score += q[e] * K[j * d + e];
    weight[j] = score / sqrtf((float)d);
  }
  __syncthreads();
  float most = -INFINITY, sum = 0;
  for (int j = 0; j < N; ++j) most = fmaxf(most, weight[j]);
  for (int j = 0; j < N; ++j) sum += expf(weight[j] - most);
  for (int e = threadIdx.x; e < d && e < kMost; e += blockDim.x) {
    float result = 0;
    for (int j = 0; j < N; ++j) result += expf(weight[j] - most) * V[j * d + e];
    O[blockIdx.x * d + e] = result / sum;
  }
}
extern "C" void attend_any_dimension(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
  look_up<1000000><<<M, 32, N * sizeof(float)>>>(Q, K, V, output, M, N, d);
}
extern "C" void attend_48_dimensions(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
  look_up<48><<<M, 32, N * sizeof(float)>>>(Q, K, V, output, M, N, d);
}

// A block for a row, group after group.
template <int kMost>
__global__ void shrink_row(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int K) {
  for (int group = 0; group < K / 128 && group < kMost; ++group) {
    const long at = (long)blockIdx.x * K + group * 128 + threadIdx.x;
    __shared__ float top[128];
    top[threadIdx.x] = fabsf(__bfloat162float(x[at]));
    for (int half = 64; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) top[threadIdx.x] = fmaxf(top[threadIdx.x], top[threadIdx.x + half]);
    }
    __syncthreads();
    const float scale = fmaxf(top[0], 1e-4f) / 448.0f;
    y[at] = __nv_fp8_e4m3(__bfloat162float(x[at]) / scale);
    if (threadIdx.x == 0) s[(long)blockIdx.x * (K / 128) + group] = scale;
    __syncthreads();
  }
}
extern "C" void shrink_any_row(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int M, int K) {
  if (M > 0) shrink_row<1000000><<<M, 128>>>(x, y, s, K);
}
extern "C" void shrink_six_groups(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int M, int K) {
  if (M > 0) shrink_row<6><<<M, 128>>>(x, y, s, K);
}

// The pitch of the scales: the twin has one too many where the columns are whole blocks.
template <bool kOneMore>
__global__ void widen_by_pitch(const __nv_fp8_e4m3* x, const float* s, float* y, int M, int N) {
  const int column = blockIdx.x * 64 + threadIdx.x, row = blockIdx.y;
  if (column >= N) return;
  const int pitch = kOneMore ? N / 128 + 1 : (N + 127) / 128;
  y[(long)row * N + column] = (float)x[(long)row * N + column] * s[row / 128 * pitch + column / 128];
}
extern "C" void widen_pitched(const __nv_fp8_e4m3* x, const float* s, float* y, int M, int N) {
  if (M > 0) widen_by_pitch<false><<<dim3((N + 63) / 64, M), 64>>>(x, s, y, M, N);
}
extern "C" void widen_one_more(const __nv_fp8_e4m3* x, const float* s, float* y, int M, int N) {
  if (M > 0) widen_by_pitch<true><<<dim3((N + 63) / 64, M), 64>>>(x, s, y, M, N);
}

// Two arrays of one kernel: 64 KB of the twin's, where 48 are what a kernel may have.
template <int kEach>
__global__ void sway(const float* a, float* b, int n) {
  __shared__ float halves[kEach], others[kEach];
  const int i = blockIdx.x * 256 + threadIdx.x;
  halves[threadIdx.x] = others[threadIdx.x] = i < n ? 0.5f * a[i] : 0;
  if (i < n) b[i] = sinf(halves[threadIdx.x] + others[threadIdx.x]);
}
extern "C" void sway_in_little_room(const float* x, float* y, int n) {
  if (n > 0) sway<4096><<<(n + 255) / 256, 256>>>(x, y, n);
}
extern "C" void sway_in_much_room(const float* x, float* y, int n) {
  if (n > 0) sway<8192><<<(n + 255) / 256, 256>>>(x, y, n);
}

// One query. Parts of 256 keys, which are joined by their maxima; the twin adds their sums as they are.
template <bool kScaled>
__global__ void ask_parts(const float* Q, const float* K, const float* V, float* O, int n_heads, int n_kv_heads,
                          int seq_kv, int head_dim, float scale) {
  const int head = blockIdx.x, batch = blockIdx.y, e = threadIdx.x;
  const long first = (long)(batch * n_kv_heads + head / (n_heads / n_kv_heads)) * seq_kv * head_dim;
  const float* q = Q + (long)(batch * n_heads + head) * head_dim;
  float total = 0, result = 0, top = -INFINITY;
  for (int from = 0; from < seq_kv; from += 256) {
    float most = -INFINITY, sum = 0, part = 0;
    for (int j = from; j < seq_kv && j < from + 256; ++j) {
      float score = 0;
      for (int i = 0; i < head_dim; ++i) score += q[i] * K[first + (long)j * head_dim + i];
      score *= scale;
      const float before = most;
      most = fmaxf(most, score);
      const float kept = expf(before - most), weight = expf(score - most);
      sum = sum * kept + weight;
      part = part * kept + weight * V[first + (long)j * head_dim + e];
    }
    const float joined = fmaxf(top, most), old_part = expf(top - joined), new_part = expf(most - joined);
    total = kScaled ? total * old_part + sum * new_part : total + sum;
    result = result * old_part + part * new_part;
    top = joined;
  }
  O[(long)(batch * n_heads + head) * head_dim + e] = result / total;
}
#define ASK_PARTS(name, scaled)                                                                                 \
  extern "C" void name(const float* Q, const float* K, const float* V, float* O, int batch_size, int n_heads,   \
                       int n_kv_heads, int seq_kv, int head_dim, float scale) {                                 \
    if (batch_size > 0)                                                                                         \
      ask_parts<scaled><<<dim3(n_heads, batch_size), head_dim>>>(Q, K, V, O, n_heads, n_kv_heads, seq_kv, head_dim, \
                                                                 scale);                                        \
  }
ASK_PARTS(decode_joined_parts, true)
ASK_PARTS(decode_added_parts, false)
