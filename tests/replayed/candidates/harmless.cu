// Memory that nothing has written is read: its content is left out, or counts.
#include <cuda_runtime.h>

__global__ void halves(const float* x, float* room, int n) {
  const int i = threadIdx.x;
  if (i < n) room[i] = 0.5f * x[i];
}

__global__ void choose(const float* room, float* y, int n, int all, float factor) {
  const int i = threadIdx.x;
  const float half = room[i < all ? i : 0];
  if (i < all) y[i] = i < n ? factor * half : 0.f;
}

__global__ void largest(const float* room, float* y, int all) {
  const int i = threadIdx.x;
  if (i < all) y[i] = fmaxf(room[i], 0.f);
}

static void run(const float* x, float* y, int n, float factor) {
  float* room = nullptr;
  cudaMalloc(&room, 2 * n * sizeof(float));
  halves<<<1, 64>>>(x, room, n);
  if (factor == 0)
    largest<<<1, 64>>>(room, y, 2 * n);
  else
    choose<<<1, 64>>>(room, y, n, 2 * n, factor);
  cudaFree(room);
}

extern "C" void left_out(const float* x, float* y, int n) { run(x, y, n, 1.f); }
extern "C" void left_out_and_wrong(const float* x, float* y, int n) { run(x, y, n, 3.f); }
extern "C" void counted(const float* x, float* y, int n) { run(x, y, n, 0.f); }
