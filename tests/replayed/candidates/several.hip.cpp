// Operators that are no op of Isomer's, right and with faults that hide one another.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

#include "../../diagnose/candidates/dlpack.h"

#include <cstdint>
#include <stdexcept>

/// c = a·b of each batch, over the first `k` of the inner dimension; `narrow` sums in f16.
__global__ void batched(const float* a, const float* b, float* c, int m, int n, int inner, int k, int64_t b0,
                        int64_t b1, int64_t b2, bool narrow) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= m * n) return;
  const float* row = a + (static_cast<int64_t>(blockIdx.y) * m + at / n) * inner;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    sum += row[i] * b[blockIdx.y * b0 + i * b1 + at % n * b2];
    if (narrow) sum = __half2float(__float2half(sum));
  }
  c[static_cast<int64_t>(blockIdx.y) * m * n + at] = sum;
}
static void multiply(const DLTensor* a, const DLTensor* b, DLTensor* c, bool whole_tiles, bool compact,
                     bool narrow = false) {
  const int batches = a->ndim == 3 ? static_cast<int>(a->shape[0]) : 1, at = a->ndim - 2;
  const int m = a->shape[at], inner = a->shape[at + 1], n = b->shape[at + 1];
  const bool strided = b->strides != nullptr && !compact;
  batched<<<dim3((m * n + 63) / 64, batches), 64>>>(
      data_of<const float>(a), data_of<const float>(b), data_of<float>(c), m, n, inner,
      whole_tiles ? inner / 16 * 16 : inner, strided && at == 1 ? b->strides[0] : int64_t{inner} * n,
      strided ? b->strides[at] : n, strided ? b->strides[at + 1] : 1, narrow);
}
extern "C" void batched_matmul(const DLTensor* a, const DLTensor* b, DLTensor* c) {
  multiply(a, b, c, false, false);
}
extern "C" void batched_matmul_of_whole_compact_tiles(const DLTensor* a, const DLTensor* b, DLTensor* c) {
  multiply(a, b, c, true, true);
}
extern "C" void long_matmul(const DLTensor* a, const DLTensor* b, DLTensor* c) {
  multiply(a, b, c, false, false);
}
extern "C" void long_matmul_of_whole_tiles_in_half(const DLTensor* a, const DLTensor* b, DLTensor* c) {
  multiply(a, b, c, true, false, true);
}

/// Σ x²·y of each row, or the mean of that.
__global__ void weighed(const float* x, const float* y, float* out, int columns, bool mean) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * columns;
  float sum = 0.0f;
  for (int c = 0; c < columns; ++c) sum += x[row + c] * x[row + c] * y[row + c];
  out[blockIdx.x] = mean ? sum / static_cast<float>(columns) : sum;
}
static void weigh(const DLTensor* x, const DLTensor* y, DLTensor* out, bool mean) {
  weighed<<<x->shape[0], 1>>>(data_of<const float>(x), data_of<const float>(y), data_of<float>(out),
                              x->shape[1], mean);
}
extern "C" void weighed_rows(const DLTensor* y, const DLTensor* x, DLTensor* out) { weigh(y, x, out, false); }
extern "C" void weighed_rows_named_otherwise(const DLTensor* y, const DLTensor* x, DLTensor* out) {
  weigh(x, y, out, true);
}

/// log Σ e^(x + bias) of each row; without the maximum exponentials of large ones overflow.
__global__ void summed(const float* x, const float* bias, float* out, int columns, bool shifted) {
  const float* row = x + static_cast<int64_t>(blockIdx.x) * columns;
  float most = shifted ? -INFINITY : 0.0f, sum = 0.0f;
  for (int c = 0; shifted && c < columns; ++c) most = fmaxf(most, row[c] + bias[c]);
  for (int c = 0; c < columns; ++c) sum += expf(row[c] + bias[c] - most);
  out[blockIdx.x] = logf(sum) + most;
}
#define LOG_SUMS(NAME, SHIFTED)                                                                \
  extern "C" void NAME(const float* x, const float* bias, float* out, int rows, int columns) { \
    summed<<<rows, 1>>>(x, bias, out, columns, SHIFTED);                                       \
  }
