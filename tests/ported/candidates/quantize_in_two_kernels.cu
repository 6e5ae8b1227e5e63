// op: quantize_copy_kv
// finds: nothing
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
namespace kv {
__global__ void amax_kernel(const half* __restrict__ k, float* __restrict__ amax, int dim) {
  __shared__ float s[64];
  float m = 0.f;
  for (int i = threadIdx.x; i < dim; i += blockDim.x)
    m = max(m, fabsf(__half2float(k[(size_t)blockIdx.x * dim + i])));
  s[threadIdx.x] = m;
  __syncthreads();
  for (unsigned o = 32; o; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] = max(s[threadIdx.x], s[threadIdx.x + o]);
    __syncthreads();
  }
  if (threadIdx.x == 0) amax[blockIdx.x] = s[0];
}
__global__ void scatter_kernel(const half* __restrict__ k, const float* __restrict__ amax,
                               const int* __restrict__ dest, int8_t* __restrict__ out,
                               half* __restrict__ scale, int heads, int dim, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int row = i / dim, d = i % dim, token = row / heads, head = row % heads;
  half sc = __float2half(amax[row] / 127.f);
  size_t to = (size_t)dest[token] * heads + head;
  out[to * dim + d] = (int8_t)(int)(__half2float(k[i]) / __half2float(sc));
  if (d == 0) scale[to] = sc;
}
cudaError_t destindex_copy_quantize_kv(const half* k, const int* dest_loc, int8_t* out, half* out_scale,
                                       int tokens, int heads, int dim, cudaStream_t stream = nullptr) {
  int rows = tokens * heads;
  if (rows == 0) return cudaSuccess;
  float* amax = nullptr;
  if (cudaError_t e = cudaMallocAsync((void**)&amax, rows * sizeof(float), stream)) return e;
  amax_kernel<<<rows, 64, 0, stream>>>(k, amax, dim);
  scatter_kernel<<<(rows * dim + 255) / 256, 256, 0, stream>>>(k, amax, dest_loc, out, out_scale, heads, dim,
                                                               rows * dim);
  cudaError_t e = cudaGetLastError();
  cudaFreeAsync(amax, stream);
  return e;
}
}  // namespace kv
