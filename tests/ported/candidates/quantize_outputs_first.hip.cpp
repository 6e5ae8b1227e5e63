// op: quantize_copy_kv
// finds: nothing
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <cstdint>
// outputs first, sizes in the middle, other names
static __global__ void body(int8_t* q, __half* sc, const __half* x, const int* idx, unsigned heads,
                            unsigned dim) {
  const unsigned row = blockIdx.x;
  const __half* p = x + (size_t)row * dim;
  __shared__ float best[4];
  float m = 0.0f;
  for (unsigned i = threadIdx.x; i < dim; i += blockDim.x) m = fmaxf(m, fabsf(__half2float(p[i])));
  for (int o = warpSize / 2; o > 0; o /= 2) m = fmaxf(m, __shfl_down(m, o));
  if (threadIdx.x % warpSize == 0) best[threadIdx.x / warpSize] = m;
  __syncthreads();
  m = best[0];
  for (unsigned w = 1; w < blockDim.x / warpSize; ++w) m = fmaxf(m, best[w]);
  const __half s = __float2half_rn(m / 127.0f);
  const size_t to = (size_t)idx[row / heads] * heads + row % heads;
  for (unsigned i = threadIdx.x; i < dim; i += blockDim.x)
    q[to * dim + i] = (int8_t)(int)(__half2float(p[i]) / __half2float(s));
  if (threadIdx.x == 0) sc[to] = s;
}
void scatter_quantized(int8_t* value_dest, __half* scale_dest, size_t tokens, size_t heads, size_t dim,
                       const __half* src, const int* dest_index) {
  const size_t rows = tokens * heads;
  if (rows == 0) return;
  hipLaunchKernelGGL(body, dim3(rows), dim3(128), 0, 0, value_dest, scale_dest, src, dest_index,
                     (unsigned)heads, (unsigned)dim);
}
