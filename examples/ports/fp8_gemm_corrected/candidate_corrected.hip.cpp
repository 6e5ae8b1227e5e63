#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

#include <cstdint>

constexpr int kBlock = 128;

// One thread for each element of c.
__global__ void fp8_gemm_kernel(const __hip_fp8_e4m3* a, const float* a_s, const __hip_fp8_e4m3* b,
                                const float* b_s, __hip_bfloat16* c, int M, int N, int K) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  const int m = blockIdx.y;
  if (n >= N) return;
  const int blocks = (K + kBlock - 1) / kBlock;
  float total = 0.0f;
  for (int block = 0; block < blocks; ++block) {
    float sum = 0.0f;
    const int end = (block + 1) * kBlock < K ? (block + 1) * kBlock : K;
    for (int k = block * kBlock; k < end; ++k)
      sum += static_cast<float>(a[static_cast<int64_t>(m) * K + k]) *
             static_cast<float>(b[static_cast<int64_t>(n) * K + k]);
    total += sum * a_s[m * blocks + block] * b_s[n / kBlock * blocks + block];
  }
  c[static_cast<int64_t>(m) * N + n] = __float2bfloat16(total);
}

extern "C" void fp8_gemm(const __hip_fp8_e4m3* a, const float* a_s, const __hip_fp8_e4m3* b, const float* b_s,
                         __hip_bfloat16* c, int M, int N, int K) {
  if (M == 0 || N == 0) return;
  hipLaunchKernelGGL(fp8_gemm_kernel, dim3((N + 63) / 64, M), dim3(64), 0, 0, a, a_s, b, b_s, c, M, N, K);
}
