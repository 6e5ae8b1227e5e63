// Kernels with the faults that porters make by habit, and their right twins: ends of ties, beginnings of
// maxima, indices of vectors, what is mixed, where a factor stands.
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

/// The place of the largest of each row, a thread for a row.
template <bool kLast>
__global__ void place_of_largest(const float* x, int64_t* place, int width) {
  const float* row = x + threadIdx.x * width;
  int at = 0;
  for (int c = 1; c < width; ++c)
    if (kLast ? row[c] >= row[at] : row[c] > row[at]) at = c;
  place[threadIdx.x] = at;
}
extern "C" void largest_place(const float* x, int64_t* place, int rows, int width) {
  place_of_largest<false><<<1, rows>>>(x, place, width);
}
extern "C" void largest_place_the_last(const float* x, int64_t* place, int rows, int width) {
  place_of_largest<true><<<1, rows>>>(x, place, width);
}

__global__ void largest_of_rows(const float* x, float* out, int width, float first) {
  float most = first;
  for (int c = 0; c < width; ++c) most = fmaxf(most, x[threadIdx.x * width + c]);
  out[threadIdx.x] = most;
}
extern "C" void largest(const float* x, float* out, int rows, int width) {
  largest_of_rows<<<1, rows>>>(x, out, width, -INFINITY);
}
extern "C" void largest_from_zero(const float* x, float* out, int rows, int width) {
  largest_of_rows<<<1, rows>>>(x, out, width, 0.0f);
}

/// A running mean of columns.
__global__ void run(const float* x, float* mean, int rows, int width, float kept) {
  float sum = 0;
  for (int r = 0; r < rows; ++r) sum += x[r * width + threadIdx.x];
  mean[threadIdx.x] = kept * mean[threadIdx.x] + (1 - kept) * sum / rows;
}
extern "C" void running(const float* x, float* mean, int rows, int width) {
  run<<<1, width>>>(x, mean, rows, width, 0.9f);
}
extern "C" void running_exchanged(const float* x, float* mean, int rows, int width) {
  run<<<1, width>>>(x, mean, rows, width, 0.1f);
}
__global__ void run_less(const float* x, float* mean, int rows, int width) {
  float sum = 0;
  for (int r = 0; r < rows; ++r) sum += x[r * width + threadIdx.x];
  mean[threadIdx.x] = 0.9f * mean[threadIdx.x] + 0.1f * sum / (rows - 1);
}
extern "C" void running_by_one_less(const float* x, float* mean, int rows, int width) {
  run_less<<<1, width>>>(x, mean, rows, width);
}

/// A polynomial of three weights.
__global__ void cubic_of(const float* x, const float* w, float* y, int n, int first) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  const float a = w[first], b = w[1], c = w[2 - first], v = x[i];
  y[i] = a * v * v * v + b * v * v + c * v;
}
extern "C" void cubic(const float* x, const float* w, float* y, int n) {
  cubic_of<<<(n + 31) / 32, 32>>>(x, w, y, n, 0);
}
extern "C" void cubic_backwards(const float* x, const float* w, float* y, int n) {
  cubic_of<<<(n + 31) / 32, 32>>>(x, w, y, n, 2);
}

/// Rows less a share of their largest element, and never below 0.
__global__ void lower(const float* x, float* y, int width, float share) {
  float most = -INFINITY;
  for (int c = 0; c < width; ++c) most = fmaxf(most, x[blockIdx.x * width + c]);
  for (int c = threadIdx.x; c < width; c += 32)
    y[blockIdx.x * width + c] = fmaxf(x[blockIdx.x * width + c] - share * most, 0.0f);
}
extern "C" void lowered(const float* x, float* y, int rows, int width) {
  lower<<<rows, 32>>>(x, y, width, 0.25f);
}
extern "C" void lowered_by_half(const float* x, float* y, int rows, int width) {
  lower<<<rows, 32>>>(x, y, width, 0.5f);
}

/// The nearest of some codes, and how far it is.
__global__ void nearest_of(const float* x, const float* codebook, int64_t* index, float* distance, int n,
                           int codes, int dim, bool root) {
  const int row = blockIdx.x * 16 + threadIdx.x;
  if (row >= n) return;
  float least = INFINITY;
  for (int c = 0; c < codes; ++c) {
    float sum = 0;
    for (int d = 0; d < dim; ++d) {
      const float e = x[row * dim + d] - codebook[c * dim + d];
      sum += e * e;
    }
    if (sum < least) {
      least = sum;
      index[row] = c;
    }
  }
  distance[row] = root ? sqrtf(least) : least;
}
extern "C" void nearest(const float* x, const float* codebook, int64_t* index, float* distance, int n,
                        int num_codes, int dim) {
  nearest_of<<<(n + 15) / 16, 16>>>(x, codebook, index, distance, n, num_codes, dim, false);
}
extern "C" void nearest_by_root(const float* x, const float* codebook, int64_t* index, float* distance, int n,
                                int num_codes, int dim) {
  nearest_of<<<(n + 15) / 16, 16>>>(x, codebook, index, distance, n, num_codes, dim, true);
}

