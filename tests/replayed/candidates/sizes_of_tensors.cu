// Functions of C whose numbers follow from tensors in ways of their own.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void copied(const std::uint8_t* from, std::uint8_t* to, long bytes) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < bytes) to[i] = from[i];
}
extern "C" void copy_rows(const void* table, void* out, int rows, int cols, std::size_t elem_size) {
  const long bytes = static_cast<long>(rows) * cols * elem_size;
  copied<<<(bytes + 63) / 64, 64>>>(static_cast<const std::uint8_t*>(table), static_cast<std::uint8_t*>(out),
                                    bytes);
}
extern "C" void copy_but_a_row(const void* table, void* out, int rows, int cols, std::size_t elem_size) {
  copy_rows(table, out, rows - 1, cols, elem_size);
}

__global__ void summed(const float* x, const int* offsets, float* out, int first) {
  const int b = blockIdx.x;
  float sum = 0;
  for (int i = offsets[b] + first; i < offsets[b + 1]; ++i) sum += x[i];
  out[b] = sum;
}
extern "C" void segment_sum(const float* x, const int* offsets, float* out, int b) {
  summed<<<b, 1>>>(x, offsets, out, 0);
}
extern "C" void segment_sum_but_first(const float* x, const int* offsets, float* out, int b) {
  summed<<<b, 1>>>(x, offsets, out, 1);
}

__global__ void negated(const float* t, float* out, int stride_t, int stride_h, int stride_d) {
  const int at = blockIdx.x * stride_t + blockIdx.y * stride_h + threadIdx.x * stride_d;
  out[at] = -t[at];
}
extern "C" void negate(const float* t, float* out, int T, int h, int d, int stride_t, int stride_h,
                       int stride_d) {
  negated<<<dim3(T, h), d>>>(t, out, stride_t, stride_h, stride_d);
}

/// Three colours.
__global__ void grey(const float* image, float* out, int height, int width, float blue) {
  const int plane = height * width, i = blockIdx.x * width + threadIdx.x;
  const float* p = image + blockIdx.y * 3 * plane + i;
  out[blockIdx.y * plane + i] = 0.3f * p[0] + 0.6f * p[plane] + blue * p[2 * plane];
}
extern "C" void to_grey(const float* image, float* out, int batch, int height, int width) {
  grey<<<dim3(height, batch), width>>>(image, out, height, width, 0.1f);
}

__global__ void polynomial(const float* x, const float* coefficients, int terms, float* out, int n) {
  const int i = threadIdx.x;
  float y = 0;
  for (int k = terms - 1; k >= 0; --k) y = y * x[i] + coefficients[k];
  if (i < n) out[i] = y;
}
extern "C" void polynomial_of(const float* x, const float* coefficients, int terms, float* out, int n) {
  polynomial<<<1, n>>>(x, coefficients, terms, out, n);
}

__global__ void floors(const float* x, std::int16_t* out, int n, int more) {
  const int i = threadIdx.x;
  if (i < n) out[i] = static_cast<std::int16_t>(floorf(x[i])) + more;
}
extern "C" void floor_to_short(const float* x, std::int16_t* out, int n) { floors<<<1, n>>>(x, out, n, 0); }
extern "C" void floor_and_one(const float* x, std::int16_t* out, int n) { floors<<<1, n>>>(x, out, n, 1); }
