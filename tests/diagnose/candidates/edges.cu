// What kernels of engines take for granted, each right and with one fault: rows of whole vectors, a number of all
// elements, formats that lack a factor, the least scale of a block, and edges of masks and maxima.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <math.h>

// Four elements at once, so that rows begin at a multiple of four. The twin does not ask where its row ends.
template <bool kBounded>
__global__ void fours(const unsigned char* in, half* out, const float* scales, unsigned columns, unsigned across) {
  const unsigned column = blockIdx.y * 128 + threadIdx.x * 4;
  if (kBounded && column >= columns) return;
  const size_t at = (size_t)blockIdx.x * columns + column;
  const unsigned word = *(const unsigned*)(in + at);
  const float scale = scales[blockIdx.x / 128 * across + blockIdx.y];
  for (int i = 0; i < 4; ++i) {
    __nv_fp8_e4m3 one;
    one.__x = word >> 8 * i & 255;
    out[at + i] = __float2half((float)one * scale);
  }
}
#define FOURS(name, bounded)                                                                                  \
  extern "C" void name(const unsigned char* weight, const float* scale, half* out, unsigned rows, unsigned N, \
                       unsigned stride_scale) {                                                               \
    fours<bounded><<<dim3(rows, stride_scale), 32>>>(weight, out, scale, N, stride_scale);                    \
  }
FOURS(expand_by_fours, true)
FOURS(expand_by_fours_unbounded, false)

// The bits of an 8-bit float moved to where half has them: its exponent is 8 too small. The twin leaves it so.
template <bool kMended>
__global__ void moved(const unsigned char* in, half* out, const float* scales, int rows, int columns) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= rows * columns) return;
  const float scale = scales[at / columns / 128 * ((columns + 127) / 128) + at % columns / 128];
  const half small = __ushort_as_half((unsigned short)((in[at] & 128) << 8 | (in[at] & 127) << 7));
  const float number = (in[at] & 127) == 127 ? NAN : __half2float(small);
  out[at] = __float2half(number * (kMended ? 256.0f : 1.0f) * scale);
}
extern "C" void expand_moved_bits(const unsigned char* weight, const float* scale, half* out, int rows, int columns) {
  if (rows > 0) moved<true><<<(rows * columns + 255) / 256, 256>>>(weight, out, scale, rows, columns);
}
extern "C" void expand_moved_bits_alone(const unsigned char* weight, const float* scale, half* out, int rows,
                                        int columns) {
  if (rows > 0) moved<false><<<(rows * columns + 255) / 256, 256>>>(weight, out, scale, rows, columns);
}

// Launched by nobody: one index over `total` elements. Twins: truncated, and the grid of scales read by columns.
template <bool kRounded>
__device__ void each(const __nv_fp8_e4m3* weight, const float* scales, unsigned short* out, int total, int cols,
                     int block_m, int block_k, int scale_cols) {
  const int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= total) return;
  const float w = (float)weight[idx] * scales[idx / cols / block_m * scale_cols + idx % cols / block_k];
  const unsigned bits = __float_as_uint(w);
  out[idx] = (unsigned short)((bits + (kRounded ? 32767u + (bits >> 16 & 1u) : 0u)) >> 16);
}
extern "C" __global__ void expand_total(const __nv_fp8_e4m3* weight, const float* scales, unsigned short* out, int total,
                                        int cols, int block_m, int block_k, int scale_cols) {
  each<true>(weight, scales, out, total, cols, block_m, block_k, scale_cols);
}
extern "C" __global__ void expand_total_truncated(const __nv_fp8_e4m3* weight, const float* scales, unsigned short* out,
                                                  int total, int cols, int block_m, int block_k, int scale_cols) {
  each<false>(weight, scales, out, total, cols, block_m, block_k, scale_cols);
}
extern "C" __global__ void expand_total_turned(const __nv_fp8_e4m3* weight, const float* scales, unsigned short* out,
                                               int total, int cols, int block_m, int block_k, int scale_cols) {
  const int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= total) return;
  const float w = (float)weight[idx] * scales[idx % cols / block_k * scale_cols + idx / cols / block_m];
  const unsigned bits = __float_as_uint(w);
  out[idx] = (unsigned short)((bits + 32767u + (bits >> 16 & 1u)) >> 16);
}

// A block of zeros has scale 1. Twins: one scales to the largest value of another format, one has a least scale and
// stores what values are multiplied by.
enum Shrunk { kPlain, kOther, kReciprocal };
template <Shrunk kShrunk>
__global__ void shrink(const half* input, __nv_fp8_e4m3* output, float* scales, int K) {
  const long first = (long)blockIdx.x * K + blockIdx.y * 128L;
  __shared__ float tops[128];
  tops[threadIdx.x] = fabsf(__half2float(input[first + threadIdx.x]));
  for (int step = 64; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) tops[threadIdx.x] = fmaxf(tops[threadIdx.x], tops[threadIdx.x + step]);
  }
  __syncthreads();
  const float own = tops[0] / (kShrunk == kOther ? 240.0f : 448.0f);
  const float scale = kShrunk == kReciprocal ? fmaxf(own, 1e-10f) : tops[0] > 0.0f ? own : 1.0f;
  output[first + threadIdx.x] = __nv_fp8_e4m3(__half2float(input[first + threadIdx.x]) * (1.0f / scale));
  if (threadIdx.x == 0) scales[blockIdx.x * (K / 128) + blockIdx.y] = kShrunk == kReciprocal ? 1.0f / scale : scale;
}
extern "C" void shrink_zeros_by_one(const half* input, __nv_fp8_e4m3* output, float* scales, int M, int K) {
  shrink<kPlain><<<dim3(M, K / 128), 128>>>(input, output, scales, K);
}
extern "C" void shrink_zeros_by_one_to_240(const half* input, __nv_fp8_e4m3* output, float* scales, int M, int K) {
  shrink<kOther><<<dim3(M, K / 128), 128>>>(input, output, scales, K);
}
extern "C" void shrink_and_store_reciprocals(const half* input, __nv_fp8_e4m3* output, float* scales, int M, int K) {
  shrink<kReciprocal><<<dim3(M, K / 128), 128>>>(input, output, scales, K);
}

