// What is put in front of a division or an exponential, each beside a twin.
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <math_constants.h>

// No floor under the maximum: a block of zeros has scale 0, and is not divided by it. The twin divides.
template <bool kGuarded>
__global__ void quantize_without_floor(const float* x, unsigned char* y, float* s, int block_size) {
  const float* from = x + blockIdx.x * block_size;
  float most = 0;
  for (int i = 0; i < block_size; ++i) most = fmaxf(most, fabsf(from[i]));
  const float scale = most / 448.0f;
  for (int i = threadIdx.x; i < block_size; i += blockDim.x)
    y[blockIdx.x * block_size + i] =
        __nv_cvt_float_to_fp8(kGuarded && scale == 0.0f ? 0.0f : from[i] / scale, __NV_SATFINITE, __NV_E4M3);
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
extern "C" void quantize_and_keep_zeros(const float* x, unsigned char* y, float* s, int n, int block_size) {
  quantize_without_floor<true><<<n / block_size, 32>>>(x, y, s, block_size);
}
extern "C" void quantize_and_divide_zeros(const float* x, unsigned char* y, float* s, int n, int block_size) {
  quantize_without_floor<false><<<n / block_size, 32>>>(x, y, s, block_size);
}

// Weights of two parts by the larger of their log-sum-exps. The twin takes the smaller, whose partner overflows.
template <bool kLarger>
__global__ void merge_parts(const float* a, const float* lse_a, const float* b, const float* lse_b, float* out,
                            float* lse, int dim) {
  const int row = blockIdx.x;
  const float p = lse_a[row], q = lse_b[row], by = kLarger ? fmaxf(p, q) : fminf(p, q);
  const bool none = by == -CUDART_INF_F && kLarger;
  const float wp = none ? 0.0f : expf(p - by), wq = none ? 0.0f : expf(q - by), sum = wp + wq;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    const float first = wp == 0 ? 0 : a[row * dim + d] * (wp / sum), second = wq == 0 ? 0 : b[row * dim + d] * (wq / sum);
    out[row * dim + d] = first + second;
  }
  if (threadIdx.x == 0) lse[row] = none ? by : by + logf(sum);
}
extern "C" void merge_by_larger(const float* a, const float* lse_a, const float* b, const float* lse_b, float* out,
                                float* lse, int num_tokens, int num_heads, int head_size) {
  merge_parts<true><<<num_tokens * num_heads, 32>>>(a, lse_a, b, lse_b, out, lse, head_size);
}
extern "C" void merge_by_smaller(const float* a, const float* lse_a, const float* b, const float* lse_b, float* out,
                                 float* lse, int num_tokens, int num_heads, int head_size) {
  merge_parts<false><<<num_tokens * num_heads, 32>>>(a, lse_a, b, lse_b, out, lse, head_size);
}

// Heads of keys that go by H_kv. The twin leaves a query's own key out where it is causal, so that the first
// divides by 0.
template <int kOwn>
__global__ void attend_up_to(const float* q, const float* k, const float* v, float* out, int heads, int kv_heads,
                             int length, int dim, int causal) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= heads * length) return;
  const int head = at / length, row = at % length, of = head / (heads / kv_heads);
  float most = -CUDART_INF_F, sum = 0;
  float* o = out + at * dim;
  for (int d = 0; d < dim; ++d) o[d] = 0;
  for (int j = 0; j < (causal ? row + kOwn : length); ++j) {
    const int key = (of * length + j) * dim;
    float s = 0;
    for (int d = 0; d < dim; ++d) s += q[at * dim + d] * k[key + d];
    s *= rsqrtf((float)dim);
    const float larger = fmaxf(most, s), before = expf(most - larger), p = expf(s - larger);
    sum = sum * before + p;
    for (int d = 0; d < dim; ++d) o[d] = o[d] * before + p * v[key + d];
    most = larger;
  }
  for (int d = 0; d < dim; ++d) o[d] /= sum;
}
extern "C" void attend_up_to_own(const float* Q, const float* K, const float* V, float* O, int H_q, int H_kv,
                                 int seq_len, int head_dim, int causal) {
  attend_up_to<1><<<(H_q * seq_len + 63) / 64, 64>>>(Q, K, V, O, H_q, H_kv, seq_len, head_dim, causal);
}
extern "C" void attend_before_own(const float* Q, const float* K, const float* V, float* O, int H_q, int H_kv,
                                  int seq_len, int head_dim, int causal) {
  attend_up_to<0><<<(H_q * seq_len + 63) / 64, 64>>>(Q, K, V, O, H_q, H_kv, seq_len, head_dim, causal);
}
