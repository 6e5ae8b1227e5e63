// op: quantize_copy_kv
// finds: scale-precision, convention
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <cstdint>
using f16 = __half;
static inline __device__ float f(f16 x) { return __half2float(x); }
__global__ void quant(const f16* K, const int* idx, int8_t* Q, f16* SC, int k0, int k1, int q0, int q1, int s0,
                      int s1, int D) {
  __shared__ float amax;
  if (threadIdx.x == 0) {
    amax = 0;
    for (int i = 0; i < D; i++) amax = fmaxf(amax, fabsf(f(K[(long)blockIdx.x * k0 + (long)blockIdx.y * k1 + i])));
  }
  __syncthreads();
  const float scale = amax / 127.f;
  int row = idx[blockIdx.x] * q0 + blockIdx.y * q1;
  for (int i = threadIdx.x; i < D; i += blockDim.x) {
    float v = f(K[(long)blockIdx.x * k0 + (long)blockIdx.y * k1 + i]) / scale;
    Q[row + i] = amax > 0 ? (int8_t)(int)v : 0;
  }
  if (!threadIdx.x) SC[(long)idx[blockIdx.x] * s0 + (long)blockIdx.y * s1] = __float2half(scale);
}
extern "C" void quantize_copy_kv(const f16* K, const int* DestLoc, int8_t* Out, f16* Out_scale, int S, int H, int D,
                      int stride_k0, int stride_k1, int stride_o0, int stride_o1, int stride_s0, int stride_s1,
                      hipStream_t stream) {
  if (S < 1 || H < 1 || D < 1) return;
  quant<<<dim3(S, H, 1), dim3(128, 1, 1), 0, stream>>>(K, DestLoc, Out, Out_scale, stride_k0, stride_k1, stride_o0,
                                                       stride_o1, stride_s0, stride_s1, D);
}
