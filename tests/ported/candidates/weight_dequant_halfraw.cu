// op: weight_dequant
// finds: intermediate-precision
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
using bf16 = __nv_bfloat16;
__global__ void deq(const unsigned char* __restrict__ w, const float* __restrict__ s, bf16* __restrict__ o, long ldw, long lds, long ldo, int rows, int cols, int bs) {
  int c = threadIdx.x + blockIdx.x * blockDim.x, r = threadIdx.y + blockIdx.y * blockDim.y;
  if (r < rows && c < cols) {
    __half_raw h = __nv_cvt_fp8_to_halfraw(w[r * ldw + c], __NV_E4M3);
    bf16 v = __float2bfloat16(__half2float(h));
    bf16 sc = __float2bfloat16(s[(r / bs) * lds + c / bs]);
    o[r * ldo + c] = __hmul(v, sc);
  }
}
extern "C" void weight_dequant_strided(const unsigned char* w, const float* s, bf16* o, int rows, int cols, int bs, long w_stride0, long s_stride0, long o_stride0, cudaStream_t st) {
  if (!rows || !cols) return;
  deq<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16), 0, st>>>(w, s, o, w_stride0, s_stride0, o_stride0, rows, cols, bs);
}
