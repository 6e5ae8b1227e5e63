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

// Height and width by the tensor's name; the first number is used nowhere.
__global__ void shift_kernel(const float* fm, float* out, int h, int w, int dh) {
  for (int i = threadIdx.x; i < h * w; i += blockDim.x) {
    const int y = i / w + dh;
    out[(size_t)blockIdx.x * h * w + i] = y < h ? fm[(size_t)blockIdx.x * h * w + y * w + i % w] : 0.f;
  }
}
extern "C" void shift_rows(const float* fm, float* out, int images, int channels, int fm_height, int fm_width) {
  shift_kernel<<<images * channels, 64>>>(fm, out, fm_height, fm_width, 1);
}

// [n, c, hw]: what lies behind a channel is one number.
__global__ void scale_kernel(const float* x, const float* scale, float* y, int channels, int HxW) {
  const int c = blockIdx.x % channels;
  for (int i = threadIdx.x; i < HxW; i += blockDim.x)
    y[(size_t)blockIdx.x * HxW + i] = x[(size_t)blockIdx.x * HxW + i] * scale[c];
}
extern "C" void planes(const float* x, const float* scale, float* y, int N, int C, int HxW) {
  scale_kernel<<<N * C, 64>>>(x, scale, y, C, HxW);
}

// Strides by the letters of their dimensions.
__global__ void pick_kernel(const float* x, float* y, int s, int d, long long sb, long long ss, long long sd) {
  const int row = blockIdx.x;
  for (int i = threadIdx.x; i < d; i += blockDim.x)
    y[(size_t)row * d + i] = 2.f * x[row / s * sb + row % s * ss + i * sd];
}
extern "C" void twice(const float* x, const float* bias, float* y, int b, int s, int d, long long stride_b,
                      long long stride_s, long long stride_d) {
  pick_kernel<<<b * s, 32>>>(x, y, s, d, stride_b, stride_s, stride_d);
}

// `reverse` is the caller's where it is passed, and else what the label has for it.
__global__ void order_kernel(const float* x, float* y, int n, bool reverse) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[reverse ? n - 1 - i : i];
}
extern "C" void in_order(const float* x, float* y, bool reverse, int n) {
  order_kernel<<<1, 32>>>(x, y, n, reverse);
}

// The ids that are left as they are.
__global__ void keep_kernel(const float* x, const long long* ids, float* y, int cols, int num_ids) {
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    bool kept = false;
    for (int k = 0; k < num_ids; ++k) kept = kept || ids[k] == i;
    const float v = x[(size_t)blockIdx.x * cols + i];
    y[(size_t)blockIdx.x * cols + i] = kept ? v : -v;
  }
}
extern "C" void negate(const float* x, const long long* ids, float* y, int rows, int cols, int num_ids) {
  keep_kernel<<<rows, 32>>>(x, ids, y, cols, num_ids);
}
extern "C" void negate_all(const float* x, const long long* ids, float* y, int rows, int cols, int left) {
  keep_kernel<<<rows, 32>>>(x, ids, y, cols, left);
}
