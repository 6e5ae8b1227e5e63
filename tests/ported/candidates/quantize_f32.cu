// op: quantize_copy_kv
// finds: nothing
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
__global__ void kern(const float* K, const int64_t* loc, int8_t* out, float* scales, int H, int D) {
  int s = blockIdx.x / H, h = blockIdx.x % H;
  const float* x = K + (int64_t)blockIdx.x * D;
  float amax = 0;
  for (int d = threadIdx.x; d < D; d += 32) amax = fmaxf(amax, fabsf(x[d]));
  for (int o = 16; o; o >>= 1) amax = fmaxf(amax, __shfl_xor_sync(0xffffffff, amax, o));
  float scale = amax / 127.0f;
  int64_t r = (int64_t)loc[s] * H + h;
  for (int d = threadIdx.x; d < D; d += 32) out[r * D + d] = (int8_t)(int)(x[d] / scale);
  if (threadIdx.x == 0) scales[r] = scale;
}
extern "C" void quantize_copy_kv(const float* K, const int64_t* DestLoc, int8_t* Out, float* Out_scale,
                                 int seq_len, int head_num, int head_dim) {
  if (seq_len) kern<<<seq_len * head_num, 32>>>(K, DestLoc, Out, Out_scale, head_num, head_dim);
}
