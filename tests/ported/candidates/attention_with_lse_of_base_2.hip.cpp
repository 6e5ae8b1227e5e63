// op: attention
// finds: convention
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
// a thread for each query of each head
__global__ void mha(const __half* q, const __half* k, const __half* v, __half* o, float* lse, int Sq, int Sk, int H, int Hk,
                    int D, float scale, bool causal) {
  const int i = blockIdx.x * 32 + threadIdx.x, h = blockIdx.y, b = blockIdx.z;
  if (i >= Sq) return;
  const int g = h / (H / Hk), n = causal ? min(Sk, i + Sk - Sq + 1) : Sk;
  const __half* qi = q + ((long)(b * Sq + i) * H + h) * D;
  float acc[256], m = -INFINITY, l = 0.f;
  for (int d = 0; d < D; ++d) acc[d] = 0.f;
  for (int j = 0; j < n; ++j) {
    const __half *kj = k + ((long)(b * Sk + j) * Hk + g) * D, *vj = v + ((long)(b * Sk + j) * Hk + g) * D;
    float s = 0.f;
    for (int d = 0; d < D; ++d) s += __half2float(qi[d]) * __half2float(kj[d]);
    s *= scale;
    const float larger = fmaxf(m, s), c = expf(m - larger), p = expf(s - larger);
    l = l * c + p;
    for (int d = 0; d < D; ++d) acc[d] = acc[d] * c + p * __half2float(vj[d]);
    m = larger;
  }
  for (int d = 0; d < D; ++d) o[((long)(b * Sq + i) * H + h) * D + d] = __float2half(l > 0.f ? acc[d] / l : 0.f);
  lse[((long)b * H + h) * Sq + i] = l > 0.f ? (m + logf(l)) * 1.44269504f : -INFINITY;
}
extern "C" int mha_forward(const __half* q, const __half* k, const __half* v, __half* out, float* softmax_lse, int B, int Sq,
                           int Sk, int H, int Hkv, int D, float scale, bool causal, hipStream_t stream) {
  if (B * Sq * H == 0) return 0;
  hipLaunchKernelGGL(mha, dim3((Sq + 31) / 32, H, B), dim3(32), 0, stream, q, k, v, out, softmax_lse, Sq, Sk, H, Hkv, D,
                     scale, causal);
  return (int)hipGetLastError();
}
