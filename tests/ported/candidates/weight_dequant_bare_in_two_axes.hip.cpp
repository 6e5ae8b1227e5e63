// op: weight_dequant
// finds: nothing
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>
__global__ void weight_dequant_kernel(const __hip_fp8_e4m3* x, const float* s, float* y, int M, int N,
                                      int BLOCK_SIZE) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  const int blocks = (N + BLOCK_SIZE - 1) / BLOCK_SIZE;
  y[row * N + col] = static_cast<float>(x[row * N + col]) * s[row / BLOCK_SIZE * blocks + col / BLOCK_SIZE];
}
