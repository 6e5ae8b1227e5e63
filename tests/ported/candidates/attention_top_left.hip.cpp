// op: attention
// finds: mask-alignment
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
__global__ void attn(const __half* q, const __half* k, const __half* v, __half* o, int Sq, int Sk, int Hq,
                     int Hkv, int D, float scale, int causal) {
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z, t = threadIdx.x;
  extern __shared__ float p[];
  __shared__ float M, L;
  const int g = h / (Hq / Hkv);
  const int n = causal ? (i + 1 < Sk ? i + 1 : Sk) : Sk;
  const __half* qr = q + (((size_t)b * Sq + i) * Hq + h) * D;
  for (int j = t; j < n; j += blockDim.x) {
    float s = 0;
    for (int d = 0; d < D; ++d)
      s += __half2float(qr[d]) * __half2float(k[(((size_t)b * Sk + j) * Hkv + g) * D + d]);
    p[j] = s * scale;
  }
  __syncthreads();
  if (t == 0) {
    M = -1e30f;
    for (int j = 0; j < n; ++j) M = fmaxf(M, p[j]);
    L = 0;
    for (int j = 0; j < n; ++j) L += expf(p[j] - M);
  }
  __syncthreads();
  for (int d = t; d < D; d += blockDim.x) {
    float a = 0;
    for (int j = 0; j < n; ++j)
      a += expf(p[j] - M) * __half2float(v[(((size_t)b * Sk + j) * Hkv + g) * D + d]);
    o[(((size_t)b * Sq + i) * Hq + h) * D + d] = __float2half(L > 0 ? a / L : 0.f);
  }
}
extern "C" void attention(const __half* q, const __half* k, const __half* v, __half* out, int B, int Sq,
                          int Sk, int Hq, int Hkv, int D, float scale, int causal, hipStream_t stream) {
  if (B * Sq == 0) return;
  attn<<<dim3(Sq, Hq, B), 64, Sk * sizeof(float), stream>>>(q, k, v, out, Sq, Sk, Hq, Hkv, D, scale, causal);
}
