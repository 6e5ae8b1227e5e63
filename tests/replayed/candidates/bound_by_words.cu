// Functions over raw memory that call tensors, results and sizes by names of their own.
#include <cuda_runtime.h>

__global__ void halve_rows(float* x, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

extern "C" void halve_in_place(float* x, int numel) { halve_rows<<<(numel + 63) / 64, 64>>>(x, numel, 0.5f); }
extern "C" void third_in_place(float* x, int numel) { halve_rows<<<(numel + 63) / 64, 64>>>(x, numel, 0.33f); }

__global__ void squares(const float* x, float* each, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) each[i] = x[i] * x[i];
}

__global__ void sum(const float* each, float* total, int n, int from) {
  float all = 0.0f;
  for (int i = from; i < n; ++i) all += each[i];
  *total = all;
}

// What lies between comes first.
extern "C" void sum_of_squares(const float* x, float* each, float* total, int numel) {
  squares<<<(numel + 63) / 64, 64>>>(x, each, numel);
  sum<<<1, 1>>>(each, total, numel, 0);
}

extern "C" void sum_of_most_squares(const float* x, float* each, float* total, int numel) {
  squares<<<(numel + 63) / 64, 64>>>(x, each, numel);
  sum<<<1, 1>>>(each, total, numel, 1);
}

__global__ void scale_pairs(const float* x, const float* first_scale, const float* second_scale, float* out, int planes,
                            int size, int half_size) {
  const int plane = blockIdx.x, i = threadIdx.x;
  if (plane < planes && i < size) out[plane * size + i] = x[plane * size + i] * (i < half_size ? *first_scale : *second_scale);
}

extern "C" void scale_halves(float* out, const float* second_scale, const float* first_scale, const float* x, int planes,
                             int height, int width, int half_width) {
  scale_pairs<<<planes * height, width>>>(x, first_scale, second_scale, out, planes * height, width, half_width);
}

extern "C" void scale_halves_alike(float* out, const float* second_scale, const float* first_scale, const float* x,
                                   int planes, int height, int width, int half_width) {
  scale_pairs<<<planes * height, width>>>(x, first_scale, first_scale, out, planes * height, width, half_width);
}

__global__ void scale_all(const float* x, float* out, int n, float hz) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * hz;
}

extern "C" void scale_by_nyquist(const float* x, float* out, int numel, float nyquist_hz) {
  scale_all<<<(numel + 63) / 64, 64>>>(x, out, numel, nyquist_hz);
}

__global__ void copy_halves(float* x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * x[i];
}

// The input is only read, though nothing says so.
extern "C" void halve_out_of_place(float* x, float* out, int numel) {
  copy_halves<<<(numel + 63) / 64, 64>>>(x, out, numel);
}
