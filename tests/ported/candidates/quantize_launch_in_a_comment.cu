// op: quantize_copy_kv
// finds: nothing
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
// Launch: quantize_kv<<<dim3(seq_len, head_num), 128>>>(...)
__global__ void quantize_kv(const half* __restrict__ key, const int* __restrict__ dest_index,
                            int8_t* __restrict__ output, half* __restrict__ output_scale, const int seq_len,
                            const int head_num, const int head_dim) {
  __shared__ float red[128];
  int s = blockIdx.x, h = blockIdx.y, t = threadIdx.x;
  const half* row = key + ((int64_t)s * head_num + h) * head_dim;
  float m = 0.f;
  for (int d = t; d < head_dim; d += 128) m = fmaxf(m, fabsf(__half2float(row[d])));
  red[t] = m;
  __syncthreads();
  for (int w = 64; w > 0; w >>= 1) {
    if (t < w) red[t] = fmaxf(red[t], red[t + w]);
    __syncthreads();
  }
  half sc = __float2half_rn(red[0] / 127.0f);
  int64_t dst = dest_index[s];
  for (int d = t; d < head_dim; d += 128)
    output[(dst * head_num + h) * head_dim + d] = (int8_t)(int)(__half2float(row[d]) / __half2float(sc));
  if (t == 0) output_scale[dst * head_num + h] = sc;
}
