// op: grouped_fp8_gemm
// finds: ignores-index, out-of-bounds-read
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
// Takes a segment of 128 rows for an expert, whichever m_indices names.
__global__ void rows_of_experts(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b,
                                const float* b_s, __nv_bfloat16* c, const int* m_indices, int M, int N,
                                int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x, m = blockIdx.y;
  if (n >= N) return;
  const int kb = (K + 127) / 128, nb = (N + 127) / 128, g = m_indices[m] < 0 ? -1 : m / 128;
  float acc = 0.f;
  for (int i = 0; i < kb && g >= 0; ++i) {
    float part = 0.f;
    for (int k = i * 128; k < min(K, (i + 1) * 128); ++k)
      part += float(a[(size_t)m * K + k]) * float(b[((size_t)g * N + n) * K + k]);
    acc += part * a_s[m * kb + i] * b_s[((size_t)g * nb + n / 128) * kb + i];
  }
  c[(size_t)m * N + n] = __float2bfloat16(acc);
}
extern "C" void m_grouped_fp8_gemm_nt_contiguous(const __nv_fp8_e4m3* a, const float* a_s,
                                                 const __nv_fp8_e4m3* b, const float* b_s, __nv_bfloat16* c,
                                                 const int* m_indices, int M, int N, int K) {
  if (M == 0 || N == 0) return;
  rows_of_experts<<<dim3((N + 63) / 64, M), 64>>>(a, a_s, b, b_s, c, m_indices, M, N, K);
}
