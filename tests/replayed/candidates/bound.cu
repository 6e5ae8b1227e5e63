// Numbers that no caller passes, of functions that are right, and of twins that are not.
#include <cuda_runtime.h>
#include <math.h>

template <bool kOwn>
__global__ void scale_each(const float* x, const float* gamma, float* y, int channels, int inner, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, c = i / inner % channels;
  if (i < count) y[i] = x[i] * gamma[kOwn ? c : (c + 1) % channels];
}
extern "C" void scale_channels(const float* x, const float* gamma, float* y, int N, int C, int H, int W) {
  scale_each<true><<<(N * C * H * W + 63) / 64, 64>>>(x, gamma, y, C, H * W, N * C * H * W);
}
extern "C" void scale_next_channels(const float* x, const float* gamma, float* y, int N, int C, int H, int W) {
  scale_each<false><<<(N * C * H * W + 63) / 64, 64>>>(x, gamma, y, C, H * W, N * C * H * W);
}

__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k, int taken) {
  const int row = blockIdx.y, column = threadIdx.x;
  if (column >= n) return;
  float sum = 0;
  for (int i = 0; i < taken; ++i)
    sum += a[(blockIdx.z * m + row) * k + i] * b[(blockIdx.z * k + i) * n + column];
  c[(blockIdx.z * m + row) * n + column] = sum;
}
extern "C" void multiply_batches(const float* A, const float* B, float* C, int BATCH, int M, int N, int K) {
  multiply<<<dim3(1, M, BATCH), 64>>>(A, B, C, M, N, K, K);
}
extern "C" void multiply_whole_tiles(const float* A, const float* B, float* C, int BATCH, int M, int N, int K) {
  multiply<<<dim3(1, M, BATCH), 64>>>(A, B, C, M, N, K, K / 16 * 16);
}

__global__ void gate(const float* x, float* y, int half, int taken) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < taken) y[i] = x[i] * x[i + half];
}
extern "C" void gate_halves(const float* x, float* y, int N) { gate<<<(N / 2 + 63) / 64, 64>>>(x, y, N / 2, N / 2); }
extern "C" void gate_halves_but_last(const float* x, float* y, int N) {
  gate<<<(N / 2 + 63) / 64, 64>>>(x, y, N / 2, N / 2 - 1);
}

/// The largest of all, and the sum of a tile alone.
__global__ void weigh_tiles(const float* x, float* y, int n) {
  float most = -INFINITY, sum = 0;
  for (int i = 0; i < n; ++i) most = fmaxf(most, x[i]);
  for (int i = blockIdx.x * 16; i < n && i < blockIdx.x * 16 + 16; ++i) sum += expf(x[i] - most);
  for (int i = blockIdx.x * 16; i < n && i < blockIdx.x * 16 + 16; ++i) y[i] = expf(x[i] - most) / sum;
}
extern "C" void weigh_by_tiles(const float* x, float* y, int n) { weigh_tiles<<<(n + 15) / 16, 1>>>(x, y, n); }
__global__ void weigh_all(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += expf(x[i]);
  for (int i = 0; i < n; ++i) y[i] = expf(x[i]) / sum;
}
extern "C" void weigh_without_maximum(const float* x, float* y, int n) { weigh_all<<<1, 1>>>(x, y, n); }

/// Every second element is added.
__global__ void add(const float* x, float* y, int n, int step) {
  float sum = 0;
  for (int i = 0; i < n; i += step) sum += x[i];
  *y = sum;
}
extern "C" void add_all(const float* x, float* y, int n) { add<<<1, 1>>>(x, y, n, 1); }
extern "C" void add_every_second(const float* x, float* y, int n) { add<<<1, 1>>>(x, y, n, 2); }

/// Columns times a factor each, or rows.
template <bool kColumns>
__global__ void spread(const float* x, const float* factor, float* y, int rows, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) y[i] = x[i] * factor[kColumns ? i % columns : i / columns];
}
extern "C" void spread_columns(const float* x, const float* factor, float* y, int M, int N) {
  spread<true><<<(M * N + 63) / 64, 64>>>(x, factor, y, M, N);
}
extern "C" void spread_rows(const float* x, const float* factor, float* y, int M, int N) {
  spread<false><<<(M * N + 63) / 64, 64>>>(x, factor, y, M, N);
}

/// Numbers, and what is none of them as 0.
template <bool kInfinite>
__global__ void keep(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = kInfinite && isinf(x[i]) ? 0.0f : isnan(x[i]) ? 0.0f : x[i];
}
extern "C" void keep_numbers(const float* x, float* y, int n) { keep<true><<<(n + 63) / 64, 64>>>(x, y, n); }
extern "C" void keep_numbers_and_infinities(const float* x, float* y, int n) {
  keep<false><<<(n + 63) / 64, 64>>>(x, y, n);
}

/// Where the largest element of each row is, or the least.
template <bool kLargest>
__global__ void find(const float* x, long long* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int best = 0;
  for (int i = 1; i < columns; ++i)
    if (kLargest ? x[row * columns + i] > x[row * columns + best] : x[row * columns + i] < x[row * columns + best])
      best = i;
  y[row] = best;
}
extern "C" void find_largest(const float* x, long long* y, int M, int N) { find<true><<<1, 64>>>(x, y, M, N); }
extern "C" void find_least(const float* x, long long* y, int M, int N) { find<false><<<1, 64>>>(x, y, M, N); }
