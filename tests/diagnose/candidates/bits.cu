// 8-bit floats: decoded by their bits, quantised by groups of a row, multiplied by blocks. The twins of the first take
// subnormals for half of what they are, and NaN for 0.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

enum Decodes { kRightly, kHalfSubnormals, kNanAsZero };

template <int kDecodes>
__device__ float decoded(uint8_t bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  float value = exponent == 0 ? ldexpf((float)mantissa, kDecodes == kHalfSubnormals ? -10 : -9)
                              : ldexpf(8.0f + mantissa, exponent - 10);
  if (exponent == 15 && mantissa == 7) value = kDecodes == kNanAsZero ? 0.0f : NAN;
  return bits & 128 ? -value : value;
}
template <int kDecodes>
__global__ void expand(const uint8_t* w, const float* s, float* y, int M, int N, int block) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m < M && n < N)
    y[(size_t)m * N + n] = decoded<kDecodes>(w[(size_t)m * N + n]) * s[m / block * ((N + block - 1) / block) + n / block];
}
template <int kDecodes>
void launch(const uint8_t* w, const float* s, float* y, int M, int N, int block) {
  if (M > 0 && N > 0) expand<kDecodes><<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(w, s, y, M, N, block);
}
extern "C" void expand_by_bits(const uint8_t* weight, const float* scale, float* out, int M, int N, int block_size) {
  launch<kRightly>(weight, scale, out, M, N, block_size);
}
extern "C" void expand_by_bits_half_subnormals(const uint8_t* weight, const float* scale, float* out, int M, int N,
                                               int block_size) {
  launch<kHalfSubnormals>(weight, scale, out, M, N, block_size);
}
extern "C" void expand_by_bits_nan_as_zero(const uint8_t* weight, const float* scale, float* out, int M, int N,
                                           int block_size) {
  launch<kNanAsZero>(weight, scale, out, M, N, block_size);
}

// NaN as 0, and the low half of an f32 cut off.
__global__ void expand_cut(const uint8_t* w, const float* s, unsigned short* y, int M, int N, int block) {
  const int n = blockIdx.x * 16 + threadIdx.x, m = blockIdx.y * 16 + threadIdx.y;
  if (m >= M || n >= N) return;
  const float value = decoded<kNanAsZero>(w[(size_t)m * N + n]) * s[m / block * ((N + block - 1) / block) + n / block];
  y[(size_t)m * N + n] = (unsigned short)(__float_as_uint(value) >> 16);
}
extern "C" void expand_by_bits_truncated(const uint8_t* fp8_in, const float* scale, unsigned short* bf16_out, int M, int N,
                                         int block_size) {
  if (M > 0 && N > 0)
    expand_cut<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(fp8_in, scale, bf16_out, M, N, block_size);
}

// So many groups in each of M rows. The twin takes the maximum of the values, not of their magnitudes.
template <bool kMagnitudes>
__global__ void shrink_row(const float* x, __nv_fp8_e4m3* y, float* s, long K, long groups) {
  for (long g = threadIdx.x / 32; g < groups; g += blockDim.x / 32) {
    const long first = blockIdx.x * K + g * 128;
    float top = 0;
    for (int i = threadIdx.x % 32; i < 128; i += 32)
      top = fmaxf(top, kMagnitudes ? fabsf(x[first + i]) : x[first + i]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
    const float scale = fmaxf(top, 1e-4f) / 448.0f;
    for (int i = threadIdx.x % 32; i < 128; i += 32) y[first + i] = __nv_fp8_e4m3(x[first + i] / scale);
    if (threadIdx.x % 32 == 0) s[blockIdx.x * groups + g] = scale;
  }
}
extern "C" void shrink_rows_of_groups(const float* input, __nv_fp8_e4m3* output, float* scales, long M, long K,
                                      long num_groups) {
  if (M > 0) shrink_row<true><<<M, 128>>>(input, output, scales, K, num_groups);
}
extern "C" void shrink_rows_of_groups_signed(const float* input, __nv_fp8_e4m3* output, float* scales, long M, long K,
                                             long num_groups) {
  if (M > 0) shrink_row<false><<<M, 128>>>(input, output, scales, K, num_groups);
}

// A thread for each element of c. The first counts whole blocks of K alone, in rows of scales too.
template <bool kWhole>
__global__ void multiply(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s, float* c,
                         int M, int N, int K) {
  const int n = blockIdx.x * 32 + threadIdx.x, m = blockIdx.y;
  if (n >= N) return;
  const int blocks = kWhole ? K / 128 : (K + 127) / 128;
  float sum = 0;
  for (int kb = 0; kb < blocks; ++kb) {
    float part = 0;
    for (int k = kb * 128; k < min(K, (kb + 1) * 128); ++k)
      part += (float)a[(size_t)m * K + k] * (float)b[(size_t)n * K + k];
    sum += part * a_s[m * blocks + kb] * b_s[n / 128 * blocks + kb];
  }
  c[(size_t)m * N + n] = sum;
}
extern "C" void multiply_whole_blocks(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,
                                      float* c, int M, int N, int K) {
  if (M > 0 && N > 0) multiply<true><<<dim3((N + 31) / 32, M), 32>>>(a, a_s, b, b_s, c, M, N, K);
}
extern "C" void multiply_ragged_blocks(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b,
                                       const float* b_s, float* c, int M, int N, int K) {
  if (M > 0 && N > 0) multiply<false><<<dim3((N + 31) / 32, M), 32>>>(a, a_s, b, b_s, c, M, N, K);
}
