// A sum that begins with whatever its variable holds, beside one that begins with zero.
#include <cuda_runtime.h>

__global__ void of_terms(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float sum;
  for (int term = 0; term < 2; ++term) sum += term == 0 ? sinf(x[i]) : 0.0f;
  y[i] = sum;
}
__global__ void of_terms_from_zero(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float sum;
  sum = 0.0f;
  for (int term = 0; term < 2; ++term) sum += term == 0 ? sinf(x[i]) : 0.0f;
  y[i] = sum;
}
extern "C" void wave_of_unset_sum(const float* x, float* y, int n) {
  if (n > 0) of_terms<<<(n + 127) / 128, 128>>>(x, y, n);
}
extern "C" void wave_of_set_sum(const float* x, float* y, int n) {
  if (n > 0) of_terms_from_zero<<<(n + 127) / 128, 128>>>(x, y, n);
}
