// op: fp8_gemm
// finds: layout-convention
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>
#define CEIL(a, b) (((a) + (b)-1) / (b))
__global__ void fp8_gemm_kernel(const __hip_fp8_e4m3* a, const __hip_fp8_e4m3* b, __hip_bfloat16* c,
                                const float* as, const float* bs, int M, int N, int K) {
  int row = threadIdx.y + blockIdx.y * 8, col = threadIdx.x + blockIdx.x * 8;
  if (row >= M || col >= N) return;
  float sum = 0, blk = 0;
  for (int k = 0; k < K; k++) {
    blk += float(a[row * K + k]) * float(b[col * K + k]);
    if (k % 128 == 127 || k == K - 1) {
      sum += blk * as[row * CEIL(K, 128) + k / 128] * bs[col / 128 * CEIL(K, 128) + k / 128];
      blk = 0;
    }
  }
  c[col * M + row] = __float2bfloat16(sum);
}
extern "C" void fp8_gemm(const __hip_fp8_e4m3* a, const float* a_s, const __hip_fp8_e4m3* b, const float* b_s,
                         __hip_bfloat16* c, int M, int N, int K) {
  if (M > 0) fp8_gemm_kernel<<<dim3(CEIL(N, 8), CEIL(M, 8)), dim3(8, 8)>>>(a, b, c, a_s, b_s, M, N, K);
}