/// Some elements of each row made less likely, as ids and where each row's begin say.
__global__ void penalise(float* logits, const float* by, const int* ids, const int* begins, int vocab,
                         bool both) {
  for (int i = begins[blockIdx.x] + threadIdx.x; i < begins[blockIdx.x + 1]; i += 32) {
    float& x = logits[blockIdx.x * vocab + ids[i]];
    x = x > 0 || !both ? x / by[blockIdx.x] : x * by[blockIdx.x];
  }
}
extern "C" void penalised(float* logits, const float* by, const int* ids, const int* begins, int batch,
                          int vocab) {
  penalise<<<batch, 32>>>(logits, by, ids, begins, vocab, true);
}
extern "C" void penalised_alike(float* logits, const float* by, const int* ids, const int* begins, int batch,
                                int vocab) {
  penalise<<<batch, 32>>>(logits, by, ids, begins, vocab, false);
}

/// Rows added where ids say, but for those of `padding_idx`.
__global__ void add_rows(const float* grad, const int* ids, float* table, int tokens, int dim, int left_out) {
  for (int t = 0; t < tokens; ++t)
    if (ids[t] != left_out) table[ids[t] * dim + threadIdx.x] += grad[t * dim + threadIdx.x];
}
extern "C" void table_grad(const float* grad, const int* ids, float* table, int tokens, int dim,
                           int padding_idx) {
  add_rows<<<1, dim>>>(grad, ids, table, tokens, dim, padding_idx);
}
extern "C" void table_grad_of_all(const float* grad, const int* ids, float* table, int tokens, int dim,
                                  int padding_idx) {
  add_rows<<<1, dim>>>(grad, ids, table, tokens, dim, padding_idx - 1000);
}

/// Channels times a weight of their own, and its square; `how`: by the element in its channel, by the
/// remainder, by the group.
__global__ void weigh(const float* x, const float* w, float* y, int channels, int groups, int length,
                      int how) {
  const int each = channels / groups, at = blockIdx.x * channels * length;
  for (int g = 0; g < groups; ++g)
    for (int i = threadIdx.x; i < each * length; i += 32) {
      const int c = how == 0 ? g * each + i / length : how == 1 ? g * each + i % each : g;
      y[at + g * each * length + i] = x[at + g * each * length + i] * w[c] + w[c] * w[c];
    }
}
extern "C" void weighed(const float* x, const float* w, float* y, int batch, int channels, int groups,
                        int length) {
  weigh<<<batch, 32>>>(x, w, y, channels, groups, length, 0);
}
extern "C" void weighed_by_remainder(const float* x, const float* w, float* y, int batch, int channels,
                                     int groups, int length) {
  weigh<<<batch, 32>>>(x, w, y, channels, groups, length, 1);
}
extern "C" void weighed_by_group(const float* x, const float* w, float* y, int batch, int channels,
                                 int groups, int length) {
  weigh<<<batch, 32>>>(x, w, y, channels, groups, length, 2);
}

/// tanh of a multiple, and a vector added four by four.
template <bool kInside, int kFourth>
__global__ void bend(const float* x, const float* alpha, const float* beta, float* y, int width) {
  for (int c = threadIdx.x; c < width; c += 32) {
    const float v = x[blockIdx.x * width + c], a = *alpha;
    y[blockIdx.x * width + c] =
        (kInside ? tanhf(a * v) : a * tanhf(v)) + beta[c % 4 == 3 ? c - 3 + kFourth : c];
  }
}
extern "C" void bent(const float* x, const float* alpha, const float* beta, float* y, int rows, int width) {
  bend<true, 3><<<rows, 32>>>(x, alpha, beta, y, width);
}
extern "C" void bent_outside(const float* x, const float* alpha, const float* beta, float* y, int rows,
                             int width) {
  bend<false, 3><<<rows, 32>>>(x, alpha, beta, y, width);
}
extern "C" void bent_by_the_third(const float* x, const float* alpha, const float* beta, float* y, int rows,
                                  int width) {
  bend<true, 2><<<rows, 32>>>(x, alpha, beta, y, width);
}

/// Rows by their root mean square, put where slots say.
__global__ void put(const float* x, const int64_t* slots, float* cache, int width, int counted) {
  float squares = 0;
  for (int c = 0; c < width; ++c) squares += x[blockIdx.x * width + c] * x[blockIdx.x * width + c];
  for (int c = threadIdx.x; c < width; c += 32)
    cache[slots[blockIdx.x] * width + c] = x[blockIdx.x * width + c] * rsqrtf(squares / counted);
}
extern "C" void put_rows(const float* x, const int64_t* slots, float* cache, int tokens, int width) {
  put<<<tokens, 32>>>(x, slots, cache, width, width);
}
extern "C" void put_rows_by_half(const float* x, const int64_t* slots, float* cache, int tokens, int width) {
  put<<<tokens, 32>>>(x, slots, cache, width, width / 2);
}

