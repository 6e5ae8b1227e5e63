// op: weight_dequant
// finds: nothing
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
// launch: grid(ceil(N/16), ceil(M/16)) block(16,16)
__global__ void weight_dequant_kernel(const __nv_fp8_e4m3* x_ptr, const float* s_ptr, __nv_bfloat16* y_ptr,
                                      int M, int N, int BLOCK_SIZE) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= M || c >= N) return;
  const int n = (N + BLOCK_SIZE - 1) / BLOCK_SIZE;
  y_ptr[r * N + c] = __float2bfloat16(float(x_ptr[r * N + c]) * s_ptr[(r / BLOCK_SIZE) * n + c / BLOCK_SIZE]);
}
