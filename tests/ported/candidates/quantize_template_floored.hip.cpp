// op: quantize_copy_kv
// finds: rounding-mode
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <cstdint>
template <typename T>
struct Convert;
template <>
struct Convert<__half> {
  static __device__ float up(__half v) { return __half2float(v); }
  static __device__ __half down(float v) { return __float2half(v); }
};
template <>
struct Convert<float> {
  static __device__ float up(float v) { return v; }
  static __device__ float down(float v) { return v; }
};
template <typename T, int THREADS>
__global__ void __launch_bounds__(THREADS)
    quant(const T* in, const int32_t* idx, int8_t* out, T* sc, int heads, int dim) {
  __shared__ float part[THREADS / 32];
  const int row = blockIdx.y * gridDim.x + blockIdx.x;
  const T* p = in + (int64_t)row * dim;
  float m = 0;
  for (int i = threadIdx.x; i < dim; i += THREADS) m = fmaxf(m, fabsf(Convert<T>::up(p[i])));
  for (int o = 16; o > 0; o >>= 1) m = fmaxf(m, __shfl_down(m, o, 32));
  if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < THREADS / 32; ++i) part[0] = fmaxf(part[0], part[i]);
  }
  __syncthreads();
  T s = Convert<T>::down(part[0] / 127.f);
  const int64_t to = (int64_t)idx[blockIdx.y] * heads + blockIdx.x;
  for (int i = threadIdx.x; i < dim; i += THREADS) {
    float q = Convert<T>::up(p[i]) / Convert<T>::up(s);
    out[to * dim + i] = (int8_t)floorf(q);
  }
  if (threadIdx.x == 0) sc[to] = s;
}
extern "C" void launch_quant(const __half* in, const int32_t* idx, int8_t* out, __half* sc, int num_tokens,
                             int num_heads, int head_dim, hipStream_t stream) {
  if (num_tokens <= 0) return;
  quant<__half, 128><<<dim3(num_heads, num_tokens), 128, 0, stream>>>(in, idx, out, sc, num_heads, head_dim);
}
