// What names and memory beside the op's mean: flags that callers clear, halves apart, constants of a file, tokens of a
// first part, rows and columns; each right and with one fault.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

/// A thread for each result; the flag tells NaN among the inputs.
__global__ void flagged(const uint8_t* a, const float* as, const uint8_t* b, const float* bs, __nv_bfloat16* c,
                        unsigned* error_flag, int M, int N, int K, bool scaled) {
  const long at = (long)blockIdx.x * 64 + threadIdx.x;
  if (at >= (long)M * N) return;
  const int m = at / N, n = at % N, groups = (K + 127) / 128;
  float sum = 0.0f;
  for (int g = 0; g < groups; ++g) {
    float part = 0.0f;
    for (int k = g * 128; k < K && k < (g + 1) * 128; ++k) {
      const uint8_t one = a[(long)m * K + k], other = b[(long)n * K + k];
      if ((one & 127) == 127 || (other & 127) == 127) atomicOr(error_flag, 1u);
      __nv_fp8_e4m3 x, y;
      x.__x = one, y.__x = other;
      part += float(x) * float(y);
    }
    sum += part * (scaled ? as[m * groups + g] : 1.0f) * bs[n / 128 * groups + g];
  }
  c[at] = __float2bfloat16(sum);
}
#define FLAGGED(name, scaled)                                                                                    \
  extern "C" void name(const uint8_t* a, const float* a_scales, const uint8_t* b, const float* b_scales,         \
                       __nv_bfloat16* c, unsigned* error_flag, int m, int n, int k) {                            \
    if (m > 0 && n > 0)                                                                                          \
      flagged<<<((long)m * n + 63) / 64, 64>>>(a, a_scales, b, b_scales, c, error_flag, m, n, k, scaled);        \
  }
FLAGGED(multiply_and_flag, true)
FLAGGED(multiply_and_flag_unscaled, false)

/// Scales that are exponents of two, a byte each.
__global__ void by_exponents(const uint8_t* a, const uint8_t* as, const uint8_t* b, const uint8_t* bs,
                             __nv_bfloat16* c, int M, int N, int K) {
  const long at = (long)blockIdx.x * 64 + threadIdx.x;
  if (at >= (long)M * N) return;
  const int m = at / N, n = at % N, groups = K / 128;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    __nv_fp8_e4m3 x, y;
    x.__x = a[(long)m * K + k], y.__x = b[(long)n * K + k];
    sum += ldexpf(float(x) * float(y), as[m * groups + k / 128] + bs[n / 128 * groups + k / 128] - 254);
  }
  c[at] = __float2bfloat16(sum);
}
extern "C" void multiply_by_exponents(const uint8_t* a, const uint8_t* a_scales, const uint8_t* b,
                                      const uint8_t* b_scales, __nv_bfloat16* c, int m, int n, int k) {
  if (m > 0 && n > 0)
    by_exponents<<<((long)m * n + 63) / 64, 64>>>(a, a_scales, b, b_scales, c, m, n, k);
}

/// A block for each 128 of a row, of halves under CUDA's own name for them.
__global__ void shrunk(const __nv_half* x, __nv_fp8_e4m3* y, float* s, int K, bool magnitude, bool wide) {
  __shared__ float most[128];
  const int t = threadIdx.x;
  const long at = (long)blockIdx.y * K + blockIdx.x * 128 + t;
  const float value = __half2float(x[at]);
  most[t] = magnitude ? fabsf(value) : value;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) most[t] = fmaxf(most[t], most[t + step]);
    __syncthreads();
  }
  const float scale = fmaxf(most[0], 1e-4f) / 448.0f;
  y[at].__x = __nv_cvt_float_to_fp8(value / scale, __NV_SATFINITE, wide ? __NV_E5M2 : __NV_E4M3);
  if (t == 0) s[blockIdx.y * gridDim.x + blockIdx.x] = scale;
}
#define SHRUNK(name, magnitude, wide)                                                                            \
  extern "C" void name(const __nv_half* x, __nv_fp8_e4m3* y, float* s, int M, int K, int kBlockK) {              \
    if (M > 0) shrunk<<<dim3(K / kBlockK, M), 128>>>(x, y, s, K, magnitude, wide);                               \
  }
SHRUNK(shrink_nv_halves, true, false)
SHRUNK(shrink_nv_halves_signed, false, false)
SHRUNK(shrink_nv_halves_to_e5m2, true, true)

/// A gate and what it is multiplied with, a block for each 128 of a row.
__global__ void gated_apart(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_fp8_e4m3* y, float* s, int K) {
  __shared__ float most[128];
  const int t = threadIdx.x;
  const long at = (long)blockIdx.y * K + blockIdx.x * 128 + t;
  const float g = __bfloat162float(gate[at]), h = g / (1.0f + expf(-g)) * __bfloat162float(up[at]);
  most[t] = fabsf(h);
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) most[t] = fmaxf(most[t], most[t + step]);
    __syncthreads();
  }
  const float scale = fmaxf(most[0], 1e-4f) / 448.0f;
  y[at] = __nv_fp8_e4m3(h / scale);
  if (t == 0) s[blockIdx.y * gridDim.x + blockIdx.x] = scale;
}
#define GATED_APART(name, one, other)                                                                            \
  extern "C" void name(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_fp8_e4m3* out, float* scales,    \
                       int n_rows, int n_cols) {                                                                 \
    if (n_rows > 0) gated_apart<<<dim3(n_cols / 128, n_rows), 128>>>(one, other, out, scales, n_cols);           \
  }
