// op: quantize_copy_kv
// finds: rounding-mode
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
// launch: grid(K.size(0), K.size(1)) block(128)
__global__ void quantize_kv_kernel(const __half* __restrict__ K, const int* __restrict__ DestLoc,
                                   int8_t* __restrict__ Out, __half* __restrict__ Out_scale, int H, int D) {
  __shared__ float red[128];
  int s = blockIdx.x, h = blockIdx.y, t = threadIdx.x;
  const __half* row = K + ((int64_t)s * H + h) * D;
  float m = 0.f;
  for (int d = t; d < D; d += blockDim.x) m = fmaxf(m, fabsf(__half2float(row[d])));
  red[t] = m;
  __syncthreads();
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (t < w) red[t] = fmaxf(red[t], red[t + w]);
    __syncthreads();
  }
  __half sc = __float2half_rn(red[0] / 127.0f);
  float f = __half2float(sc);
  int64_t dst = DestLoc[s];
  for (int d = t; d < D; d += blockDim.x)
    Out[(dst * H + h) * D + d] = (int8_t)rintf(__half2float(row[d]) / f);
  if (t == 0) Out_scale[dst * H + h] = sc;
}
