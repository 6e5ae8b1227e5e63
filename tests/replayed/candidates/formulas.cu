// Kernels as they are ported by hand, and twins of them with one fault each.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

/// Of two inputs that are added the rows by their root mean square; `kBoth`: of the sum, or of the first alone.
template <bool kBoth>
__global__ void norm_of_sums(const float* x, const float* residual, float* out, int width) {
  const float* a = x + blockIdx.x * width;
  const float* b = residual + blockIdx.x * width;
  float squares = 0;
  for (int c = 0; c < width; ++c) {
    const float each = kBoth ? a[c] + b[c] : a[c];
    squares += each * each;
  }
  for (int c = threadIdx.x; c < width; c += blockDim.x)
    out[blockIdx.x * width + c] = (a[c] + b[c]) * rsqrtf(squares / width + 1e-6f);
}
extern "C" void add_norm(const float* x, const float* residual, float* out, int rows, int width) {
  norm_of_sums<true><<<rows, 32>>>(x, residual, out, width);
}
extern "C" void add_norm_of_x(const float* x, const float* residual, float* out, int rows, int width) {
  norm_of_sums<false><<<rows, 32>>>(x, residual, out, width);
}

/// A gate that is bounded above, and what it multiplies, bounded on both sides, and one more.
template <bool kBelow, bool kOneMore>
__global__ void gate_of_halves(const float* x, float* out, int width, float limit) {
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    const float gate = fminf(x[blockIdx.x * 2 * width + c], limit);
    float up = fminf(x[blockIdx.x * 2 * width + width + c], limit);
    if (kBelow) up = fmaxf(up, -limit);
    out[blockIdx.x * width + c] = gate / (1 + expf(-1.5f * gate)) * (kOneMore ? up + 1 : up);
  }
}
extern "C" void bounded_gate(const float* x, float* out, float limit, int rows, int width) {
  gate_of_halves<true, true><<<rows, 32>>>(x, out, width, limit);
}
extern "C" void bounded_gate_above_alone(const float* x, float* out, float limit, int rows, int width) {
  gate_of_halves<false, true><<<rows, 32>>>(x, out, width, limit);
}
extern "C" void bounded_gate_without_one(const float* x, float* out, float limit, int rows, int width) {
  gate_of_halves<true, false><<<rows, 32>>>(x, out, width, limit);
}