GATED_APART(gate_apart, gate, up)
GATED_APART(gate_apart_swapped, up, gate)

/// Blocks of a weight, rounded to bf16 by its bits: to even, or ties away from zero.
__global__ void widened(const __nv_fp8_e4m3* w, const float* s, unsigned short* y, int rows, int cols, int block_r,
                        int block_c, bool even, bool divides) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= rows || n >= cols) return;
  const float scale = s[m / block_r * ((cols + block_c - 1) / block_c) + n / block_c], x = float(w[(long)m * cols + n]);
  const float value = divides ? x / scale : x * scale;
  const unsigned bits = __float_as_uint(value);
  y[(long)m * cols + n] = value != value ? 0x7fff : (bits + (even ? 0x7fffu + (bits >> 16 & 1) : 0x8000u)) >> 16;
}
#define WIDENED(name, even, divides)                                                                             \
  extern "C" void name(const __nv_fp8_e4m3* w, const float* s, unsigned short* bf16_out, int rows, int cols,     \
                       int block_r, int block_c) {                                                               \
    if (rows > 0 && cols > 0)                                                                                    \
      widened<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(w, s, bf16_out, rows, cols, block_r,   \
                                                                          block_c, even, divides);               \
  }
WIDENED(widen_to_even, true, false)
WIDENED(widen_away, false, false)
WIDENED(widen_and_divide, true, true)

/// Eight columns at once, of rows that begin at a multiple of them.
__global__ void by_eights(const __nv_fp8_e4m3* w, const float* s, __nv_bfloat16* y, int rows, int cols, int block,
                          bool scaled) {
  const int n = (blockIdx.x * 16 + threadIdx.x) * 8, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= rows || n >= cols) return;
  __nv_bfloat16 part[8];
  for (int i = 0; i < 8 && n + i < cols; ++i) {
    const float scale = scaled ? s[m / block * ((cols + block - 1) / block) + (n + i) / block] : 1.0f;
    part[i] = __float2bfloat16(float(w[(long)m * cols + n + i]) * scale);
  }
  if (n + 7 < cols)
    *reinterpret_cast<uint4*>(y + (long)m * cols + n) = *reinterpret_cast<const uint4*>(part);
  else
    for (int i = 0; n + i < cols; ++i) y[(long)m * cols + n + i] = part[i];
}
#define BY_EIGHTS(name, scaled)                                                                                  \
  extern "C" void name(const __nv_fp8_e4m3* w, const float* s, __nv_bfloat16* y, int M, int N, int block_size) { \
    if (M > 0 && N > 0)                                                                                          \
      by_eights<<<dim3((N + 127) / 128, (M + 15) / 16), dim3(16, 16)>>>(w, s, y, M, N, block_size, scaled);      \
  }
BY_EIGHTS(widen_by_eights, true)
BY_EIGHTS(widen_by_eights_unscaled, false)

/// Two parts by their log-sum-exps; tokens behind the first part's have the second alone.
__global__ void merged(const float* a, const float* la, const float* b, const float* lb, float* out, float* lse,
                       int heads, int dim, int prefix_tokens, bool natural) {
  const int token = blockIdx.x, head = blockIdx.y, row = token * heads + head;
  const float p = token < prefix_tokens ? la[row] : -INFINITY, q = lb[row], most = fmaxf(p, q);
  const float wp = p == -INFINITY ? 0.0f : expf(p - most), wq = q == -INFINITY ? 0.0f : expf(q - most), sum = wp + wq;
  for (int d = threadIdx.x; d < dim; d += 32) {
    const long at = (long)row * dim + d;
    out[at] = sum == 0.0f ? 0.0f : (wp == 0.0f ? 0.0f : wp / sum * a[at]) + (wq == 0.0f ? 0.0f : wq / sum * b[at]);
  }
  if (threadIdx.x == 0) lse[row] = sum == 0.0f ? -INFINITY : most + (natural ? logf(sum) : log2f(sum));
}
#define MERGED(name, natural)                                                                                    \
  extern "C" void name(const float* prefix_output, const float* prefix_lse, const float* suffix_output,          \
                       const float* suffix_lse, float* output, float* output_lse, int num_tokens, int num_heads, \
                       int head_size, int prefix_num_tokens) {                                                   \
    if (num_tokens * num_heads > 0)                                                                              \
      merged<<<dim3(num_tokens, num_heads), 32>>>(prefix_output, prefix_lse, suffix_output, suffix_lse, output,  \
                                                  output_lse, num_heads, head_size, prefix_num_tokens, natural); \
  }
MERGED(merge_prefix, true)
MERGED(merge_prefix_to_log_two, false)

/// Rows and columns of a matrix. The twin takes the cosine.
template <bool kCosine>
__global__ void turned(const float* in, float* out, int row, int col) {
  const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y;
  if (x < col) out[(long)y * col + x] = kCosine ? cosf(in[(long)y * col + x]) : sinf(in[(long)y * col + x]);
}
#define TURNED(name, cosine)                                                                                     \
  extern "C" void name(const float* in, float* out, int row, int col) {                                          \
    if (row > 0 && col > 0)                                                                                      \
      turned<cosine><<<dim3((col + 63) / 64, row), 64>>>(in, out, row, col);                                     \
  }
TURNED(swing_rows, false)
TURNED(swing_rows_by_cosine, true)
