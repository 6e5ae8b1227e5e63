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
