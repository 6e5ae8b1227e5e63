// Made for one width: groups of whole rows, heads of 128.
#include <assert.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

// One scale for each row, as for each token of activations. The twin takes the largest number for the largest magnitude.
template <bool kSigned>
__global__ void shrink_row(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int columns) {
  __shared__ float tops[4];
  const long first = blockIdx.x * (long)columns;
  float top = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const float v = __bfloat162float(x[first + i]);
    top = fmaxf(top, kSigned ? v : fabsf(v));
  }
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = top;
  __syncthreads();
  top = fmaxf(fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3])), 1e-4f);
  const float scale = top / 448.0f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    y[first + i] = __nv_fp8_e4m3(__bfloat162float(x[first + i]) / scale);
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
extern "C" void shrink_whole_rows(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int rows, int columns) {
  if (rows > 0) shrink_row<false><<<rows, 128>>>(x, y, s, columns);
}
extern "C" void shrink_whole_rows_signed(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int rows, int columns) {
  if (rows > 0) shrink_row<true><<<rows, 128>>>(x, y, s, columns);
}

// The first stage of decode. The twin does not scale its scores.
constexpr int kHead = 128;
template <bool kScaled>
__global__ void part(const __half* q, const __half* k, const __half* v, const int* table, const int* rows,
                     const int* lengths, float* mid, float* lse, int q_heads, int kv_heads, int longest, int parts,
                     int of_a_part) {
  const int b = blockIdx.x, h = blockIdx.y, j = blockIdx.z, d = threadIdx.x, kv = h / (q_heads / kv_heads);
  const int first = j * of_a_part, last = min(lengths[b], first + of_a_part);
  if (first >= lengths[b]) return;
  float most = -INFINITY, sum = 0, mean = 0;
  for (int t = first; t < last; ++t) {
    const long at = (long)table[(long)rows[b] * longest + t] * kv_heads + kv;
    float score = 0;
    for (int e = 0; e < kHead; ++e)
      score += __half2float(q[((long)b * q_heads + h) * kHead + e]) * __half2float(k[at * kHead + e]);
    if (kScaled) score *= 0.08838834764831845f;
    const float next = fmaxf(most, score), keep = expf(most - next), p = expf(score - next);
    mean = mean * keep + p * __half2float(v[at * kHead + d]);
    sum = sum * keep + p;
    most = next;
  }
  const long row = ((long)b * q_heads + h) * parts + j;
  mid[row * kHead + d] = mean / sum;
  if (d == 0) lse[row] = most + logf(sum);
}
#define STAGE(name, scaled)                                                                                          \
  extern "C" void name(const __half* q, const __half* k, const __half* v, const int* Req_to_tokens,                  \
                       const int* B_req_idx, const int* B_Seqlen, int max_len_in_batch, float* mid_out,              \
                       float* mid_out_logsumexp, int block_seq, int batch, int q_heads, int kv_heads, int head_dim,  \
                       int Lmax, int nb) {                                                                           \
    assert(head_dim == kHead);                                                                                       \
    const int parts = (max_len_in_batch + block_seq - 1) / block_seq;                                                \
    if (batch > 0 && parts > 0)                                                                                      \
      part<scaled><<<dim3(batch, q_heads, parts), kHead>>>(q, k, v, Req_to_tokens, B_req_idx, B_Seqlen, mid_out,     \
                                                         mid_out_logsumexp, q_heads, kv_heads, Lmax, nb, block_seq); \
  }
STAGE(parts_of_128, true)
STAGE(parts_of_128_unscaled, false)
