// Functions over raw memory that take their sizes in arrays of the host, one function for each type of elements, and
// sizes of images by the letters that are usual for them.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void sum_axis(const float* x, float* y, long long outer, int length, long long inner) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= outer * inner) return;
  float all = 0.0f;
  for (int k = 0; k < length; ++k) all += x[(i / inner * length + k) * inner + i % inner];
  y[i] = all;
}

__global__ void sum_rows_alone(const float* x, float* y, long long outer, int length, long long inner) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= outer * inner) return;
  float all = 0.0f;
  for (int k = 0; k < length; ++k) all += x[i * length + k];
  y[i] = all;
}

struct Split {
  long long outer = 1, inner = 1;
};

static Split split_at(const int64_t* sizes, int ndim, int dim) {
  Split split;
  for (int d = 0; d < dim; ++d) split.outer *= sizes[d];
  for (int d = dim + 1; d < ndim; ++d) split.inner *= sizes[d];
  return split;
}

extern "C" void sum_of_axis(const float* input, float* output, const int64_t* sizes, int ndim, int dim) {
  if (dim < 0) dim += ndim;
  const Split split = split_at(sizes, ndim, dim);
  if (split.outer * split.inner == 0) return;
  sum_axis<<<(split.outer * split.inner + 63) / 64, 64>>>(input, output, split.outer, (int)sizes[dim], split.inner);
}

extern "C" void sum_of_axis_in_rows(const float* input, float* output, const int64_t* sizes, int ndim, int dim) {
  if (dim < 0) dim += ndim;
  const Split split = split_at(sizes, ndim, dim);
  if (split.outer * split.inner == 0) return;
  sum_rows_alone<<<(split.outer * split.inner + 63) / 64, 64>>>(input, output, split.outer, (int)sizes[dim],
                                                                split.inner);
}

template <typename T>
__global__ void twice_each(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[i];
}

extern "C" {
void twice_f32(const void* x, void* y, int n) { twice_each<<<(n + 63) / 64, 64>>>((const float*)x, (float*)y, n); }
void twice_i64(const void* x, void* y, int n) { twice_each<<<(n + 63) / 64, 64>>>((const int64_t*)x, (int64_t*)y, n); }
void twice_i32(const void* x, void* y, int n) { twice_each<<<(n + 63) / 64, 64>>>((const int*)x, (int*)y, n); }
}

enum Fill { FILL_ZEROS, FILL_EDGE };

__global__ void pool_pairs(const float* x, float* y, int planes, int H, int W, int OH, int OW, int mode, int fill) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= planes * OH * OW) return;
  const int ow = i % OW, oh = i / OW % OH;
  const float* p = x + i / (OW * OH) * H * W;
  float all = mode == 1 ? -1e30f : 0.0f;
  for (int h = 2 * oh; h < 2 * oh + 2; ++h)
    for (int w = 2 * ow; w < 2 * ow + 2; ++w) {
      const bool inside = h < H && w < W;
      const float each = inside ? p[h * W + w] : fill == FILL_EDGE ? p[min(h, H - 1) * W + min(w, W - 1)] : 0.0f;
      all = mode == 1 ? fmaxf(all, each) : all + each;
    }
  y[i] = all;
}

extern "C" void pool_by_two(const float* x, float* y, int N, int C, int H, int W, int OH, int OW, int mode,
                            int fill_mode) {
  if (N * C * OH * OW == 0) return;
  pool_pairs<<<(N * C * OH * OW + 63) / 64, 64>>>(x, y, N * C, H, W, OH, OW, mode, fill_mode);
}

__global__ void add_with_strides(const float* x, const float* other, float* y, int rows, int cols, long long other_row,
                                 long long other_col) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = x[i] + other[i / cols * other_row + i % cols * other_col];
}

extern "C" void add_repeated(const float* x, const float* other, float* y, int rows, int cols, long long other_stride_0,
                             long long other_stride_1) {
  add_with_strides<<<(rows * cols + 63) / 64, 64>>>(x, other, y, rows, cols, other_stride_0, other_stride_1);
}

__global__ void pool_rows(const float* x, float* y, int rows, int length, int out, int window, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * out) return;
  float all = 0.0f;
  for (int k = 0; k < window; ++k) all += x[i / out * length + i % out * stride + k];
  y[i] = all / window;
}

extern "C" void pool_of_rows(const float* x, float* y, int N, int C, int L, int kernel_size, int stride) {
  const int out = (L - kernel_size) / stride + 1;
  pool_rows<<<(N * C * out + 63) / 64, 64>>>(x, y, N * C, L, out, kernel_size, stride);
}

extern "C" void pool_of_rows_by_one(const float* x, float* y, int N, int C, int L, int kernel_size, int stride) {
  const int out = (L - kernel_size) / stride + 1;
  pool_rows<<<(N * C * out + 63) / 64, 64>>>(x, y, N * C, L, out, kernel_size, 1);
}
