// op: fp8_gemm
// finds: convention
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
__global__ void fp8_gemm_kernel(const __nv_fp8_e4m3* A, const float* As, const __nv_fp8_e4m3* B,
                                const float* Bs, __nv_bfloat16* C, int M, int N, int K) {
  __shared__ float ta[16][17], tb[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  const int kb = (K + 127) / 128;
  float acc = 0.f;
  for (int b = 0; b < kb; ++b) {
    float part = 0.f;
    for (int k0 = b * 128; k0 < min(K, (b + 1) * 128); k0 += 16) {
      const int ka = k0 + threadIdx.x, kbx = k0 + threadIdx.y;
      ta[threadIdx.y][threadIdx.x] = row < M && ka < K ? float(A[row * K + ka]) : 0.f;
      tb[threadIdx.y][threadIdx.x] = col < N && kbx < K ? float(B[col * K + kbx]) : 0.f;
      __syncthreads();
      for (int i = 0; i < 16; ++i) part += ta[threadIdx.y][i] * tb[i][threadIdx.x];
      __syncthreads();
    }
    if (row < M && col < N) acc += part * As[b * M + row] * Bs[(col / 128) * kb + b];
  }
  if (row < M && col < N) C[row * N + col] = __float2bfloat16(acc);
}
extern "C" void fp8_gemm(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,
                         __nv_bfloat16* c, int M, int N, int K) {
  if (M == 0 || N == 0) return;
  fp8_gemm_kernel<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(a, a_s, b, b_s, c, M, N, K);
}
