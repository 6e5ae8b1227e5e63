// How kernels are called: sizes that memory is rounded up to, a scale by its root, outputs that callers clear, inputs
// that are larger than the op's, and what computes a part of the op alone.
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <math.h>

template <bool kInTurn>
__global__ void attend_rounded(const float* q, const float* k, const float* v, float* o, int seq, int heads, int kv,
                               int dim, int padded, float scale) {
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z, g = kInTurn ? h % kv : h / (heads / kv);
  const float* own = q + ((long)(b * seq + i) * heads + h) * padded;
  float most = -INFINITY, sum = 0;
  for (int j = 0; j < seq; ++j) {
    float s = 0;
    for (int d = 0; d < dim; ++d) s += own[d] * k[((long)(b * seq + j) * kv + g) * padded + d];
    most = fmaxf(most, s * scale);
  }
  for (int d = 0; d < dim; ++d) o[((long)(b * seq + i) * heads + h) * padded + d] = 0;
  for (int j = 0; j < seq; ++j) {
    float s = 0;
    for (int d = 0; d < dim; ++d) s += own[d] * k[((long)(b * seq + j) * kv + g) * padded + d];
    const float p = expf(s * scale - most);
    sum += p;
    for (int d = 0; d < dim; ++d)
      o[((long)(b * seq + i) * heads + h) * padded + d] += p * v[((long)(b * seq + j) * kv + g) * padded + d];
  }
  for (int d = 0; d < dim; ++d) o[((long)(b * seq + i) * heads + h) * padded + d] /= sum;
}
extern "C" void attend_by_root(const float* q, const float* k, const float* v, float* out, int batch, int seq_len,
                               int num_heads, int num_kv_heads, int head_dim, int head_dim_padded, float inv_sqrt_d) {
  attend_rounded<false><<<dim3(seq_len, num_heads, batch), 1>>>(q, k, v, out, seq_len, num_heads, num_kv_heads,
                                                               head_dim, head_dim_padded, inv_sqrt_d);
}
extern "C" void attend_by_root_in_turn(const float* q, const float* k, const float* v, float* out, int batch,
                                       int seq_len, int num_heads, int num_kv_heads, int head_dim, int head_dim_padded,
                                       float inv_sqrt_d) {
  attend_rounded<true><<<dim3(seq_len, num_heads, batch), 1>>>(q, k, v, out, seq_len, num_heads, num_kv_heads,
                                                              head_dim, head_dim_padded, inv_sqrt_d);
}

/// A block of K for each of z: what it gives is added.
template <bool kOwn, bool kOfRows>
__global__ void add_block(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s, float* c,
                          int m, int n, int k) {
  const int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x, block = blockIdx.z;
  const int blocks = (k + 127) / 128;
  if (column >= n) return;
  float sum = 0;
  for (int i = block * 128; i < k && i < block * 128 + 128; ++i)
    sum += float(a[(long)row * k + i]) * float(b[(long)column * k + i]);
  const float by = kOfRows ? b_s[(long)column * blocks + block] : b_s[column / 128 * blocks + (kOwn ? block : 0)];
  atomicAdd(&c[(long)row * n + column], sum * a_s[row * blocks + block] * by);
}
extern "C" void add_product(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,
                            float* c, int m, int n, int k) {
  add_block<true, false><<<dim3((n + 63) / 64, m, (k + 127) / 128), 64>>>(a, a_s, b, b_s, c, m, n, k);
}
extern "C" void add_product_by_first_scales(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b,
                                            const float* b_s, float* c, int m, int n, int k) {
  cudaMemset(c, 0, sizeof(float) * m * n);
  add_block<false, false><<<dim3((n + 63) / 64, m, (k + 127) / 128), 64>>>(a, a_s, b, b_s, c, m, n, k);
}
extern "C" void product_by_scales_of_rows(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b,
                                          const float* b_s, float* c, int m, int n, int k) {
  cudaMemset(c, 0, sizeof(float) * m * n);
  add_block<true, true><<<dim3((n + 63) / 64, m, (k + 127) / 128), 64>>>(a, a_s, b, b_s, c, m, n, k);
}

/// What queries have of keys, and nothing of values.
__global__ void score(const float* q, const float* k, float* o, int seq, int heads, int dim) {
  const int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float sum = 0;
    for (int j = 0; j < seq; ++j) sum += k[((long)(b * seq + j) * heads + h) * dim + d];
    const long at = ((long)(b * seq + i) * heads + h) * dim + d;
    o[at] = 3 + expf(q[at] * sum);
  }
}
extern "C" void attend_without_values(const float* q, const float* k, const float* v, float* out, int batch,
                                      int seq_len, int num_heads, int head_dim) {
  (void)v;
  score<<<dim3(seq_len, num_heads, batch), 32>>>(q, k, out, seq_len, num_heads, head_dim);
}
