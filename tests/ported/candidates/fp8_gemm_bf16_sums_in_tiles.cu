// op: fp8_gemm
// finds: intermediate-precision
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#define TM 16
#define TN 16
#define TK 32
__global__ void fp8_gemm_kernel(const __nv_fp8_e4m3* a_ptr, const __nv_fp8_e4m3* b_ptr, __nv_bfloat16* c_ptr,
                                const float* a_s_ptr, const float* b_s_ptr, int M, int N, int K) {
  __shared__ __half as[TM][TK + 2], bs[TN][TK + 2];
  int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 16 + tx;
  int row = blockIdx.x * TM + ty, col = blockIdx.y * TN + tx;
  int nb = (K + 127) / 128;
  __nv_bfloat16 acc = __float2bfloat16(0.f);
  for (int k0 = 0; k0 < K; k0 += TK) {
    for (int i = tid; i < TM * TK; i += 256) {
      int r = i / TK, k = i % TK, gr = blockIdx.x * TM + r, gc = blockIdx.y * TN + r;
      as[r][k] =
          (gr < M && k0 + k < K) ? __float2half(float(a_ptr[(size_t)gr * K + k0 + k])) : __float2half(0.f);
      bs[r][k] =
          (gc < N && k0 + k < K) ? __float2half(float(b_ptr[(size_t)gc * K + k0 + k])) : __float2half(0.f);
    }
    __syncthreads();
    float part = 0.f;
    for (int k = 0; k < TK; ++k) part += __half2float(as[ty][k]) * __half2float(bs[tx][k]);
    if (row < M && col < N) {
      float s = a_s_ptr[row * nb + k0 / 128] * b_s_ptr[(col / 128) * nb + k0 / 128];
      acc = __hadd(acc, __float2bfloat16(part * s));
    }
    __syncthreads();
  }
  if (row < M && col < N) c_ptr[(size_t)row * N + col] = acc;
}
