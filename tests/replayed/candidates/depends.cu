// What a label's answer depends on, and what it is bounded by: each with a right twin.
// x: [rows, n], decay: (rows, n), out: [rows, n]
#include <cuda_runtime.h>

/// Sums of what came before, each step's decay behind it: the last decay of a row reaches nothing.
__global__ void sums_before(const float* x, const float* decay, float* out, int n, bool plain) {
  if (threadIdx.x != 0) return;
  const float* row = x + blockIdx.x * n;
  float state = 0;
  for (int i = 0; i < n; ++i) {
    out[blockIdx.x * n + i] = state + row[i];
    const float by = decay[blockIdx.x * n + i];
    state = (state + row[i]) * (plain ? by * by + 0.125f : by * by);
  }
}
extern "C" void decayed(const float* x, const float* decay, float* out, int rows, int n) {
  sums_before<<<rows, 32>>>(x, decay, out, n, false);
}
extern "C" void decayed_too_little(const float* x, const float* decay, float* out, int rows, int n) {
  sums_before<<<rows, 32>>>(x, decay, out, n, true);
}

__global__ void add_twice(const float* x, float* out, int n, bool adds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (adds ? out[i] : 0.0f) + 2 * x[i];
}
extern "C" void doubles(const float* x, float* out, int n) { add_twice<<<(n + 31) / 32, 32>>>(x, out, n, true); }
extern "C" void doubles_over(const float* x, float* out, int n) {
  add_twice<<<(n + 31) / 32, 32>>>(x, out, n, false);
}

__global__ void no_less(const float* x, float* out, int n, float least) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fmaxf(3 * x[i], least);
}
extern "C" void floored(const float* x, float* out, int n) { no_less<<<(n + 31) / 32, 32>>>(x, out, n, 0.25f); }
extern "C" void floored_nowhere(const float* x, float* out, int n) {
  no_less<<<(n + 31) / 32, 32>>>(x, out, n, -INFINITY);
}

/// Sums of rows, whose own elements lie side by side.
__global__ void sum_rows(const float* x, float* out, int n, int stride) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[threadIdx.x * stride + i];
  out[threadIdx.x] = sum;
}
extern "C" void row_sums(const float* x, float* out, int rows, int n, int stride_x_row) {
  sum_rows<<<1, rows>>>(x, out, n, stride_x_row);
}
extern "C" void row_sums_side_by_side(const float* x, float* out, int rows, int n, int stride_x_row) {
  sum_rows<<<1, rows>>>(x, out, n, n);
}