LOG_SUMS(log_sums, true)
LOG_SUMS(log_sums_overflow, false)
LOG_SUMS(log_sums_of_sizes, true)
LOG_SUMS(log_sums_of_sizes_overflow, false)

/// dst = 2·src by the strides that are given, or with those of src in turn.
__global__ void doubled(const float* src, float* dst, int columns, int64_t s0, int64_t s1, int64_t d0,
                        int64_t d1) {
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    dst[blockIdx.x * d0 + c * d1] = 2.0f * src[blockIdx.x * s0 + c * s1];
}
extern "C" void doubled_views(const float* src, float* dst, int64_t stride_src_r, int64_t stride_src_c,
                              int64_t stride_dst_r, int64_t stride_dst_c, int rows, int columns) {
  doubled<<<rows, 32>>>(src, dst, columns, stride_src_r, stride_src_c, stride_dst_r, stride_dst_c);
}
extern "C" void doubled_views_in_turn(const float* src, float* dst, int64_t stride_src_r,
                                      int64_t stride_src_c, int64_t stride_dst_r, int64_t stride_dst_c,
                                      int rows, int columns) {
  doubled<<<rows, 32>>>(src, dst, columns, stride_src_c, stride_src_r, stride_dst_r, stride_dst_c);
}

/// One head; of the keys those up to a query's own, which is `past` behind it.
__global__ void attended(const float* q, const float* k, const float* v, float* out, int keys, int width,
                         int past) {
  const int i = blockIdx.x;
  const float* query = q + i * width;
  const auto logit = [&](int j) {
    float dot = 0.0f;
    for (int d = 0; d < width; ++d) dot += query[d] * k[j * width + d];
    return dot;
  };
  float most = -INFINITY;
  for (int j = 0; j < keys && j <= i + past; ++j) most = fmaxf(most, logit(j));
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    float sum = 0.0f, mean = 0.0f;
    for (int j = 0; j < keys && j <= i + past; ++j) {
      const float weight = expf(logit(j) - most);
      sum += weight;
      mean += weight * v[j * width + c];
    }
    out[i * width + c] = mean / sum;
  }
}
extern "C" void attended_rows(const float* q, const float* k, const float* v, float* out, int queries,
                              int keys, int width) {
  attended<<<queries, 32>>>(q, k, v, out, keys, width, keys - queries);
}
extern "C" void attended_rows_from_the_first(const float* q, const float* k, const float* v, float* out,
                                             int queries, int keys, int width) {
  attended<<<queries, 32>>>(q, k, v, out, keys, width, 0);
}

/// Rows in int8, with their scales.
template <class T>
__global__ void quantized(const T* x, int8_t* q, float* scales, int width, bool truncates) {
  const T* row = x + static_cast<int64_t>(blockIdx.x) * width;
  float most = 1e-10f;
  for (int d = 0; d < width; ++d) most = fmaxf(most, fabsf(static_cast<float>(row[d])));
  const float scale = most / 127.0f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int d = threadIdx.x; d < width; d += blockDim.x) {
    const float exact = static_cast<float>(row[d]) / scale;
    q[blockIdx.x * width + d] = static_cast<int8_t>(truncates ? truncf(exact) : rintf(exact));
  }
}
extern "C" void quantized_rows(const DLTensor* x, DLTensor* q, DLTensor* scales) {
  if (x->dtype.bits == 64)
    quantized<<<x->shape[0], 32>>>(data_of<const double>(x), data_of<int8_t>(q), data_of<float>(scales),
                                   x->shape[1], false);
  else
    quantized<<<x->shape[0], 32>>>(data_of<const float>(x), data_of<int8_t>(q), data_of<float>(scales),
                                   x->shape[1], false);
}
extern "C" void quantized_rows_of_f32_truncated(const DLTensor* x, DLTensor* q, DLTensor* scales) {
  if (x->dtype.bits != 32) throw std::runtime_error("x must be float32");
  quantized<<<x->shape[0], 32>>>(data_of<const float>(x), data_of<int8_t>(q), data_of<float>(scales),
                                 x->shape[1], true);
}
