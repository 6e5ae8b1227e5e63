// op: quantize_copy_kv
// finds: convention
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
  __half scale = __float2half(amax / 127.0f);
  int64_t r = (int64_t)loc[s] * H + h;
  for (int d = lane; d < D; d += 32) out[r * D + d] = (int8_t)(int)(__half2float(x[d]) / __half2float(scale));
  if (lane == 0) scales[r] = scale;
}
void quantize_kv(int num_tokens, int num_heads, int head_dim, int8_t* out, __half* scales, const __half* key,
                 const int* dest_loc) {
  kern<<<num_tokens * num_heads, 32>>>(key, dest_loc, out, scales, num_heads, head_dim);
}
