// op: flash_decode_stage1
// finds: head-mapping, missing-scale
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cmath>
__global__ void stage1(const __half* Q, const __half* K, const __half* V, const int* Req, const int* idx,
                       const int* lens, float* mid, float* lse, int Hq, int Hkv, int D, int Lmax, int nb,
                       int block_seq) {
  extern __shared__ float sm[];
  const int b = blockIdx.x, h = blockIdx.y, j = blockIdx.z, t = threadIdx.x;
  const int len = lens[b], s0 = j * block_seq, s1 = min(len, s0 + block_seq);
  if (s1 <= s0) return;
  const int kvh = h % Hkv, n = s1 - s0;
  const __half* q = Q + ((long long)b * Hq + h) * D;
  const int* row = Req + (long long)idx[b] * Lmax;
  for (int i = t; i < n; i += blockDim.x) {
    const __half* k = K + ((long long)row[s0 + i] * Hkv + kvh) * D;
    float a = 0.f;
    for (int d = 0; d < D; ++d) a += __half2float(q[d]) * __half2float(k[d]);
    sm[i] = a;
  }
  __syncthreads();
  float m = -INFINITY, l = 0.f;
  for (int i = 0; i < n; ++i) m = fmaxf(m, sm[i]);
  for (int i = 0; i < n; ++i) l += expf(sm[i] - m);
  for (int d = t; d < D; d += blockDim.x) {
    float acc = 0.f;
    for (int i = 0; i < n; ++i)
      acc += expf(sm[i] - m) * __half2float(V[((long long)row[s0 + i] * Hkv + kvh) * D + d]);
    mid[(((long long)b * Hq + h) * nb + j) * D + d] = acc / l;
  }
  if (t == 0) lse[((long long)b * Hq + h) * nb + j] = m + logf(l);
}
extern "C" void flash_decode_stage1(const __half* q, const __half* k, const __half* v,
                                    const int* Req_to_tokens, const int* B_req_idx, const int* B_Seqlen,
                                    int max_len_in_batch, float* mid_out, float* mid_out_logsumexp,
                                    int block_seq, int batch, int q_heads, int kv_heads, int head_dim,
                                    int max_seq_len, int num_blocks) {
  if (batch == 0) return;
  stage1<<<dim3(batch, q_heads, (max_len_in_batch + block_seq - 1) / block_seq), 64, block_seq * 4>>>(
      q, k, v, Req_to_tokens, B_req_idx, B_Seqlen, mid_out, mid_out_logsumexp, q_heads, kv_heads, head_dim,
      max_seq_len, num_blocks, block_seq);
}
