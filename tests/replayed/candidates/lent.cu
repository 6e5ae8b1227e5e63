// Memory that callers lend, calls of several ranks, and answers with a number that stands for none.
#include <cuda_runtime.h>

#include <cfloat>

__global__ void add_rows(const float* x, float* sums, int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) atomicAdd(sums + i / cols, x[i]);
}

__global__ void copy_sums(const float* sums, float* y, int rows) {
  const int i = threadIdx.x;
  if (i < rows) y[i] = sums[i];
}

static void sum_rows_in(const float* x, float* y, float* workspace, int rows, int cols) {
  add_rows<<<(rows * cols + 63) / 64, 64>>>(x, workspace, rows, cols);
  copy_sums<<<1, 64>>>(workspace, y, rows);
}

extern "C" void sum_rows(const float* x, float* y, float* workspace, int rows, int cols) {
  cudaMemset(workspace, 0, rows * sizeof(float));
  sum_rows_in(x, y, workspace, rows, cols);
}

extern "C" void sum_rows_half_cleared(const float* x, float* y, float* workspace, int rows, int cols) {
  cudaMemset(workspace, 0, rows / 2 * sizeof(float));
  sum_rows_in(x, y, workspace, rows, cols);
}

__global__ void scale_of_rows(const float* x, const float* g, float* y, int rows, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = x[i] * g[i % cols];
}

extern "C" void scale_last(const float* x, const float* g, float* y, int rows, int cols) {
  scale_of_rows<<<(rows * cols + 63) / 64, 64>>>(x, g, y, rows, cols);
}

__global__ void hide(const float* x, float* y, int rows, int cols, int shown, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = i % cols < shown ? x[i] * factor : -FLT_MAX;
}

extern "C" void hide_behind(const float* x, float* y, int rows, int cols, int shown) {
  hide<<<(rows * cols + 63) / 64, 64>>>(x, y, rows, cols, shown, 2.f);
}

extern "C" void hide_behind_by_less(const float* x, float* y, int rows, int cols, int shown) {
  hide<<<(rows * cols + 63) / 64, 64>>>(x, y, rows, cols, shown, 1.9f);
}

// Who has no room for them refuses.
extern "C" int sum_rows_or_refuse(const float* x, float* y, float* workspace, int rows, int cols) {
  if (workspace == nullptr) return 1;
  sum_rows(x, y, workspace, rows, cols);
  return 0;
}

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

__global__ void add_halves(const float* halves, float* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = row * cols; i < (row + 1) * cols; ++i) sum += halves[i];
  y[row] = sum / 2;
}

// Each of two streams writes its own half of the workspace; `joined`: whether the caller's waits for the
// other.
static void sum_rows_on_two(const float* x, float* y, float* workspace, int rows, int cols,
                            cudaStream_t stream, bool joined) {
  const int half = rows * cols / 2, rest = rows * cols - half;
  cudaStream_t side;
  cudaEvent_t fork, join;
  cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  cudaEventRecord(fork, stream);
  cudaStreamWaitEvent(side, fork, 0);
  twice<<<(half + 63) / 64, 64, 0, stream>>>(x, workspace, half);
  twice<<<(rest + 63) / 64, 64, 0, side>>>(x + half, workspace + half, rest);
  cudaEventRecord(join, side);
  if (joined) cudaStreamWaitEvent(stream, join, 0);
  add_halves<<<1, 32, 0, stream>>>(workspace, y, rows, cols);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  cudaStreamDestroy(side);
}

extern "C" void sum_rows_joined(const float* x, float* y, float* workspace, int rows, int cols,
                                cudaStream_t stream) {
  sum_rows_on_two(x, y, workspace, rows, cols, stream, true);
}

// A limit below 0 limits nothing.
__global__ void sum_up_to(const float* x, float* y, int rows, int cols, float most) {
  const int row = threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = row * cols; i < (row + 1) * cols; ++i) sum += x[i];
  y[row] = most >= 0 && sum > most ? most : sum;
}

extern "C" void sum_rows_limited(const float* x, float* y, int rows, int cols, float limit) {
  sum_up_to<<<1, 64>>>(x, y, rows, cols, limit);
}

// N rows of K columns.
extern "C" void sum_rows_of_columns(const float* x, float* y, int N, int K) {
  sum_up_to<<<1, 64>>>(x, y, N, K, -1.f);
}