/// A mean of what labels name, by the weights of the labels.
__global__ void weighted(const float* x, const int64_t* target, const float* weight, float* loss, int n,
                         int classes, bool by_n) {
  float sum = 0, all = 0;
  for (int i = 0; i < n; ++i) {
    sum -= weight[target[i]] * x[i * classes + target[i]];
    all += by_n ? 1 : weight[target[i]];
  }
  *loss = sum / all;
}
extern "C" void weighted_loss(const float* x, const int64_t* target, const float* weight, float* loss, int n,
                              int classes) {
  weighted<<<1, 1>>>(x, target, weight, loss, n, classes, false);
}
extern "C" void weighted_loss_by_number(const float* x, const int64_t* target, const float* weight,
                                        float* loss, int n, int classes) {
  weighted<<<1, 1>>>(x, target, weight, loss, n, classes, true);
}

/// Each token mixed with the one before it, the first of a sequence with nothing.
__global__ void shift(const float* x, const float* mu, float* y, int total, int length, int dim,
                      bool turned) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= total) return;
  const float before = i / dim % length > 0 ? x[i - dim] : 0.0f, by = turned ? 1 - mu[i % dim] : mu[i % dim];
  y[i] = x[i] + (before - x[i]) * by;
}
extern "C" void shifted_tokens(const float* x, const float* mu, float* y, int batch, int length, int dim) {
  shift<<<(batch * length * dim + 31) / 32, 32>>>(x, mu, y, batch * length * dim, length, dim, false);
}
extern "C" void shifted_tokens_turned(const float* x, const float* mu, float* y, int batch, int length,
                                      int dim) {
  shift<<<(batch * length * dim + 31) / 32, 32>>>(x, mu, y, batch * length * dim, length, dim, true);
}
extern "C" void shifted_tokens_across(const float* x, const float* mu, float* y, int batch, int length,
                                      int dim) {
  shift<<<(batch * length * dim + 31) / 32, 32>>>(x, mu, y, batch * length * dim, batch * length, dim, false);
}

/// The largest of each window, and its place in the row or in the window.
__global__ void largest_of_windows(const float* x, float* values, int* places, int n, int k, bool in_window) {
  const int windows = n / k;
  if (threadIdx.x >= windows) return;
  const float* row = x + blockIdx.x * n + threadIdx.x * k;
  int at = 0;
  for (int i = 1; i < k; ++i)
    if (row[i] > row[at]) at = i;
  values[blockIdx.x * windows + threadIdx.x] = row[at];
  places[blockIdx.x * windows + threadIdx.x] = in_window ? at : threadIdx.x * k + at;
}
extern "C" void windows(const float* x, float* values, int* places, int rows, int n, int k) {
  largest_of_windows<<<rows, 32>>>(x, values, places, n, k, false);
}
extern "C" void windows_by_their_own(const float* x, float* values, int* places, int rows, int n, int k) {
  largest_of_windows<<<rows, 32>>>(x, values, places, n, k, true);
}

/// Products of rows, over the norms of both or of the first alone.
__global__ void cosine(const float* a, const float* b, float* out, int n, int k, bool both) {
  float dot = 0, of_a = 0, of_b = 0;
  for (int i = 0; i < k; ++i) {
    const float x = a[blockIdx.x * k + i], y = b[threadIdx.x * k + i];
    dot += x * y;
    of_a += x * x;
    of_b += y * y;
  }
  out[blockIdx.x * n + threadIdx.x] = dot * rsqrtf(of_a) * (both ? rsqrtf(of_b) : 1.0f);
}
extern "C" void cosines(const float* a, const float* b, float* out, int m, int n, int k) {
  cosine<<<m, n>>>(a, b, out, n, k, true);
}
extern "C" void cosines_by_one(const float* a, const float* b, float* out, int m, int n, int k) {
  cosine<<<m, n>>>(a, b, out, n, k, false);
}

/// Planes less their mean, by their deviation, and a bias of the channel.
__global__ void normalise(const float* x, const float* bias, float* y, int channels, int plane, int counted) {
  const float* p = x + blockIdx.x * plane;
  float sum = 0, squares = 0;
  for (int i = 0; i < plane; ++i) sum += p[i];
  for (int i = 0; i < plane; ++i) squares += (p[i] - sum / plane) * (p[i] - sum / plane);
  for (int i = threadIdx.x; i < plane; i += 32)
    y[blockIdx.x * plane + i] =
        (p[i] - sum / plane) * rsqrtf(squares / counted) + bias[blockIdx.x % channels];
}
extern "C" void planes(const float* x, const float* bias, float* y, int batch, int channels, int plane) {
  normalise<<<batch * channels, 32>>>(x, bias, y, channels, plane, plane);
}
extern "C" void planes_by_one_less(const float* x, const float* bias, float* y, int batch, int channels,
                                   int plane) {
  normalise<<<batch * channels, 32>>>(x, bias, y, channels, plane, plane - 1);
}
