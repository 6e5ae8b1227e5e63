// op: weight_dequant
// finds: tail-mask
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
__global__ void weight_dequant_kernel(const __nv_fp8_e4m3* x_ptr, const float* s_ptr, float* y_ptr, int M,
                                      int N, int BLOCK_SIZE) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= M || c >= N) return;
  const int n = N / BLOCK_SIZE;
  y_ptr[r * N + c] = float(x_ptr[r * N + c]) * s_ptr[(r / BLOCK_SIZE) * n + c / BLOCK_SIZE];
}
extern "C" void weight_dequant(const __nv_fp8_e4m3* x, const float* s, float* y, int M, int N,
                               int block_size) {
  if (M == 0 || N == 0) return;
  weight_dequant_kernel<<<dim3((N + 31) / 32, (M + 7) / 8), dim3(32, 8)>>>(x, s, y, M, N, block_size);
}
