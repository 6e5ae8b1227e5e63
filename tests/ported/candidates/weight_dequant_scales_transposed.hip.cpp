// op: weight_dequant
// finds: layout-convention
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>
__global__ void weight_dequant_kernel(const __hip_fp8_e4m3* w, const float* scales, __hip_bfloat16* out,
                                      int rows, int cols, int block) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= (size_t)rows * cols) return;
  int r = i / cols, c = i % cols;
  int nr = (rows + block - 1) / block;
  out[i] = __float2bfloat16((float)w[i] * scales[(c / block) * nr + r / block]);
}
extern "C" void dequantize_weight(const __hip_fp8_e4m3* w, const float* scales, __hip_bfloat16* out, int rows,
                                  int cols, int block, hipStream_t stream) {
  size_t n = (size_t)rows * cols;
  if (!n) return;
  weight_dequant_kernel<<<(n + 255) / 256, 256, 0, stream>>>(w, scales, out, rows, cols, block);
}
