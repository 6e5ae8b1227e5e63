// op: fp8_gemm
// finds: out-of-bounds-write
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
// each thread makes a 2x2 patch
__global__ void fp8_gemm_kernel(const __nv_fp8_e4m3* A, const float* A_s, const __nv_fp8_e4m3* B, const float* B_s, __nv_bfloat16* C, int M, int N, int K) {
  int r = 2 * (blockIdx.y * blockDim.y + threadIdx.y), q = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (r >= M || q >= N) return;
  int kbs = (K + 127) / 128;
  float acc[2][2] = {};
  for (int kb = 0; kb < kbs; ++kb) {
    float p[2][2] = {{0, 0}, {0, 0}};
    for (int k = kb * 128; k < min(K, kb * 128 + 128); ++k)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          if (r + i < M && q + j < N) p[i][j] += float(A[(size_t)(r + i) * K + k]) * float(B[(size_t)(q + j) * K + k]);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        if (r + i < M && q + j < N) acc[i][j] += p[i][j] * A_s[(size_t)(r + i) * kbs + kb] * B_s[(size_t)((q + j) / 128) * kbs + kb];
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      if (q + j < N) C[(size_t)(r + i) * N + q + j] = __float2bfloat16(acc[i][j]);
}
extern "C" void fp8_gemm(const __nv_fp8_e4m3* A, const float* A_s, const __nv_fp8_e4m3* B, const float* B_s, __nv_bfloat16* C, int M, int N, int K) {
  if (M < 1 || N < 1) return;
  fp8_gemm_kernel<<<dim3((N + 31) / 32, (M + 15) / 16), dim3(16, 8)>>>(A, A_s, B, B_s, C, M, N, K);
}