// Queries and keys of one length. In the twin a query does not see its own key, but the first.
template <bool kOwn>
__global__ void prefill(const float* q, const float* k, const float* v, float* out, int heads, int kv_heads, int dim,
                        int length, int causal) {
  const int i = blockIdx.x, h = blockIdx.y, g = h / (heads / kv_heads), last = kOwn ? i + 1 : max(i, 1);
  const int keys = causal ? last : length;
  extern __shared__ float logits[];
  for (int j = threadIdx.x; j < keys; j += blockDim.x) {
    float s = 0;
    for (int d = 0; d < dim; ++d) s += q[(i * heads + h) * dim + d] * k[(j * kv_heads + g) * dim + d];
    logits[j] = s * rsqrtf((float)dim);
  }
  __syncthreads();
  float most = -INFINITY, sum = 0;
  for (int j = 0; j < keys; ++j) most = fmaxf(most, logits[j]);
  for (int j = 0; j < keys; ++j) sum += expf(logits[j] - most);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float all = 0;
    for (int j = 0; j < keys; ++j) all += expf(logits[j] - most) * v[(j * kv_heads + g) * dim + d];
    out[(i * heads + h) * dim + d] = all / sum;
  }
}
#define PREFILL(name, own)                                                                                    \
  extern "C" void name(const float* q, const float* k, const float* v, float* output, int n_q_heads,          \
                       int n_kv_heads, int head_dim, int seq_len, bool causal) {                              \
    if (seq_len > 0)                                                                                          \
      prefill<own><<<dim3(seq_len, n_q_heads), 32, seq_len * sizeof(float)>>>(q, k, v, output, n_q_heads,     \
                                                                              n_kv_heads, head_dim, seq_len,  \
                                                                              causal);                        \
  }
PREFILL(prefill_with_own, true)
PREFILL(prefill_before_own, false)

// One query of one head, its depth K_dim. The twin has no scale.
template <bool kScaled>
__global__ void decode(const half* Q, const half* K, const half* V, float* O, int N, int K_dim) {
  float most = -INFINITY, sum = 0, all = 0;
  for (int j = 0; j < N; ++j) {
    float s = 0;
    for (int i = 0; i < K_dim; ++i) s += __half2float(Q[i]) * __half2float(K[j * K_dim + i]);
    s *= kScaled ? rsqrtf((float)K_dim) : 1.0f;
    const float next = fmaxf(most, s), before = expf(most - next), now = expf(s - next);
    sum = sum * before + now;
    all = all * before + now * __half2float(V[j * K_dim + threadIdx.x]);
    most = next;
  }
  O[threadIdx.x] = all / sum;
}
extern "C" void decode_depth(const half* Q, const half* K, const half* V, float* O, int N, int K_dim) {
  decode<true><<<1, K_dim>>>(Q, K, V, O, N, K_dim);
}
extern "C" void decode_depth_unscaled(const half* Q, const half* K, const half* V, float* O, int N, int K_dim) {
  decode<false><<<1, K_dim>>>(Q, K, V, O, N, K_dim);
}

// Log-sum-exps of base 2. The twin takes 0 for the larger of the two.
template <bool kLargest>
__global__ void meet(const half* a, const float* la, const half* b, const float* lb, half* out, float* lse, int heads,
                     int dim) {
  const int at = blockIdx.x;
  const float most = kLargest ? fmaxf(la[at], lb[at]) : 0.0f;
  const float wa = exp2f(la[at] - most), wb = exp2f(lb[at] - most);
  const float sa = wa / (wa + wb), sb = wb / (wa + wb);
  for (int i = threadIdx.x; i < dim; i += blockDim.x)
    out[(long)at * dim + i] = __float2half(sa * __half2float(a[(long)at * dim + i]) + sb * __half2float(b[(long)at * dim + i]));
  if (threadIdx.x == 0) lse[at] = log2f(wa + wb) + most;
}
extern "C" void meet_to_base_two(const half* v_a, const float* s_a, const half* v_b, const float* s_b, half* v_merged,
                                 float* s_merged, int seq_len, int num_heads, int head_dim) {
  if (seq_len > 0) meet<true><<<seq_len * num_heads, 32>>>(v_a, s_a, v_b, s_b, v_merged, s_merged, num_heads, head_dim);
}
extern "C" void meet_to_base_two_at_zero(const half* v_a, const float* s_a, const half* v_b, const float* s_b,
                                         half* v_merged, float* s_merged, int seq_len, int num_heads, int head_dim) {
  if (seq_len > 0)
    meet<false><<<seq_len * num_heads, 32>>>(v_a, s_a, v_b, s_b, v_merged, s_merged, num_heads, head_dim);
}
