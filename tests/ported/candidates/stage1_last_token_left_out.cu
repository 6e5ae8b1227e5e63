// op: flash_decode_stage1
// finds: off-by-one
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
__global__ void part(const __half* q, const __half* k, const __half* v, const int* req, const int* idx, const int* lens, float* mid, float* lse, int Hq, int Hkv, int D, int Lmax, int nb, int block_seq, float scale) {
  const int b = blockIdx.x, h = blockIdx.y, j = blockIdx.z, len = lens[b], s0 = j * block_seq, s1 = min(len - 1, s0 + block_seq);
  if (s0 >= s1) return;
  const int kv = h / (Hq / Hkv);
  extern __shared__ float acc[];
  if (threadIdx.x != 0) return;
  float m = -INFINITY, l = 0.f;
  for (int d = 0; d < D; ++d) acc[d] = 0.f;
  for (int s = s0; s < s1; ++s) {
    const int64_t at = req[(int64_t)idx[b] * Lmax + s];
    float dot = 0.f;
    for (int d = 0; d < D; ++d) dot += __half2float(q[((int64_t)b * Hq + h) * D + d]) * __half2float(k[(at * Hkv + kv) * D + d]);
    dot *= scale;
    const float n = fmaxf(m, dot), c = expf(m - n), p = expf(dot - n);
    for (int d = 0; d < D; ++d) acc[d] = acc[d] * c + p * __half2float(v[(at * Hkv + kv) * D + d]);
    l = l * c + p;
    m = n;
  }
  const int64_t o = ((int64_t)b * Hq + h) * nb + j;
  for (int d = 0; d < D; ++d) mid[o * D + d] = acc[d] / l;
  lse[o] = m + logf(l);
}
extern "C" void flash_decode_stage1(const __half* q, const __half* k, const __half* v, const int* Req_to_tokens, const int* B_req_idx, const int* B_Seqlen, int max_len, float* mid_out, float* mid_out_logsumexp, int block_seq, int batch, int q_heads, int kv_heads, int head_dim, int Lmax, int nb) {
  const int blocks = (max_len + block_seq - 1) / block_seq;
  if (batch && blocks) part<<<dim3(batch, q_heads, blocks), 32, head_dim * sizeof(float)>>>(q, k, v, Req_to_tokens, B_req_idx, B_Seqlen, mid_out, mid_out_logsumexp, q_heads, kv_heads, head_dim, Lmax, nb, block_seq, rsqrtf((float)head_dim));
}
