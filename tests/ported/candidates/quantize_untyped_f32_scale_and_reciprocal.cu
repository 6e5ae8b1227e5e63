// op: quantize_copy_kv
// finds: scale-precision, reciprocal-multiply
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
__global__ void kern(const __half* K, const int* loc, int8_t* out, __half* scales, int H, int D) {
  int s = blockIdx.x / H, h = blockIdx.x % H;
  int lane = threadIdx.x;
  const __half* x = K + (int64_t)blockIdx.x * D;
  float amax = 0;
  for (int d = lane; d < D; d += 32) amax = fmaxf(amax, fabsf(__half2float(x[d])));
  for (int o = 16; o; o >>= 1) amax = fmaxf(amax, __shfl_xor_sync(0xffffffff, amax, o));
  float scale = amax / 127.0f;
  float inv = 1.0f / scale;
  int64_t r = (int64_t)loc[s] * H + h;
  for (int d = lane; d < D; d += 32) out[r * D + d] = (int8_t)(int)(__half2float(x[d]) * inv);
  if (lane == 0) scales[r] = __float2half(scale);
}
extern "C" int quantize_copy_kv(const void* k_ptr, const void* dest_ptr, void* out_ptr, void* scale_ptr,
                                int num_tokens, int num_heads, int head_dim) {
  if (num_tokens == 0) return 0;
  kern<<<num_tokens * num_heads, 32>>>((const __half*)k_ptr, (const int*)dest_ptr, (int8_t*)out_ptr,
                                       (__half*)scale_ptr, num_heads, head_dim);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
