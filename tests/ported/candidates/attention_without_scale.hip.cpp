// op: attention
// finds: missing-scale
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
__global__ void attn(const __half* q, const __half* k, const __half* v, __half* o, int Sq, int Sk, int Hq,
                     int Hkv, int D, bool causal) {
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z, t = threadIdx.x;
  extern __shared__ float p[];
  const int g = h / (Hq / Hkv);
  int n = causal ? i + Sk - Sq + 1 : Sk;
  n = n < 0 ? 0 : n > Sk ? Sk : n;
  const __half* qr = q + (((size_t)b * Sq + i) * Hq + h) * D;
  for (int j = t; j < n; j += blockDim.x) {
    float s = 0;
    for (int d = 0; d < D; ++d)
      s += __half2float(qr[d]) * __half2float(k[(((size_t)b * Sk + j) * Hkv + g) * D + d]);
    p[j] = s;
  }
  __syncthreads();
  float M = -INFINITY, L = 0;
  for (int j = 0; j < n; ++j) M = fmaxf(M, p[j]);
  for (int j = 0; j < n; ++j) L += expf(p[j] - M);
  for (int d = t; d < D; d += blockDim.x) {
    float a = 0;
    for (int j = 0; j < n; ++j)
      a += expf(p[j] - M) * __half2float(v[(((size_t)b * Sk + j) * Hkv + g) * D + d]);
    o[(((size_t)b * Sq + i) * Hq + h) * D + d] = __float2half(n > 0 ? a / L : 0.f);
  }
}
extern "C" void attention(const __half* q, const __half* k, const __half* v, __half* out, int batch,
                          int seq_len_q, int seq_len_k, int num_heads, int num_kv_heads, int head_dim,
                          bool is_causal) {
  if (batch * seq_len_q == 0) return;
  attn<<<dim3(seq_len_q, num_heads, batch), 64, seq_len_k * sizeof(float)>>>(
      q, k, v, out, seq_len_q, seq_len_k, num_heads, num_kv_heads, head_dim, is_causal);
}
