// op: flash_decode_stage1
// finds: ignores-index, head-mapping, out-of-bounds-read
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <cstdint>
// one wavefront-wide block per (batch, head, block of tokens); q in shared memory
template <int THREADS>
__global__ void stage1_kernel(const __half* Q, const __half* K, const __half* V, float sm_scale, const int* Req_to_tokens,
                              const int* B_req_idx, const int* B_Seqlen, float* Mid_O, float* Mid_O_LogExpSum,
                              int64_t stride_req, int64_t stride_qb, int64_t stride_qh, int64_t stride_kb, int64_t stride_kh,
                              int64_t stride_vb, int64_t stride_vh, int64_t stride_mb, int64_t stride_mh, int64_t stride_ms,
                              int64_t stride_lb, int64_t stride_lh, int group, int block_seq, int D) {
  extern __shared__ float sh[];
  float* q = sh;             // D
  float* p = sh + D;         // block_seq
  __shared__ float red[THREADS];
  const int b = blockIdx.x, h = blockIdx.y, j = blockIdx.z, t = threadIdx.x;
  const int len = B_Seqlen[b], first = j * block_seq, last = min(len, first + block_seq);
  if (first >= last) return;
  const int64_t req = b;
  const int kvh = h % ((int)gridDim.y / group);
  for (int d = t; d < D; d += THREADS) q[d] = __half2float(Q[b * stride_qb + h * stride_qh + d]);
  __syncthreads();
  float m = -INFINITY;
  for (int s = first + t; s < last; s += THREADS) {
    const int64_t slot = Req_to_tokens[req * stride_req + s];
    const __half* k = K + slot * stride_kb + kvh * stride_kh;
    float dot = 0.f;
    for (int d = 0; d < D; ++d) dot += q[d] * __half2float(k[d]);
    p[s - first] = dot * sm_scale;
    m = fmaxf(m, dot * sm_scale);
  }
  red[t] = m;
  __syncthreads();
  for (int w = THREADS / 2; w; w >>= 1) { if (t < w) red[t] = fmaxf(red[t], red[t + w]); __syncthreads(); }
  m = red[0];
  __syncthreads();
  float sum = 0.f;
  for (int s = first + t; s < last; s += THREADS) { float e = expf(p[s - first] - m); p[s - first] = e; sum += e; }
  red[t] = sum;
  __syncthreads();
  for (int w = THREADS / 2; w; w >>= 1) { if (t < w) red[t] += red[t + w]; __syncthreads(); }
  sum = red[0];
  for (int d = t; d < D; d += THREADS) {
    float a = 0.f;
    for (int s = first; s < last; ++s) a += p[s - first] * __half2float(V[(int64_t)Req_to_tokens[req * stride_req + s] * stride_vb + kvh * stride_vh + d]);
    Mid_O[b * stride_mb + h * stride_mh + j * stride_ms + d] = a / sum;
  }
  if (t == 0) Mid_O_LogExpSum[b * stride_lb + h * stride_lh + j] = m + logf(sum);
}
extern "C" void flash_decode_stage1(const __half* q, const __half* k, const __half* v, const int* Req_to_tokens, const int* B_req_idx,
                                    const int* B_Seqlen, int max_len_in_batch, float* mid_out, float* mid_out_logsumexp, int block_seq,
                                    int batch, int q_heads, int kv_heads, int head_dim, int64_t stride_req, int64_t stride_qb,
                                    int64_t stride_qh, int64_t stride_kb, int64_t stride_kh, int64_t stride_vb, int64_t stride_vh,
                                    int64_t stride_mb, int64_t stride_mh, int64_t stride_ms, int64_t stride_lb, int64_t stride_lh, hipStream_t stream) {
  const int nb = (max_len_in_batch + block_seq - 1) / block_seq;
  if (batch == 0 || q_heads == 0 || nb == 0) return;
  hipLaunchKernelGGL((stage1_kernel<64>), dim3(batch, q_heads, nb), dim3(64), (head_dim + block_seq) * sizeof(float), stream, q, k, v,
                     1.0f / sqrtf((float)head_dim), Req_to_tokens, B_req_idx, B_Seqlen, mid_out, mid_out_logsumexp, stride_req, stride_qb, stride_qh, stride_kb,
                     stride_kh, stride_vb, stride_vh, stride_mb, stride_mh, stride_ms, stride_lb, stride_lh, q_heads / kv_heads, block_seq, head_dim);
}
