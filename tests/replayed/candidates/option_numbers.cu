// Options that a C function takes under names of its own, or as bits of one number.
#include <cuda_runtime.h>

#define STEP_ADDS_ONE 1u
#define STEP_MAXIMIZE 4u

__global__ void step_kernel(float* out, const float* x, int n, unsigned flags, unsigned negates) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  if (flags & negates) v = -v;
  if (flags & STEP_ADDS_ONE) v += 1.0f;
  out[i] = v;
}

extern "C" void step_by_flags(float* out, const float* x, int numel, unsigned flags) {
  step_kernel<<<(numel + 63) / 64, 64>>>(out, x, numel, flags, STEP_MAXIMIZE);
}

// The bit of the other option.
extern "C" void step_by_one_flag(float* out, const float* x, int numel, unsigned flags) {
  step_kernel<<<(numel + 63) / 64, 64>>>(out, x, numel, flags, STEP_ADDS_ONE);
}

__global__ void clip_kernel(float* out, const float* x, int n, float low_bar, float high_bar) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fminf(x[i], low_bar) + 2.0f * fminf(x[i], high_bar);
}

extern "C" void clip_by_bars(float* out, const float* x, int numel, float rho_bar, float pg_bar) {
  clip_kernel<<<(numel + 63) / 64, 64>>>(out, x, numel, rho_bar, pg_bar);
}

extern "C" void clip_by_one_bar(float* out, const float* x, int numel, float rho_bar, float pg_bar) {
  clip_kernel<<<(numel + 63) / 64, 64>>>(out, x, numel, pg_bar, pg_bar);
}

__global__ void bits_kernel(float* out, const float* x, int n, float most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fminf(x[i], most);
}

extern "C" void clip_to_bits(float* out, const float* x, int numel, int nbits) {
  bits_kernel<<<(numel + 63) / 64, 64>>>(out, x, numel, (float)((1 << (nbits - 1)) - 1));
}

extern "C" void clip_to_more_bits(float* out, const float* x, int numel, int nbits) {
  bits_kernel<<<(numel + 63) / 64, 64>>>(out, x, numel, (float)((1 << nbits) - 1));
}

__global__ void count_kernel(const float* x, float* out, int* n_positive, int n, float above) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = 2.0f * x[i];
  if (x[i] > above) atomicAdd(n_positive, 1);
}

extern "C" void double_and_count(const float* x, float* out, int* n_positive, int numel) {
  cudaMemset(n_positive, 0, sizeof(int));
  count_kernel<<<(numel + 63) / 64, 64>>>(x, out, n_positive, numel, 0.0f);
}

extern "C" void double_and_miscount(const float* x, float* out, int* n_positive, int numel) {
  cudaMemset(n_positive, 0, sizeof(int));
  count_kernel<<<(numel + 63) / 64, 64>>>(x, out, n_positive, numel, 2.0f);
}
