// Elements doubled and rows summed, right for the small sizes that are recorded, and not all of them for
// larger ones.
#include <cuda_runtime.h>

#include "../../diagnose/candidates/dlpack.h"

#include <algorithm>
#include <stdexcept>

static const float* in(const DLTensor* of) { return static_cast<const float*>(of->data); }
static float* out(DLTensor* of) { return static_cast<float*>(of->data); }

__global__ void doubled(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
static int elements(const DLTensor* x) { return x->shape[0] * x->shape[1]; }

extern "C" void double_all(const DLTensor* x, DLTensor* y) {
  const int n = elements(x);
  doubled<<<(n + 31) / 32, 32>>>(in(x), out(y), n);
}
extern "C" void double_by_the_remainder(const DLTensor* x, DLTensor* y) {
  const int n = elements(x);
  doubled<<<(n + 31) % 32, 32>>>(in(x), out(y), n);
}
extern "C" void double_in_eight_blocks(const DLTensor* x, DLTensor* y) {
  doubled<<<8, 256>>>(in(x), out(y), elements(x));
}
extern "C" void double_a_thousand(const DLTensor* x, DLTensor* y) {
  const int n = std::min(elements(x), 1024);
  doubled<<<(n + 31) / 32, 32>>>(in(x), out(y), n);
}
/// One of two numbers that are the same in each call of a test of squares.
extern "C" void double_square(const float* x, float* y, int a, int b) {
  doubled<<<(a * b + 31) / 32, 32>>>(x, y, a * b);
}

/// A block a row. `loops`: beyond the first columns as well.
__global__ void rows_doubled(const float* x, float* y, int width, bool loops) {
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    y[blockIdx.x * width + c] = 2 * x[blockIdx.x * width + c];
    if (!loops) break;
  }
}
extern "C" void double_rows(const DLTensor* x, DLTensor* y) {
  rows_doubled<<<x->shape[0], 32>>>(in(x), out(y), x->shape[1], true);
}
extern "C" void double_first_columns(const DLTensor* x, DLTensor* y) {
  rows_doubled<<<x->shape[0], 32>>>(in(x), out(y), x->shape[1], false);
}
extern "C" void double_by_a_thread_each(const DLTensor* x, DLTensor* y) {
  rows_doubled<<<x->shape[0], x->shape[1]>>>(in(x), out(y), x->shape[1], false);
}
extern "C" void double_up_to_64(const DLTensor* x, DLTensor* y) {
  if (x->shape[1] > 64) throw std::runtime_error("rows have no more than 64 columns");
  rows_doubled<<<x->shape[0], 32>>>(in(x), out(y), x->shape[1], true);
}

/// By way of shared memory for so many columns, or of as many registers.
__global__ void through_shared(const float* x, float* y, int width) {
  __shared__ float row[64];
  for (int c = threadIdx.x; c < width; c += 32) row[c] = x[blockIdx.x * width + c];
  __syncthreads();
  for (int c = threadIdx.x; c < width; c += 32) y[blockIdx.x * width + c] = 2 * row[c];
}
extern "C" void double_in_shared(const DLTensor* x, DLTensor* y) {
  through_shared<<<x->shape[0], 32>>>(in(x), out(y), x->shape[1]);
}
__global__ void through_registers(const float* x, float* y, int width) {
  float own[2];
  for (int c = threadIdx.x; c < width; c += 32) own[c / 32] = x[blockIdx.x * width + c];
  for (int c = threadIdx.x; c < width; c += 32) y[blockIdx.x * width + c] = 2 * own[c / 32];
}
extern "C" void double_in_registers(const DLTensor* x, DLTensor* y) {
  through_registers<<<x->shape[0], 32>>>(in(x), out(y), x->shape[1]);
}

/// A row times weights that lie in shared memory. `own`: which of them is taken, the thread's or the
/// element's.
__global__ void weighted(const float* x, const float* w, float* y, int width, bool own) {
  extern __shared__ float weights[];
  const int tx = threadIdx.x;
  for (int c = tx; c < width; c += blockDim.x) weights[c] = w[own ? tx : c];
  __syncthreads();
  for (int c = tx; c < width; c += blockDim.x)
    y[blockIdx.x * width + c] = x[blockIdx.x * width + c] * weights[c];
}
static void weigh(const DLTensor* x, const DLTensor* w, DLTensor* y, bool own) {
  weighted<<<x->shape[0], 32, x->shape[1] * sizeof(float)>>>(in(x), in(w), out(y), x->shape[1], own);
}
extern "C" void weigh_rows(const DLTensor* x, const DLTensor* w, DLTensor* y) { weigh(x, w, y, false); }
extern "C" void weigh_rows_by_threads(const DLTensor* x, const DLTensor* w, DLTensor* y) {
  weigh(x, w, y, true);
}

/// Twice each element, and its column but for those from `first` on, up to `count` of them, which are their
/// neighbours'.
__global__ void doubled_with_columns(const float* x, float* y, int* columns, int width, int first,
                                     int count) {
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    y[blockIdx.x * width + c] = 2 * x[blockIdx.x * width + c];
    columns[blockIdx.x * width + c] = c >= first && c < first + count ? c - 1 : c;
  }
}
extern "C" void double_with_a_few_others(const float* x, float* y, int* columns, int rows, int width) {
  doubled_with_columns<<<rows, 32>>>(x, y, columns, width, 64, 5);
}
extern "C" void double_with_many_others(const float* x, float* y, int* columns, int rows, int width) {
  doubled_with_columns<<<rows, 32>>>(x, y, columns, width, 64, 4096);
}
