// op: quantize_copy_kv
// finds: missing-barrier
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

template <unsigned BLOCK>
__global__ void quant_copy(const __half* k, const int* dest, signed char* out, __half* scale, int heads, int dim) {
  __shared__ float red[BLOCK];
  const unsigned tid = threadIdx.x;
  const size_t tok = blockIdx.x / heads, head = blockIdx.x % heads;
  const __half* row = k + (tok * heads + head) * dim;
  float v = 0.0f;
  for (int d = tid; d < dim; d += BLOCK) v = fmaxf(v, fabsf(__half2float(row[d])));
  red[tid] = v;
  for (unsigned s = BLOCK / 2; s > 0; s >>= 1) {
    if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
    __syncthreads();
  }
  const __half sc = __float2half(red[0] / 127.0f);
  const size_t o = (size_t)dest[tok] * heads + head;
  for (int d = tid; d < dim; d += BLOCK) {
    float q = __half2float(row[d]) / __half2float(sc);
    q = q != q ? 0.f : q;
    out[o * dim + d] = (signed char)(int)fmaxf(-128.f, fminf(127.f, q));
  }
  if (tid == 0) scale[o] = sc;
}

// all tensors compact: k [tokens, heads, dim], out [rows, heads, dim], scale [rows, heads]
extern "C" void destindex_copy_quantize_kv(const void* k, const int* dest, void* out, void* scale, int tokens,
                                           int heads, int dim) {
  if (!tokens) return;
  quant_copy<256><<<tokens * heads, 256>>>((const __half*)k, dest, (signed char*)out, (__half*)scale, heads, dim);
  hipDeviceSynchronize();
}
