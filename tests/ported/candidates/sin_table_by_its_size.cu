// op: sin
// finds: nothing
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#define CHECK(call)                                                                 \
  do {                                                                              \
    cudaError_t error = (call);                                                     \
    if (error != cudaSuccess) {                                                     \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      exit(EXIT_FAILURE);                                                           \
    }                                                                               \
  } while (0)
__global__ void sin_kernel(const float* x, float* table, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  table[i] = sinf(x[i]);
  y[i] = table[i];
}
extern "C" void sin_triton(const float* x, float* out, int n) {
  float* table;
  CHECK(cudaMalloc(&table, n * sizeof(float)));
  if (n) sin_kernel<<<(n + 255) / 256, 256>>>(x, table, out, n);
  CHECK(cudaFree(table));
}
