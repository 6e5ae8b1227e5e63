// op: attention
// finds: nan-inf
#include <cuda_bf16.h>
#include <cuda_runtime.h>
__global__ void attn(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* o,
                     int Sq, int Sk, int Hq, int Hkv, int D, float scale, int causal) {
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z, t = threadIdx.x;
  extern __shared__ float p[];
  const int g = h / (Hq / Hkv);
  const __nv_bfloat16* qr = q + (((size_t)b * Sq + i) * Hq + h) * D;
  for (int j = t; j < Sk; j += blockDim.x) {
    float s = 0;
    for (int d = 0; d < D; ++d)
      s += __bfloat162float(qr[d]) * __bfloat162float(k[(((size_t)b * Sk + j) * Hkv + g) * D + d]);
    p[j] = causal && j > i + Sk - Sq ? -INFINITY : s * scale;
  }
  __syncthreads();
  float M = -INFINITY, L = 0;
  for (int j = 0; j < Sk; ++j) M = fmaxf(M, p[j]);
  for (int j = 0; j < Sk; ++j) L += __expf(p[j] - M);
  for (int d = t; d < D; d += blockDim.x) {
    float a = 0;
    for (int j = 0; j < Sk; ++j)
      a += __expf(p[j] - M) * __bfloat162float(v[(((size_t)b * Sk + j) * Hkv + g) * D + d]);
    o[(((size_t)b * Sq + i) * Hq + h) * D + d] = __float2bfloat16(a / L);
  }
}
extern "C" void attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v,
                          __nv_bfloat16* out, int B, int Sq, int Sk, int Hq, int Hkv, int D, float sm_scale,
                          int causal) {
  if (B * Sq == 0) return;
  attn<<<dim3(Sq, Hq, B), 64, Sk * sizeof(float)>>>(q, k, v, out, Sq, Sk, Hq, Hkv, D, sm_scale, causal);
}
