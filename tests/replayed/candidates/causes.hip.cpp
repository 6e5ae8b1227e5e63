// Ports whose cause shows in one experiment alone, and ports of labels that leave elements unset.
#include <hip/hip_runtime.h>

#include <cmath>
#include <vector>

/// Twice the first half of each row; the other half is nobody's.
__global__ void halves(const float* x, float* y, int width, int n, int last, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % width < last) y[i] = by * x[i];
}
static void half_of(const float* x, float* y, int rows, int width, bool all, float by) {
  const int n = rows * width;
  if (n > 0) halves<<<(n + 63) / 64, 64>>>(x, y, width, n, all ? width : width / 2, by);
}
extern "C" void half_rows(const float* x, float* y, int rows, int width) { half_of(x, y, rows, width, false, 2); }
extern "C" void half_rows_and_more(const float* x, float* y, int rows, int width) {
  half_of(x, y, rows, width, true, 2);
}
extern "C" void half_rows_thrice(const float* x, float* y, int rows, int width) {
  half_of(x, y, rows, width, true, 3);
}

/// The logarithm of the sum of exponentials of scale times each row, of which the loops may begin too late.
__global__ void log_sum(const float* x, float* z, int width, float inside, float outside, int from, int first) {
  if (threadIdx.x != 0) return;
  const float* row = x + blockIdx.x * width;
  float most = -INFINITY, sum = 0;
  for (int i = from; i < width; ++i) most = fmaxf(most, inside * row[i]);
  for (int i = first; i < width; ++i) sum += expf(inside * row[i] - most);
  z[blockIdx.x] = outside * (logf(sum) + most);
}
extern "C" void log_sums(const float* x, float scale, float* z, int rows, int width) {
  log_sum<<<rows, 32>>>(x, z, width, scale, 1, 0, 0);
}
extern "C" void log_sums_scaled_late(const float* x, float scale, float* z, int rows, int width) {
  log_sum<<<rows, 32>>>(x, z, width, 1, scale, 0, 0);
}
extern "C" void log_sums_from_second(const float* x, float scale, float* z, int rows, int width) {
  log_sum<<<rows, 32>>>(x, z, width, scale, 1, 1, 1);
}
extern "C" void log_sums_without_first(const float* x, float scale, float* z, int rows, int width) {
  log_sum<<<rows, 32>>>(x, z, width, scale, 1, 0, 1);
}

/// tanh(a + b / 2 + bias).
__global__ void bend(const float* a, const float* b, const float* bias, float* out, int n, int width, float by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tanhf(a[i] + by * b[i] + bias[i % width]);
}
extern "C" void bent_sums(const float* a, const float* b, const float* bias, float* out, int rows, int width) {
  const int n = rows * width;
  bend<<<(n + 63) / 64, 64>>>(a, b, bias, out, n, width, 0.5f);
}
extern "C" void bent_sums_of_whole(const float* a, const float* b, const float* bias, float* out, int rows, int width) {
  const int n = rows * width;
  bend<<<(n + 63) / 64, 64>>>(a, b, bias, out, n, width, 1);
}

/// Computed by the host, with a kernel beside that has no part in it.
__global__ void idle(int* nothing) {
  if (nothing != nullptr) *nothing = 0;
}
extern "C" void bent_sums_by_the_host(const float* a, const float* b, const float* bias, float* out, int rows, int width) {
  const int n = rows * width;
  std::vector<float> x(n), y(n), z(width);
  hipMemcpy(x.data(), a, n * sizeof(float), hipMemcpyDeviceToHost);
  hipMemcpy(y.data(), b, n * sizeof(float), hipMemcpyDeviceToHost);
  hipMemcpy(z.data(), bias, width * sizeof(float), hipMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) x[i] = std::tanh(x[i] + 0.5f * y[i] + z[i % width]);
  hipMemcpy(out, x.data(), n * sizeof(float), hipMemcpyHostToDevice);
  idle<<<1, 32>>>(nullptr);
}
