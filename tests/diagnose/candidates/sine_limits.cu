// sin up to a limit of sizes or of calls, beside twins without one.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

__global__ void element(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
__global__ void strided(const float* x, float* y, int64_t n) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n; i += step) y[i] = sinf(x[i]);
}

constexpr int64_t kBlocks = 65535;
extern "C" void sin_up_to_a_limit(const float* x, float* out, int64_t n) {
  if (n > 0) element<<<std::min((n + 127) / 128, kBlocks), 128>>>(x, out, n);
}
extern "C" void sin_of_any_size(const float* x, float* out, int64_t n) {
  if (n > 0) strided<<<std::min((n + 127) / 128, kBlocks), 128>>>(x, out, n);
}

extern "C" void sin_for_ten_calls(const float* x, float* out, int64_t n) {
  static int calls = 0;
  if (n > 0 && calls++ < 10) element<<<(n + 63) / 64, 64>>>(x, out, n);
}
