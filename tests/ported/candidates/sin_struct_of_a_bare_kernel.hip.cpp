// op: sin
// finds: out-of-bounds-read, out-of-bounds-write
#include <hip/hip_runtime.h>

typedef struct {
  const float* x;
  float* y;
  int n;
} Arguments;
// hipLaunchKernelGGL(sine, dim3((a.n + 255) / 256), dim3(256), 0, stream, a);
__global__ void sine(Arguments a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= a.n) a.y[i] = sinf(a.x[i]);
}
