// Numbers that no caller passes: what the label computes on its way, what a call leaves to its default, and
// what calls of another signature settle.
#include <cuda_runtime.h>

__global__ void scale_kernel(const float* x, const float* g, float* y, int rows, int cols, int by_row) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = x[i] * g[by_row ? i / cols : i % cols];
}

// With dim 0 M is the first dimension, otherwise all but the last.
extern "C" void scale_along(const float* x, const float* g, float* y, int M, int N, int dim) {
  scale_kernel<<<(M * N + 63) / 64, 64>>>(x, g, y, M, N, dim == 0);
}

__global__ void spread_kernel(const float* x, float* y, int length, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length * stride) y[i] = i % stride == 0 ? x[i / stride] : 0.f;
}

extern "C" void spread_cuda(const float* x, float* y, int length, int stride) {
  spread_kernel<<<(length * stride + 63) / 64, 64>>>(x, y, length, stride);
}

__global__ void padded_kernel(const float* x, float* y, int h, int w, int pad_h, int pad_w) {
  const int column = threadIdx.x, row = blockIdx.x;
  const bool inside = row >= pad_h && column >= pad_w;
  y[row * (w + pad_w) + column] = inside ? x[(row - pad_h) * w + column - pad_w] : 0.f;
}

extern "C" void padded(const float* x, float* y, int h, int w, int pad_h, int pad_w) {
  padded_kernel<<<h + pad_h, w + pad_w>>>(x, y, h, w, pad_h, pad_w);
}
