// op: quantize_copy_kv
// finds: nothing
#include <cuda_fp16.h>
#include <cstdint>
// a thread for each (token, head)
__global__ void quantize(const half* K, const int* DestLoc, int8_t* Out, half* Out_scale, int seq_len,
                         int head_num, int head_dim) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= seq_len * head_num) return;
  const half* x = K + (int64_t)i * head_dim;
  float m = 0.f;
  for (int d = 0; d < head_dim; ++d) m = fmaxf(m, fabsf(__half2float(x[d])));
  half s = __float2half(m / 127.f);
  int64_t to = (int64_t)DestLoc[i / head_num] * head_num + i % head_num;
  for (int d = 0; d < head_dim; ++d)
    Out[to * head_dim + d] = (int8_t)(int)(__half2float(x[d]) / __half2float(s));
  Out_scale[to] = s;
}
