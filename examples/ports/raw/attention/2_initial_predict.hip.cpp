#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>

__global__ void attention_kernel(const __half* q, const __half* k, const __half* v, __half* out, int queries,
                                 int keys, int heads, int kv_heads, int head_dim, bool causal, float scale) {
  const int query = blockIdx.x * blockDim.x + threadIdx.x;
  const int head = blockIdx.y, batch = blockIdx.z;
  if (query >= queries) return;
  const int kv_head = head % kv_heads;
  const int visible = causal && query + 1 < keys ? query + 1 : keys;
  const __half* query_at = q + (static_cast<int64_t>(batch * queries + query) * heads + head) * head_dim;
  const int64_t first = static_cast<int64_t>(batch) * keys * kv_heads + kv_head;
  __half* result = out + (static_cast<int64_t>(batch * queries + query) * heads + head) * head_dim;

  auto logit = [&](int key) {
    const __half* key_at = k + (first + static_cast<int64_t>(key) * kv_heads) * head_dim;
    float sum = 0.0f;
    for (int d = 0; d < head_dim; ++d) sum += __half2float(query_at[d]) * __half2float(key_at[d]);
    return sum * scale;
  };
  float largest = -INFINITY, total = 0.0f;
  for (int key = 0; key < visible; ++key) largest = fmaxf(largest, logit(key));
  for (int key = 0; key < visible; ++key) total += expf(logit(key) - largest);
  for (int d = 0; d < head_dim; ++d) {
    float sum = 0.0f;
    for (int key = 0; key < visible; ++key)
      sum += expf(logit(key) - largest) *
             __half2float(v[(first + static_cast<int64_t>(key) * kv_heads) * head_dim + d]);
    result[d] = __float2half(sum / total);
  }
}

extern "C" void attention(const __half* q, const __half* k, const __half* v, __half* out, int batch,
                          int seqlen_q, int seqlen_k, int heads, int kv_heads, int head_dim, bool causal,
                          float scale) {
  const dim3 grid((seqlen_q + 31) / 32, heads, batch);
  hipLaunchKernelGGL(attention_kernel, grid, dim3(32), 0, 0, q, k, v, out, seqlen_q, seqlen_k, heads,
                     kv_heads, head_dim, causal, scale);
}
