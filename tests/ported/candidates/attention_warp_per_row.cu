// op: attention
// finds: nothing
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cmath>
template <typename T>
__device__ float to_f(T v);
template <>
__device__ float to_f<__half>(__half v) {
  return __half2float(v);
}
// one warp per query row, online softmax
template <typename T>
__global__ void attn_fwd(const T* q, const T* k, const T* v, T* o, int Sq, int Sk, int Hq, int Hkv, int D,
                         float scale, bool causal) {
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z, lane = threadIdx.x;
  const int g = h / (Hq / Hkv);
  const T* qr = q + (((size_t)b * Sq + i) * Hq + h) * D;
  float acc[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  float m = -INFINITY, l = 0.f;
  const int last = causal ? i + Sk - Sq : Sk - 1;
  for (int j = 0; j <= last && j < Sk; ++j) {
    const T* kr = k + (((size_t)b * Sk + j) * Hkv + g) * D;
    float s = 0.f;
    for (int d = lane; d < D; d += 32) s += to_f(qr[d]) * to_f(kr[d]);
    for (int off = 16; off; off >>= 1) s += __shfl_xor_sync(0xffffffff, s, off);
    s *= scale;
    const float mn = fmaxf(m, s), c = __expf(m - mn), p = __expf(s - mn);
    const T* vr = v + (((size_t)b * Sk + j) * Hkv + g) * D;
    for (int d = lane, r = 0; d < D; d += 32, ++r) acc[r] = acc[r] * c + p * to_f(vr[d]);
    l = l * c + p;
    m = mn;
  }
  for (int d = lane, r = 0; d < D; d += 32, ++r)
    o[(((size_t)b * Sq + i) * Hq + h) * D + d] = __float2half(l > 0.f ? acc[r] / l : 0.f);
}
extern "C" void flash_attention(const __half* Q, const __half* K, const __half* V, __half* O, int batch,
                                int seqlen_q, int seqlen_k, int num_heads, int num_kv_heads, int head_dim,
                                float softmax_scale, bool is_causal) {
  if (batch * seqlen_q == 0) return;
  attn_fwd<__half><<<dim3(seqlen_q, num_heads, batch), 32>>>(
      Q, K, V, O, seqlen_q, seqlen_k, num_heads, num_kv_heads, head_dim, softmax_scale, is_causal);
}
