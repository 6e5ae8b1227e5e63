// op: quantize_copy_kv
// finds: missing-barrier
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <cstdint>
__global__ void quant_kernel(const __half* k, const int32_t* dest, int8_t* out, __half* scale, int seq_len,
                             int num_heads, int head_dim) {
  extern __shared__ float smem[];
  int s = blockIdx.x, h = blockIdx.y, tid = threadIdx.x;
  const __half* row = k + (size_t)(s * num_heads + h) * head_dim;
  float m = 0.f;
  for (int d = tid; d < head_dim; d += blockDim.x) m = fmaxf(m, fabsf(__half2float(row[d])));
  smem[tid] = m;
  for (int w = blockDim.x / 2; w > 0; w >>= 1) {
    if (tid < w) smem[tid] = fmaxf(smem[tid], smem[tid + w]);
    __syncthreads();
  }
  __half sc = __float2half(smem[0] / 127.f);
  float f = __half2float(sc);
  size_t o = ((size_t)dest[s] * num_heads + h) * head_dim;
  for (int d = tid; d < head_dim; d += blockDim.x) out[o + d] = (int8_t)(__half2float(row[d]) / f);
  if (tid == 0) scale[(size_t)dest[s] * num_heads + h] = sc;
}
extern "C" void destindex_copy_quantize_kv(const __half* K, const int32_t* DestLoc, int8_t* Out,
                                           __half* Out_scale, int seq_len, int num_heads, int head_dim,
                                           hipStream_t stream) {
  if (seq_len == 0) return;
  dim3 grid(seq_len, num_heads);
  hipLaunchKernelGGL(quant_kernel, grid, dim3(256), 256 * sizeof(float), stream, K, DestLoc, Out, Out_scale,
                     seq_len, num_heads, head_dim);
}
