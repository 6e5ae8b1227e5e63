// op: attention
// finds: assumes-contiguous
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <stdint.h>
// a block of 32 threads for each query of each head, every thread a few elements of the answer
__global__ void rows(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* out,
                     int64_t qb, int64_t qs, int64_t qh, int64_t kb, int64_t ks, int64_t kh, int64_t ob, int64_t os,
                     int64_t oh, int Sq, int Sk, int H, int Hk, int D, float scale, int causal) {
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z, g = h / (H / Hk);
  const __nv_bfloat16 *qi = q + b * qb + i * qs + h * qh, *kk = k + b * kb + g * kh, *vv = v + b * kb + g * kh;
  const int end = causal ? min(Sk, i + Sk - Sq + 1) : Sk;
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float m = -INFINITY, l = 0.f, acc = 0.f;
    for (int j = 0; j < end; ++j) {
      float s = 0.f;
      for (int e = 0; e < D; ++e) s += __bfloat162float(qi[e]) * __bfloat162float(kk[j * ks + e]);
      s *= scale;
      const float larger = fmaxf(m, s), c = expf(m - larger), p = expf(s - larger);
      l = l * c + p;
      acc = acc * c + p * __bfloat162float(vv[j * ks + d]);
      m = larger;
    }
    out[b * ob + i * os + h * oh + d] = __float2bfloat16(l > 0.f ? acc / l : 0.f);
  }
}
extern "C" void attention(const __nv_bfloat16* q, const __nv_bfloat16* k, const __nv_bfloat16* v, __nv_bfloat16* out,
                          int64_t q_batch_stride, int64_t q_row_stride, int64_t q_head_stride, int64_t k_batch_stride,
                          int64_t k_row_stride, int64_t k_head_stride, int64_t v_batch_stride, int64_t v_row_stride,
                          int64_t v_head_stride, int64_t o_batch_stride, int64_t o_row_stride, int64_t o_head_stride,
                          int batch, int seqlen_q, int seqlen_k, int heads, int heads_kv, int head_dim, float scale,
                          bool causal, cudaStream_t stream) {
  if (batch * seqlen_q * heads == 0) return;
  rows<<<dim3(seqlen_q, heads, batch), 32, 0, stream>>>(q, k, v, out, q_batch_stride, q_row_stride, q_head_stride,
                                                        k_batch_stride, k_row_stride, k_head_stride, o_batch_stride,
                                                        o_row_stride, o_head_stride, seqlen_q, seqlen_k, heads, heads_kv,
                                                        head_dim, scale, causal);
}
