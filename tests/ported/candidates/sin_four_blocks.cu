// op: sin
// finds: unwritten-output
#include <cuda_runtime.h>
#include <cuda_fp16.h>
template <int BLOCKS, int THREADS>
__global__ void sin_half(const __half* __restrict__ src, __half* __restrict__ dst, int count) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < count) dst[i] = __float2half(sinf(__half2float(src[i])));
}
extern "C" void hsin_array(const __half* src, __half* dst, int count) {
  if (count <= 0) return;
  sin_half<4, 256><<<4, 256>>>(src, dst, count);
}
