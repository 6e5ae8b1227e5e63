// Sums of segments of rows, whose first rows the label sums up itself: ports take them, or room for them.
#include <cuda_runtime.h>

__global__ void sums(const float* x, const int* starts, float* out, int d, int late) {
  float sum = 0.f;
  for (int i = starts[blockIdx.x] + late; i < starts[blockIdx.x + 1]; ++i) sum += x[i * d + threadIdx.x];
  out[blockIdx.x * d + threadIdx.x] = sum;
}

/// `kept`: a segment of which the first row is not written.
__global__ void fill(const long* lengths, int* starts, int s, int kept) {
  int sum = 0;
  for (int i = 0; i <= s; ++i) {
    if (i != kept) starts[i] = sum;
    if (i < s) sum += static_cast<int>(lengths[i]);
  }
}

extern "C" void given(const float* x, const int* starts, float* out, int S, int D) {
  sums<<<S, D>>>(x, starts, out, D, 0);
}
extern "C" void given_late(const float* x, const int* starts, float* out, int S, int D) {
  sums<<<S, D>>>(x, starts, out, D, 1);
}

// Pointers that might be written.
extern "C" void given_loosely(float* x, long* lengths, int* starts, float* out, int S, int D) {
  sums<<<S, D>>>(x, starts, out, D, 0);
}
extern "C" void fills(const float* x, const long* lengths, int* starts, float* out, int S, int D) {
  fill<<<1, 1>>>(lengths, starts, S, -1);
  sums<<<S, D>>>(x, starts, out, D, 0);
}
extern "C" void fills_in_part(const float* x, const long* lengths, int* starts, float* out, int S, int D) {
  fill<<<1, 1>>>(lengths, starts, S, 1);
  sums<<<S, D>>>(x, starts, out, D, 0);
}

// Of a name that the label does not have.
extern "C" void first_rows(const float* x, const long* lengths, int* first, float* out, int S, int D) {
  fill<<<1, 1>>>(lengths, first, S, -1);
  sums<<<S, D>>>(x, first, out, D, 0);
}
extern "C" void first_rows_late(const float* x, const long* lengths, int* first, float* out, int S, int D) {
  fill<<<1, 1>>>(lengths, first, S, -1);
  sums<<<S, D>>>(x, first, out, D, 1);
}
extern "C" void unknown_rows(const float* x, const long* lengths, int* first, float* out, int S, int D) {
  sums<<<S, D>>>(x, first, out, D, 0);
}
