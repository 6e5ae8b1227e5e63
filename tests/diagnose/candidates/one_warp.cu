// Decoding of one query by a block of several warps, whose maximum and sum reach all of them, or the first alone.
#include <cuda_runtime.h>
#include <math.h>

__device__ float of_warp(float v, bool sum) {
  for (int o = 16; o > 0; o >>= 1) {
    const float other = __shfl_xor_sync(0xffffffffu, v, o);
    v = sum ? v + other : fmaxf(v, other);
  }
  return v;
}

template <bool kAll>
__device__ float of_block(float v, bool sum) {
  __shared__ float part[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = of_warp(v, sum);
  if (lane == 0) part[warp] = v;
  __syncthreads();
  const float none = sum ? 0.0f : -INFINITY;
  float whole = none;
  if (kAll || warp == 0) whole = of_warp(lane < (int)blockDim.x / 32 ? part[lane] : none, sum);
  __syncthreads();
  return whole;
}

template <bool kAll>
__global__ void decode(const float* q, const float* k, const float* v, float* out, int seq_len, int heads,
                       int head_dim, float scale) {
  extern __shared__ float weight[];
  const int head = blockIdx.x;
  float most = -INFINITY, sum = 0;
  for (int t = threadIdx.x; t < seq_len; t += blockDim.x) {
    float s = 0;
    for (int d = 0; d < head_dim; ++d) s += q[head * head_dim + d] * k[(t * heads + head) * head_dim + d];
    weight[t] = s * scale;
    most = fmaxf(most, weight[t]);
  }
  most = of_block<kAll>(most, false);
  for (int t = threadIdx.x; t < seq_len; t += blockDim.x) sum += weight[t] = expf(weight[t] - most);
  sum = of_block<kAll>(sum, true);
  for (int d = threadIdx.x; d < head_dim; d += blockDim.x) {
    float acc = 0;
    for (int t = 0; t < seq_len; ++t) acc += weight[t] * v[(t * heads + head) * head_dim + d];
    out[head * head_dim + d] = acc / sum;
  }
}
extern "C" void attend_by_four_warps(const float* q, const float* k, const float* v, float* out, int seq_len,
                                     int heads, int head_dim, float scale) {
  decode<true><<<heads, 128, seq_len * sizeof(float)>>>(q, k, v, out, seq_len, heads, head_dim, scale);
}
extern "C" void attend_by_the_first_warp(const float* q, const float* k, const float* v, float* out, int seq_len,
                                         int heads, int head_dim, float scale) {
  decode<false><<<heads, 128, seq_len * sizeof(float)>>>(q, k, v, out, seq_len, heads, head_dim, scale);
}
