// op: quantize_copy_kv
// finds: ignores-index
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <cstdint>
// launch: grid(src.size(0), src.size(1)) block(64)
__global__ void k(const __half* src, const int* dest_loc, int8_t* dst, __half* dst_scale, int head_num,
                  int head_dim) {
  __shared__ float s[64];
  int tok = blockIdx.x, hd = blockIdx.y, t = threadIdx.x;
  float m = 0;
  size_t base = ((size_t)tok * head_num + hd) * head_dim;
  for (int i = t; i < head_dim; i += 64) m = fmaxf(m, fabsf(__half2float(src[base + i])));
  s[t] = m;
  __syncthreads();
  for (int o = 32; o > 0; o >>= 1) {
    if (t < o) s[t] = fmaxf(s[t], s[t + o]);
    __syncthreads();
  }
  __half sc = __float2half(s[0] / 127.f);
  for (int i = t; i < head_dim; i += 64)
    dst[base + i] = (int8_t)(__half2float(src[base + i]) / __half2float(sc));
  if (t == 0) dst_scale[(size_t)tok * head_num + hd] = sc;
}
