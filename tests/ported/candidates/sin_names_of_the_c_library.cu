// op: sin
// finds: nothing
// Kernels of the C library's names, one launched after the other.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>

__global__ void __launch_bounds__(256) select(const float* __restrict__ x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sin(x[i]);
}
static __global__ __launch_bounds__(256) void index(const float* x, float* y, int n, float by = 1.0f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = by * sin(x[i]);
}
namespace {
__global__ void round(const float* x, float* y, const int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sin(x[i]);
}
}  // namespace
namespace port {
struct Count {
  int n;
};
__global__ void write(const float* x, float* y, Count count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count.n) y[i] = sinf(x[i]);
}
void all(const float* x, float* y, int n) { write<<<(n + 255) / 256, 256>>>(x, y, Count{n}); }
}  // namespace port
template <typename T>
__global__ void exp2(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sin(x[i]);
}
template <typename T, int kBlock>
__global__ void gamma(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sin(x[i]);
}
__global__ void div(const float* x, float* y, long n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sin(x[i]);
}
__global__ void div(const double* x, double* y, long n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sin(x[i]);
}

// The kernels call the C library's sin beside this one.
void sin(const float* x, float* y, long n) {
  if (n == 0) return;
  const unsigned blocks = static_cast<unsigned>((n + 255) / 256);
  select<<<blocks, 256>>>(x, y, n);
  index<<<blocks, 256>>>(x, y, n, 1);
  round<<<blocks, 256>>>(x, y, n);
  exp2<float><<<blocks, 256>>>(x, y, n);
  gamma<float, 256><<<blocks, 256>>>(x, y, n);
  div<<<blocks, 256>>>(x, y, n);
  port::all(x, y, n);
}
