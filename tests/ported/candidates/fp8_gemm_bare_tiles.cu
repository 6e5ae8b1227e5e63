// op: fp8_gemm
// finds: nothing
#include <cuda_runtime.h>
#include <cuda_fp8.h>
#include <cuda_bf16.h>
__global__ void fp8_gemm_kernel(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s, __nv_bfloat16* c, int M, int N, int K) {
  int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || col >= N) return;
  float acc = 0;
  int kb = (K + 127) / 128;
  for (int blk = 0; blk < kb; ++blk) {
    float part = 0;
    for (int k = blk * 128; k < K && k < blk * 128 + 128; ++k) part += float(a[(size_t)row * K + k]) * float(b[(size_t)col * K + k]);
    acc += part * a_s[row * kb + blk] * b_s[(col / 128) * kb + blk];
  }
  c[(size_t)row * N + col] = __float2bfloat16(acc);
}
