// Entries whose numbers are what their names say: sizes round an axis, strides of rows, parts of a row, all elements.
#include <cuda_runtime.h>

// x is seen as [outer, channels, inner].
__global__ void scale_along(const float* x, const float* scale, float* y, int channels, int inner, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < total) y[i] = x[i] * scale[i / inner % channels];
}

extern "C" void along_axis(const float* x, const float* scale, float* y, int outer, int channels, int inner) {
  const int total = outer * channels * inner;
  scale_along<<<(total + 63) / 64, 64>>>(x, scale, y, channels, inner, total);
}

__global__ void sum_rows(const float* x, float* sums, int cols, long long stride) {
  float sum = 0;
  for (int i = 0; i < cols; ++i) sum += x[blockIdx.x * stride + i];
  sums[blockIdx.x] = sum;
}

extern "C" void row_sums(const float* x, int rows, int cols, long long row_stride, float* sums) {
  sum_rows<<<rows, 1>>>(x, sums, cols, row_stride);
}

// Of each of a row's classes the four numbers are moved by the row's own four.
__global__ void move_boxes(const float* deltas, const float* boxes, float* out, int boxes_in_all, int classes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= boxes_in_all * classes * 4) return;
  out[i] = deltas[i] + boxes[i / 4 / classes * 4 + i % 4];
}

extern "C" void boxes_of_classes(const float* deltas, const float* boxes, float* out, int num_boxes, int num_classes) {
  move_boxes<<<(num_boxes * num_classes * 4 + 63) / 64, 64>>>(deltas, boxes, out, num_boxes, num_classes);
}

__global__ void unpack(const unsigned char* packed, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = packed[i / 2] >> i % 2 * 4 & 15;
}

extern "C" void nibbles(const unsigned char* packed, float* out, int n) {
  unpack<<<(n + 63) / 64, 64>>>(packed, out, n);
}

// ids are int32 here.
__global__ void pick(const float* x, const int* ids, float* y, int n) {
  if (threadIdx.x < n) y[threadIdx.x] = x[ids[threadIdx.x]];
}

extern "C" void picked(const float* x, const int* ids, float* y, int n) { pick<<<1, 64>>>(x, ids, y, n); }
