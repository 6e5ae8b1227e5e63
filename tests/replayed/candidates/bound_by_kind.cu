// Functions over raw memory whose numbers are dtypes, kinds, sizes and sides of the label's arguments.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum ElementType { kF32 = 0, kF16 = 1 };

template <typename From, typename To>
__global__ void widen(const From* x, To* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = static_cast<To>(2.0f * static_cast<float>(x[i]));
}

template <typename From>
static void widen_to(const void* x, void* y, int n, int out_type) {
  const auto* from = static_cast<const From*>(x);
  if (out_type == kF16)
    widen<From, __half><<<(n + 63) / 64, 64>>>(from, static_cast<__half*>(y), n);
  else
    widen<From, float><<<(n + 63) / 64, 64>>>(from, static_cast<float*>(y), n);
}

extern "C" void widen_by_types(const void* x, void* y, int n, int in_type, int out_type) {
  if (in_type == kF16)
    widen_to<__half>(x, y, n, out_type);
  else
    widen_to<float>(x, y, n, out_type);
}

// The result has the type of what is read.
extern "C" void widen_by_one_type(const void* x, void* y, int n, int in_type, int out_type) {
  (void)out_type;
  if (in_type == kF16)
    widen_to<__half>(x, y, n, in_type);
  else
    widen_to<float>(x, y, n, in_type);
}

enum Reduce { REDUCE_TOTAL = 1, REDUCE_LARGEST = 2, REDUCE_FIRST = 3 };

__global__ void reduce_rows(const float* x, float* out, int n, int how) {
  const float* row = x + blockIdx.x * n;
  float sum = 0, most = row[0];
  for (int i = 0; i < n; ++i) {
    sum += row[i];
    most = fmaxf(most, row[i]);
  }
  out[blockIdx.x] = how == REDUCE_TOTAL ? sum : how == REDUCE_LARGEST ? most : row[0];
}

extern "C" void reduce_classes(const float* x, float* out, int BT, int classes, int reduction) {
  reduce_rows<<<BT, 1>>>(x, out, classes, reduction);
}

extern "C" void reduce_few_classes(const float* x, float* out, int BT, int classes, int reduction) {
  reduce_rows<<<BT, 1>>>(x, out, classes - 1, reduction);
}

// Sums up to each element, along the last dimension of a [B, N, K] tensor.
__global__ void running_sums(const float* x, float* y, long xb, long xn, long yb, long yn, int K) {
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += x[blockIdx.x * xb + blockIdx.y * xn + k];
    y[blockIdx.x * yb + blockIdx.y * yn + k] = sum;
  }
}

extern "C" void sum_up(const float* x, float* y, int B, int N, int K, long stride_xm, long stride_xn, long stride_ym,
                       long stride_yn) {
  running_sums<<<dim3(B, N), 1>>>(x, y, stride_xm, stride_xn, stride_ym, stride_yn, K);
}

extern "C" void sum_most_up(const float* x, float* y, int B, int N, int K, long stride_xm, long stride_xn,
                            long stride_ym, long stride_yn) {
  running_sums<<<dim3(B, N), 1>>>(x, y, stride_xm, stride_xn, stride_ym, stride_yn, K - 1);
}

__global__ void center(const float* x, float* output, float* sums, int classes) {
  const float* row = x + blockIdx.x * classes;
  float sum = 0;
  for (int i = 0; i < classes; ++i) sum += row[i];
  for (int i = 0; i < classes; ++i) output[blockIdx.x * classes + i] = row[i] - sum / classes;
  atomicAdd(&sums[0], sum);
  atomicAdd(&sums[1], 1.0f);
}

__global__ void divide(const float* sums, float* loss) { *loss = sums[0] / sums[1]; }

extern "C" void center_rows(const float* x, float* loss, float* output, float* sums, int rows, int classes) {
  cudaMemset(sums, 0, 2 * sizeof(float));
  center<<<rows, 1>>>(x, output, sums, classes);
  divide<<<1, 1>>>(sums, loss);
}

// One of the two sums is what it was.
extern "C" void center_rows_uncleared(const float* x, float* loss, float* output, float* sums, int rows, int classes) {
  cudaMemset(sums, 0, sizeof(float));
  center<<<rows, 1>>>(x, output, sums, classes);
  divide<<<1, 1>>>(sums, loss);
}

// other_kind: 0 none, 1 number (other_scalar), 2 tensor
__global__ void every_other(const float* x, const float* other, float other_scalar, int other_kind, float* y, int W,
                            int outW, int stepH, int stepW) {
  const int row = blockIdx.x, column = threadIdx.x;
  float value = x[row * stepH * W + column * stepW];
  if (other_kind == 1) value += other_scalar;
  if (other_kind == 2) value += other[row * outW + column];
  y[row * outW + column] = value;
}

extern "C" void add_other(const float* x, const float* other, float other_scalar, int other_kind, float* y, int h,
                          int w, int stepH, int stepW) {
  every_other<<<h / stepH, w / stepW>>>(x, other, other_scalar, other_kind, y, w, w / stepW, stepH, stepW);
}

// The number is added where it is none as well, and not the tensor.
extern "C" void add_number(const float* x, const float* other, float other_scalar, int other_kind, float* y, int h,
                           int w, int stepH, int stepW) {
  every_other<<<h / stepH, w / stepW>>>(x, other, other_scalar, other_kind > 0, y, w, w / stepW, stepH, stepW);
}
