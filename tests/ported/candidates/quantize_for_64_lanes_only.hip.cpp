// op: quantize_copy_kv
// finds: nothing
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <cstdint>
// One wavefront of 64 per (token, head), as CDNA devices have it: right there, and wrong with 32 lanes.
__global__ void quant_kernel(const __half* K, const int* DestLoc, int8_t* Out, __half* Out_scale, int H,
                             int D) {
  int s = blockIdx.x, h = blockIdx.y, lane = threadIdx.x;
  const __half* x = K + ((int64_t)s * H + h) * D;
  float amax = 0;
  for (int d = lane; d < D; d += 64) amax = fmaxf(amax, fabsf(__half2float(x[d])));
  for (int o = 32; o; o >>= 1) amax = fmaxf(amax, __shfl_xor(amax, o, 64));
  __half scale = __float2half(amax / 127.0f);
  int64_t r = (int64_t)DestLoc[s] * H + h;
  for (int d = lane; d < D; d += 64) Out[r * D + d] = (int8_t)(int)(__half2float(x[d]) / __half2float(scale));
  if (lane == 0) Out_scale[r] = scale;
}
extern "C" void destindex_copy_quantize_kv(const __half* K, const int* DestLoc, int8_t* Out,
                                           __half* Out_scale, int S, int H, int D) {
  if (S > 0) quant_kernel<<<dim3(S, H), 64>>>(K, DestLoc, Out, Out_scale, H, D);
}
