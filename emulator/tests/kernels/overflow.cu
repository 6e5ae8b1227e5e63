// An index that wraps at 2^32 in a buffer of more than 2^31 elements, and its twin with a wide index.
#include <cuda_runtime.h>

__global__ void narrow(signed char* p, int row, int stride) {
  p[row * stride + (int)threadIdx.x] = 1;  // fault: index_wraps
}
__global__ void wide(signed char* p, int row, int stride) { p[(long long)row * stride + threadIdx.x] = 1; }

extern "C" int run(int use_wide) {
  signed char* p = nullptr;
  const size_t bytes = (size_t(1) << 31) + 4096;
  if (cudaMalloc(&p, bytes) != cudaSuccess) return 1;
  if (use_wide) {
    wide<<<1, 32>>>(p, 1 << 16, 1 << 15);
  } else {
    narrow<<<1, 32>>>(p, 1 << 16, 1 << 15);
  }
  return cudaGetLastError();
}
