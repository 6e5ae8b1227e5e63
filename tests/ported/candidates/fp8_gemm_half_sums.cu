// op: fp8_gemm
// finds: intermediate-precision
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
__global__ void gemm_fp8(const unsigned char* a, const unsigned char* b, const float* a_s, const float* b_s, float* c, int m, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= n) return;
  int nkb = (k + 127) >> 7;
  float out = 0.0f;
  for (int kb = 0; kb < nkb; kb++) {
    __half acc = __float2half(0.f);
    for (int t = kb << 7; t < k && t < (kb + 1) << 7; t++)
      acc = __hfma(__half(__nv_cvt_fp8_to_halfraw(a[(long)i * k + t], __NV_E4M3)), __half(__nv_cvt_fp8_to_halfraw(b[(long)j * k + t], __NV_E4M3)), acc);
    out += __half2float(acc) * a_s[(long)i * nkb + kb] * b_s[(long)(j >> 7) * nkb + kb];
  }
  c[(long)i * n + j] = out;
}
extern "C" void fp8_gemm_nt(const unsigned char* a, const unsigned char* b, const float* a_s, const float* b_s, float* c, int m, int n, int k) {
  if (m && n) gemm_fp8<<<dim3((m + 7) / 8, (n + 31) / 32), dim3(8, 32)>>>(a, b, a_s, b_s, c, m, n, k);
}