/// Rows by their standard deviation; `first`: the first step of the block's sum of squares.
__global__ void spread_of_rows(const float* x, float* out, float* spread, int width, int first) {
  __shared__ float part[128];
  float sum = 0;
  for (int c = 0; c < width; ++c) sum += x[blockIdx.x * width + c];
  const float mean = sum / width;
  part[threadIdx.x] = 0;
  for (int c = threadIdx.x; c < width; c += 128) {
    const float d = x[blockIdx.x * width + c] - mean;
    part[threadIdx.x] += d * d;
  }
  __syncthreads();
  for (int step = first; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  const float by = rsqrtf(part[0] / width + 1e-5f);
  if (threadIdx.x == 0) spread[blockIdx.x] = by;
  for (int c = threadIdx.x; c < width; c += 128) out[blockIdx.x * width + c] = (x[blockIdx.x * width + c] - mean) * by;
}
extern "C" void spread(const float* x, float* out, float* by, int rows, int width) {
  spread_of_rows<<<rows, 128>>>(x, out, by, width, 64);
}
extern "C" void spread_of_half_the_block(const float* x, float* out, float* by, int rows, int width) {
  spread_of_rows<<<rows, 128>>>(x, out, by, width, 32);
}

/// A loss of which a share is the mean of its row.
__global__ void smooth(const float* x, const float* target, float* out, int width, int counted) {
  float sum = 0;
  for (int c = 0; c < width; ++c) sum += x[threadIdx.x * width + c];
  out[threadIdx.x] = 0.75f * target[threadIdx.x] - 0.25f * sum / counted;
}
extern "C" void smoothed(const float* x, const float* target, float* out, int rows, int width) {
  smooth<<<1, rows>>>(x, target, out, width, width);
}
extern "C" void smoothed_by_the_block(const float* x, const float* target, float* out, int rows, int width) {
  smooth<<<1, rows>>>(x, target, out, width, 64);
}

/// tanh of a product and of a vector that is added to it; `kBehind`: that is added to the result.
template <bool kBehind>
__global__ void bend_products(const float* a, const float* b, const float* bias, float* c, int n, int k) {
  const int row = blockIdx.x, column = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = kBehind ? tanhf(sum) + bias[column] : tanhf(sum + bias[column]);
}
extern "C" void bent_product(const float* a, const float* b, const float* bias, float* c, int M, int N, int K) {
  bend_products<false><<<M, N>>>(a, b, bias, c, N, K);
}
extern "C" void bent_product_with_bias_behind(const float* a, const float* b, const float* bias, float* c, int M, int N,
                                              int K) {
  bend_products<true><<<M, N>>>(a, b, bias, c, N, K);
}

/// Products of bytes, summed in `Sum`, with a scale for each row and each column.
template <class Sum>
__global__ void multiply_bytes(const signed char* a, const signed char* b, const float* of_a, const float* of_b,
                               float* c, int n, int k, int taken) {
  Sum sum = 0;
  for (int i = 0; i < taken; ++i) sum += a[blockIdx.x * k + i] * b[threadIdx.x * k + i];
  c[blockIdx.x * n + threadIdx.x] = (float)sum * of_a[blockIdx.x] * of_b[threadIdx.x];
}
extern "C" void byte_products(const signed char* a, const signed char* b, const float* of_a, const float* of_b,
                              float* c, int M, int N, int K) {
  multiply_bytes<int><<<M, N>>>(a, b, of_a, of_b, c, N, K, K);
}
extern "C" void byte_products_in_16_bits(const signed char* a, const signed char* b, const float* of_a,
                                         const float* of_b, float* c, int M, int N, int K) {
  multiply_bytes<short><<<M, N>>>(a, b, of_a, of_b, c, N, K, K);
}
extern "C" void byte_products_of_whole_tiles(const signed char* a, const signed char* b, const float* of_a,
                                             const float* of_b, float* c, int M, int N, int K) {
  multiply_bytes<int><<<M, N>>>(a, b, of_a, of_b, c, N, K, K / 16 * 16);
}

/// Eight numbers of 4 bits in each word, the first in the lowest bits, each times its place.
__global__ void unpack(const int* words, const float* scale, float* out, int count, bool highest) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int j = 0; j < 8 && i < count; ++j)
    out[i * 8 + j] = ((unsigned)words[i] >> (highest ? 28 - 4 * j : 4 * j) & 15) * scale[i] * (j + 1);
}
extern "C" void unpacked(const int* words, const float* scale, float* out, int count) {
  unpack<<<1, 64>>>(words, scale, out, count, false);
}
extern "C" void unpacked_from_the_highest(const int* words, const float* scale, float* out, int count) {
  unpack<<<1, 64>>>(words, scale, out, count, true);
}

/// The sums of rows, which the original returns: stored, or added to what lies there.
__global__ void sum_rows(const float* x, float* sums, int width, bool add) {
  float sum = 0;
  for (int c = 0; c < width; ++c) sum += x[threadIdx.x * width + c];
  if (add)
    atomicAdd(&sums[threadIdx.x], sum);
  else
    sums[threadIdx.x] = sum;
}
extern "C" void returned_sums(const float* x, float* sums, int rows, int width) {
  sum_rows<<<1, rows>>>(x, sums, width, false);
}
extern "C" void returned_sums_added(const float* x, float* sums, int rows, int width) {
  sum_rows<<<1, rows>>>(x, sums, width, true);
}

