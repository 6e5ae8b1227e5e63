// op: grouped_fp8_gemm
// finds: nothing
#include <cuda_fp8.h>
#include <cuda_runtime.h>
// [G, rows, K] with row_counts on the device: a block for one row of one expert, rows past the count untouched.
__global__ void masked_rows(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b,
                            const float* b_s, float* c, const int* masked_m, int rows, int N, int K) {
  const int g = blockIdx.y, r = blockIdx.x;
  if (r >= masked_m[g]) return;
  const int kb = (K + 127) / 128, nb = (N + 127) / 128;
  const size_t m = (size_t)g * rows + r;
  for (int n = threadIdx.x; n < N; n += blockDim.x) {
    float acc = 0.f, part = 0.f;
    for (int k = 0; k < K; ++k) {
      part += float(a[m * K + k]) * float(b[((size_t)g * N + n) * K + k]);
      if (k % 128 != 127 && k != K - 1) continue;
      acc += part * a_s[m * kb + k / 128] * b_s[((size_t)g * nb + n / 128) * kb + k / 128];
      part = 0.f;
    }
    c[m * N + n] = acc;
  }
}
extern "C" void m_grouped_fp8_gemm_nt_masked(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b,
                                             const float* b_s, float* c, const int* masked_m, int G, int R,
                                             int N, int K) {
  if (G == 0 || R == 0 || N == 0) return;
  masked_rows<<<dim3(R, G), 96>>>(a, a_s, b, b_s, c, masked_m, R, N, K);
}
