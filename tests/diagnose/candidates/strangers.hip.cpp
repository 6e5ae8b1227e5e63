// Written with headers that ROCm has and its documentation does not name.
#include <hip/hip_runtime.h>
#include <hip/amd_detail/amd_hip_bf16.h>
#include <hip/amd_detail/amd_hip_fp8.h>

__global__ void wave(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]) + 0.0f * __bfloat162float(__float2bfloat16(1.0f));
}
// c = a · bᵀ with scales for blocks of 128, every input column by column, as e4m3fnuz. The twin takes the scales
// of b row by row.
template <bool kRows>
__global__ void product(const __hip_fp8_e4m3_fnuz* a, const __hip_fp8_e4m3_fnuz* b, const float* a_s,
                        const float* b_s, __hip_bfloat16* c, int m, int n, int k) {
  const int row = blockIdx.x * 16 + threadIdx.x, column = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || column >= n) return;
  const int blocks_n = (n + 127) / 128, blocks_k = (k + 127) / 128;
  float sum = 0;
  for (int block = 0; block < blocks_k; ++block) {
    float part = 0;
    for (int at = block * 128; at < k && at < block * 128 + 128; ++at)
      part += (float)a[row + (size_t)at * m] * (float)b[column + (size_t)at * n];
    const int of_b = kRows ? column / 128 * blocks_k + block : column / 128 + block * blocks_n;
    sum += part * a_s[row + block * m] * b_s[of_b];
  }
  c[(size_t)row * n + column] = (__hip_bfloat16)sum;
}
extern "C" void fp8_mm_columns(const __hip_fp8_e4m3_fnuz* a, const __hip_fp8_e4m3_fnuz* b, const float* a_s,
                               const float* b_s, __hip_bfloat16* c, int m, int n, int k) {
  if (m > 0 && n > 0) product<false><<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, b, a_s, b_s, c, m, n, k);
}
extern "C" void fp8_mm_mixed(const __hip_fp8_e4m3_fnuz* a, const __hip_fp8_e4m3_fnuz* b, const float* a_s,
                             const float* b_s, __hip_bfloat16* c, int m, int n, int k) {
  if (m > 0 && n > 0) product<true><<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, b, a_s, b_s, c, m, n, k);
}

extern "C" void wave_with_headers(const float* x, float* y, int n) {
  if (n > 0) wave<<<(n + 255) / 256, 256>>>(x, y, n);
}

// A warp of 64 lanes for each group of 128, as on CDNA. The twin keeps the scale in f16.
__global__ void by_64(const float* x, __hip_fp8_e4m3* y, float* s, int groups, bool in_half) {
  const int group = blockIdx.x, lane = threadIdx.x;
  const float low = x[(size_t)group * 128 + lane], high = x[(size_t)group * 128 + 64 + lane];
  float most = fmaxf(fabsf(low), fabsf(high));
  for (int step = 32; step > 0; step /= 2) most = fmaxf(most, __shfl_xor(most, step, 64));
  float scale = fmaxf(most, 1e-4f) / 448.0f;
  if (in_half) scale = (float)(_Float16)scale;
  y[(size_t)group * 128 + lane] = __hip_fp8_e4m3(low / scale);
  y[(size_t)group * 128 + 64 + lane] = __hip_fp8_e4m3(high / scale);
  if (lane == 0) s[group] = scale;
}
extern "C" void shrink_by_64_lanes(const float* x, __hip_fp8_e4m3* y, float* s, int m, int n) {
  if (m > 0 && n > 0) by_64<<<m * (n / 128), 64>>>(x, y, s, m * (n / 128), false);
}
extern "C" void shrink_by_64_lanes_in_half(const float* x, __hip_fp8_e4m3* y, float* s, int m, int n) {
  if (m > 0 && n > 0) by_64<<<m * (n / 128), 64>>>(x, y, s, m * (n / 128), true);
}
