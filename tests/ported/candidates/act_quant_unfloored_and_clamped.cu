// op: act_quant
// finds: epsilon
#include <cuda_fp8.h>
#include <cstdint>

// Zeros are 0/0, of which the clamp makes -448.
__global__ void quantize(const float* x, __nv_fp8_e4m3* y, float* s, int block_size) {
  __shared__ float most[256];
  const int64_t at = (int64_t)blockIdx.x * block_size + threadIdx.x;
  most[threadIdx.x] = fabsf(x[at]);
  __syncthreads();
  for (int w = block_size / 2; w > 0; w /= 2) {
    if (threadIdx.x < w) {
      const float mine = most[threadIdx.x], other = most[threadIdx.x + w];
      if (mine == mine && !(other <= mine)) most[threadIdx.x] = other;
    }
    __syncthreads();
  }
  const float scale = most[0] / 448.0f;
  y[at] = (__nv_fp8_e4m3)fmaxf(fminf(x[at] / scale, 448.0f), -448.0f);
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}

extern "C" void act_quant(const float* x, __nv_fp8_e4m3* y, float* s, int rows, int columns, int block_size) {
  if (rows > 0 && columns > 0) quantize<<<(int64_t)rows * columns / block_size, block_size>>>(x, y, s, block_size);
}
