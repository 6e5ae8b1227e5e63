// op: sin
// finds: nothing
#include <cuda_runtime.h>
__global__ void k(const float* x, float* y, long long n) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += (long long)blockDim.x * gridDim.x)
    y[i] = sinf(x[i]);
}
struct Params {
  int threads;
};
static int blocks_for(long long n, int t) {
  long long b = (n + t - 1) / t;
  return b > 1024 ? 1024 : (int)b;
}
extern "C" void sin_triton(const float* x, float* out, long long n, void* stream) {
  if (n <= 0) return;
  k<<<blocks_for(n, 256), 256, 0, (cudaStream_t)stream>>>(x, out, n);
}
