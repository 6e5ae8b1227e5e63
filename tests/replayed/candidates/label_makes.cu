// Strides that a letter before a tensor's names, and memory that the label makes itself in some calls.
#include <cstdint>

/// y[b, m, k] = x[b, m, k] * w[k], each of them by its strides.
__global__ void weigh(const float* x, const float* w, float* y, int batch, int M, int K, long long sx_b,
                      long long sx_m, long long sx_k, long long sw_k, long long sy_b, long long sy_m,
                      long long sy_k) {
  for (int k = threadIdx.x; k < K; k += blockDim.x)
    y[blockIdx.y * sy_b + blockIdx.x * sy_m + k * sy_k] =
        x[blockIdx.y * sx_b + blockIdx.x * sx_m + k * sx_k] * w[k * sw_k];
}

extern "C" void weighed_rows(const float* x, const float* w, float* y, int batch, int M, int K, long long sx_b,
                             long long sx_m, long long sx_k, long long sw_k, long long sy_b, long long sy_m,
                             long long sy_k) {
  if (batch > 0 && M > 0)
    weigh<<<dim3(M, batch), 32>>>(x, w, y, batch, M, K, sx_b, sx_m, sx_k, sw_k, sy_b, sy_m, sy_k);
}

/// The same, with the rows of one batch in those of the first.
extern "C" void weighed_rows_of_one_batch(const float* x, const float* w, float* y, int batch, int M, int K,
                                          long long sx_b, long long sx_m, long long sx_k, long long sw_k,
                                          long long sy_b, long long sy_m, long long sy_k) {
  if (batch > 0 && M > 0)
    weigh<<<dim3(M, batch), 32>>>(x, w, y, batch, M, K, 0, sx_m, sx_k, sw_k, sy_b, sy_m, sy_k);
}

/// y = x + bias, which may be none; with a rate each element is kept or not by a seed of its row.
__global__ void add_or_drop(const float* x, const float* bias, const std::int64_t* seeds, float* y, int rows,
                            int cols, float rate) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  float value = x[i];
  if (bias != nullptr) value += bias[i % cols];
  if (rate > 0) value = (seeds[i / cols] * (i + 1)) % 97 < 97 * rate ? 0 : value / (1 - rate);
  y[i] = value;
}

extern "C" void added_or_dropped(const float* x, const float* bias, const std::int64_t* seeds, float* y, int rows,
                                 int cols, float rate) {
  if (rows * cols > 0) add_or_drop<<<(rows * cols + 63) / 64, 64>>>(x, bias, seeds, y, rows, cols, rate);
}

__global__ void add_always(const float* x, const float* bias, float* y, int rows, int cols, float rate) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = x[i] + bias[i % cols];
}

/// It reads a bias that is not there.
extern "C" void added_always(const float* x, const float* bias, const std::int64_t* seeds, float* y, int rows,
                             int cols, float rate) {
  if (rows * cols > 0) add_always<<<(rows * cols + 63) / 64, 64>>>(x, bias, y, rows, cols, rate);
}

/// The rows once more, with an s before each dimension's letter.
extern "C" void weighed_rows_by_marks(const float* x, const float* w, float* y, int batch, int M, int K,
                                      long long x_sb, long long x_sm, long long x_sk, long long w_sk,
                                      long long y_sb, long long y_sm, long long y_sk) {
  weighed_rows(x, w, y, batch, M, K, x_sb, x_sm, x_sk, w_sk, y_sb, y_sm, y_sk);
}

/// The sum of each row, rounded to halves.
__global__ void sum_rows(const float* x, float* sums, int cols) {
  if (threadIdx.x != 0) return;
  float all = 0;
  for (int k = cols - 1; k >= 0; --k) all += x[blockIdx.x * cols + k];
  // As many steps as a half has at that size.
  int exponent;
  frexpf(all, &exponent);
  const float step = ldexpf(1.0f, exponent - 11);
  sums[blockIdx.x] = rintf(all / step) * step;
}

extern "C" void halved_sums(const float* x, float* sums, int rows, int cols) {
  if (rows > 0) sum_rows<<<rows, 32>>>(x, sums, cols);
}