/// Each head times the scale of its kv head.
__global__ void scale_heads(const float* x, const float* scale, float* out, int heads, int kv_heads, int dim,
                            bool in_turn) {
  const int head = blockIdx.y, of = in_turn ? head % kv_heads : head / (heads / kv_heads);
  const int at = (blockIdx.x * heads + head) * dim + threadIdx.x;
  out[at] = x[at] * scale[(blockIdx.x * kv_heads + of) * dim + threadIdx.x];
}
extern "C" void scaled_heads(const float* x, const float* scale, float* out, int num_tokens, int num_heads,
                             int num_kv_heads, int head_dim) {
  scale_heads<<<dim3(num_tokens, num_heads), head_dim>>>(x, scale, out, num_heads, num_kv_heads, head_dim, false);
}
extern "C" void scaled_heads_in_turn(const float* x, const float* scale, float* out, int num_tokens, int num_heads,
                                     int num_kv_heads, int head_dim) {
  scale_heads<<<dim3(num_tokens, num_heads), head_dim>>>(x, scale, out, num_heads, num_kv_heads, head_dim, true);
}

/// The largest, or the mean, of three neighbours, fewer at the ends.
__global__ void pool(const float* x, float* out, int width, bool mean, float from, bool three) {
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    float most = from, sum = 0;
    int count = 0;
    for (int i = max(c - 1, 0); i < min(c + 2, width); ++i, ++count) {
      most = fmaxf(most, x[blockIdx.x * width + i]);
      sum += x[blockIdx.x * width + i];
    }
    out[blockIdx.x * width + c] = mean ? sum / (three ? 3 : count) : most;
  }
}
extern "C" void pooled(const float* x, float* out, int rows, int width) {
  pool<<<rows, 32>>>(x, out, width, false, -INFINITY, false);
}
extern "C" void pooled_from_zero(const float* x, float* out, int rows, int width) {
  pool<<<rows, 32>>>(x, out, width, false, 0, false);
}
extern "C" void pooled_means(const float* x, float* out, int rows, int width) {
  pool<<<rows, 32>>>(x, out, width, true, 0, false);
}
extern "C" void pooled_means_by_three(const float* x, float* out, int rows, int width) {
  pool<<<rows, 32>>>(x, out, width, true, 0, true);
}

/// Scores of queries, the last of which sees the last key.
__global__ void score(const float* x, float* out, int queries, int keys, int more) {
  const int at = blockIdx.x * keys + threadIdx.x;
  out[at] = (int)threadIdx.x <= (int)blockIdx.x + more ? x[at] : -1000.0f;
}
extern "C" void seen_scores(const float* x, float* out, int queries, int keys) {
  score<<<queries, keys>>>(x, out, queries, keys, keys - queries);
}
extern "C" void seen_scores_from_the_first(const float* x, float* out, int queries, int keys) {
  score<<<queries, keys>>>(x, out, queries, keys, 0);
}

/// A step along a gradient that is weighed by how many have been made.
__global__ void step_along(float* p, const float* g, int n, float rate, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] -= rate * g[i] / (by * (sqrtf(g[i] * g[i] / by) + 0.5f));
}
extern "C" void descended(float* p, const float* g, float rate, int step, int n) {
  step_along<<<(n + 63) / 64, 64>>>(p, g, n, rate, 1 - powf(0.5f, step));
}
extern "C" void descended_whatever_the_step(float* p, const float* g, float rate, int step, int n) {
  step_along<<<(n + 63) / 64, 64>>>(p, g, n, rate, 1);
}

/// Rows by their sum of magnitudes, after a factor.
__global__ void share_products(const float* x, const float* z, float* out, int width, bool factor) {
  float sum = 0;
  for (int c = 0; c < width; ++c) {
    const int at = blockIdx.x * width + c;
    sum += fabsf(factor ? x[at] * z[at] * z[at] : x[at] * z[at]);
  }
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    const int at = blockIdx.x * width + c;
    out[at] = (factor ? x[at] * z[at] * z[at] : x[at] * z[at]) / sum;
  }
}
extern "C" void shared_products(const float* x, const float* z, float* out, int rows, int width) {
  share_products<<<rows, 32>>>(x, z, out, width, true);
}
extern "C" void shared_products_without_a_factor(const float* x, const float* z, float* out, int rows, int width) {
  share_products<<<rows, 32>>>(x, z, out, width, false);
}
