// op: quantize_copy_kv
// finds: nothing
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
// one block per token, one thread per head
__global__ void quant(const __half* K, const int* dest, signed char* out, __half* scale, int heads, int dim) {
  int s = blockIdx.x;
  for (int h = threadIdx.x; h < heads; h += blockDim.x) {
    const __half* x = K + ((long)s * heads + h) * dim;
    float m = 0.f;
    for (int d = 0; d < dim; ++d) m = fmaxf(m, fabsf(__half2float(x[d])));
    __half sc = __float2half(m / 127.f);
    long r = (long)dest[s] * heads + h;
    for (int d = 0; d < dim; ++d)
      out[r * dim + d] = (signed char)(int)(__half2float(x[d]) / __half2float(sc));
    scale[r] = sc;
  }
}
