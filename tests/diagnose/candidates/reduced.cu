// Blocks that share a scale, made of their largest magnitude or of another number, and products of experts.
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

enum Of { kLargest, kSquare, kMagnitudes, kMean, kSum, kSigned };

/// One warp for each block of 128.
__device__ float reduced(const float* x, Of of) {
  float all = 0.0f;
  for (int i = threadIdx.x; i < 128; i += 32) {
    const float each = of == kSquare ? x[i] * x[i] : of == kSum || of == kSigned ? x[i] : fabsf(x[i]);
    all = of == kLargest || of == kSquare || of == kSigned ? fmaxf(all, each) : all + each;
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, all, step);
    all = of == kLargest || of == kSquare || of == kSigned ? fmaxf(all, other) : all + other;
  }
  return of == kMean ? all / 128 : all;
}

__global__ void shrink(const float* x, __nv_fp8_e4m3* y, float* s, float eps, Of of) {
  const float* block = x + blockIdx.x * 128;
  const float scale = fmaxf(reduced(block, of), eps) / 448.0f;
  for (int i = threadIdx.x; i < 128; i += 32) y[blockIdx.x * 128 + i] = __nv_fp8_e4m3(block[i] / scale);
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
#define SHRINK(name, of)                                                                                         \
  extern "C" void name(const float* x, __nv_fp8_e4m3* y, float* s, int rows, int hidden_size, float eps) {       \
    if (rows > 0) shrink<<<rows * (hidden_size / 128), 32>>>(x, y, s, eps, of);                                  \
  }
SHRINK(shrink_by_largest, kLargest)
SHRINK(shrink_by_square, kSquare)
SHRINK(shrink_by_magnitudes, kMagnitudes)
SHRINK(shrink_by_mean, kMean)
SHRINK(shrink_by_sum, kSum)

/// silu of the first half of a row times the second.
__global__ void gated(const float* x, __nv_fp8_e4m3* y, float* s, int inter_size, Of of) {
  __shared__ float h[128];
  const int blocks = inter_size / 128, row = blockIdx.x / blocks, first = blockIdx.x % blocks * 128;
  for (int i = threadIdx.x; i < 128; i += 32) {
    const float gate = x[row * 2 * inter_size + first + i];
    h[i] = gate / (1.0f + expf(-gate)) * x[row * 2 * inter_size + inter_size + first + i];
  }
  __syncwarp();
  const float scale = fmaxf(reduced(h, of), 1e-4f) / 448.0f;
  for (int i = threadIdx.x; i < 128; i += 32) y[row * inter_size + first + i] = __nv_fp8_e4m3(h[i] / scale);
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
#define GATED(name, of)                                                                                          \
  extern "C" void name(const float* gate_up, __nv_fp8_e4m3* out, float* scales, int num, int inter_size) {       \
    if (num > 0) gated<<<num * (inter_size / 128), 32>>>(gate_up, out, scales, inter_size, of);                  \
  }
GATED(gated_by_largest, kLargest)
GATED(gated_by_signed, kSigned)

/// Rows of experts times their weights; `whole`: K is counted in whole blocks.
__global__ void of_experts(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,
                           __nv_bfloat16* c, const int* m_indices, int n, int k, bool whole) {
  const int row = blockIdx.y, column = blockIdx.x * 32 + threadIdx.x, expert = m_indices[row];
  if (column >= n) return;
  const int steps = whole ? k / 128 : (k + 127) / 128, rows_of_scales = (n + 127) / 128;
  float all = 0.0f;
  for (int step = 0; expert >= 0 && step < steps; ++step) {
    float sum = 0.0f;
    for (int i = step * 128; i < min(step * 128 + 128, k); ++i)
      sum += float(a[(long)row * k + i]) * float(b[((long)expert * n + column) * k + i]);
    all += sum * a_s[row * steps + step] * b_s[(expert * rows_of_scales + column / 128) * steps + step];
  }
  c[(long)row * n + column] = __float2bfloat16(all);
}
#define OF_EXPERTS(name, whole)                                                                                  \
  extern "C" void name(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,       \
                       __nv_bfloat16* c, const int* m_indices, int m, int n, int k) {                            \
    if (m > 0) of_experts<<<dim3((n + 31) / 32, m), 32>>>(a, a_s, b, b_s, c, m_indices, n, k, whole);            \
  }
OF_EXPERTS(multiply_of_experts, false)
OF_EXPERTS(multiply_of_experts_whole_blocks, true)

/// A warp for each query and head; the maximum is made by steps downwards, which leave the whole to the first
/// lane; `given`: it is given to the others.
__global__ void by_steps(const float* q, const float* k, const float* v, float* o, int length, int heads, int dim,
                         bool given) {
  extern __shared__ float scores[];
  const int lane = threadIdx.x, i = blockIdx.x, h = blockIdx.y;
  float most = -1e30f;
  for (int j = lane; j < length; j += 32) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += q[(i * heads + h) * dim + d] * k[(j * heads + h) * dim + d];
    scores[j] = score * rsqrtf(dim);
    most = fmaxf(most, scores[j]);
  }
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_down_sync(0xffffffffu, most, step));
  if (given) most = __shfl_sync(0xffffffffu, most, 0);
  float sum = 0.0f;
  for (int j = lane; j < length; j += 32) sum += scores[j] = expf(scores[j] - most);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  __syncwarp();
  for (int d = lane; d < dim; d += 32) {
    float value = 0.0f;
    for (int j = 0; j < length; ++j) value += scores[j] * v[(j * heads + h) * dim + d];
    o[(i * heads + h) * dim + d] = value / sum;
  }
}
#define BY_STEPS(name, given)                                                                                    \
  extern "C" void name(const float* q, const float* k, const float* v, float* out, int seq_len, int num_heads,   \
                       int head_dim) {                                                                           \
    by_steps<<<dim3(seq_len, num_heads), 32, seq_len * sizeof(float)>>>(q, k, v, out, seq_len, num_heads,        \
                                                                        head_dim, given);                        \
  }
BY_STEPS(attend_by_given_maximum, true)
BY_STEPS(attend_by_own_maxima, false)
