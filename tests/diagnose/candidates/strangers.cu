// Kernels as other houses write them, each beside a twin that is wrong, or right, in the same place.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

// Sixteen lanes share a group. Where the mask names the lower half alone, the upper half is not named.
template <bool kHalf>
__device__ __forceinline__ float group_max(float v) {
  const unsigned mask = kHalf ? 0xffff : 0xffffffff;
  for (int step = 8; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(mask, v, step));
  return v;
}
template <bool kHalf>
__global__ void group_quant(const __nv_bfloat16* __restrict__ x, __nv_fp8_e4m3* __restrict__ q,
                            float* __restrict__ s, int group_size, int num_groups, float eps) {
  const int group = blockIdx.x * (blockDim.x / 16) + threadIdx.x / 16, lane = threadIdx.x % 16;
  const bool mine = group < num_groups;
  const __nv_bfloat16* in = x + (int64_t)group * group_size;
  float top = eps;
  for (int i = lane; mine && i < group_size; i += 16) top = fmaxf(top, fabsf(__bfloat162float(in[i])));
  top = group_max<kHalf>(top);
  if (!mine) return;
  const float scale = top / 448.0f;
  for (int i = lane; i < group_size; i += 16)
    q[(int64_t)group * group_size + i] =
        __nv_fp8_e4m3(fminf(fmaxf(__bfloat162float(in[i]) / scale, -448.0f), 448.0f));
  if (lane == 0) s[group] = scale;
}
extern "C" void group_quant_half_mask(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int group_size,
                                      int num_groups, float eps) {
  if (num_groups > 0) group_quant<true><<<(num_groups + 7) / 8, 128>>>(x, y, s, group_size, num_groups, eps);
}
extern "C" void group_quant_whole_mask(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int group_size,
                                       int num_groups, float eps) {
  if (num_groups > 0) group_quant<false><<<(num_groups + 7) / 8, 128>>>(x, y, s, group_size, num_groups, eps);
}

// The log-sum-exps lie [heads, tokens]; with `kSwapped` the two parts' weights are exchanged.
template <bool kSwapped>
__global__ void merge(__half* out, float* out_lse, const __half* a, const float* lse_a, const __half* b,
                      const float* lse_b, int tokens, int heads, int head_size) {
  const int row = blockIdx.x, token = row / heads, head = row % heads;
  const float la = lse_a[head * tokens + token], lb = lse_b[head * tokens + token];
  const float top = fmaxf(la, lb), ea = expf(la - top), eb = expf(lb - top), sum = ea + eb;
  const float wa = (kSwapped ? eb : ea) / sum, wb = (kSwapped ? ea : eb) / sum;
  for (int d = threadIdx.x; d < head_size; d += blockDim.x) {
    const size_t at = (size_t)row * head_size + d;
    out[at] = __float2half(__half2float(a[at]) * wa + __half2float(b[at]) * wb);
  }
  if (threadIdx.x == 0 && out_lse != nullptr) out_lse[head * tokens + token] = logf(sum) + top;
}
extern "C" void merge_heads_first(__half* output, float* output_lse, const __half* prefix_output,
                                  const float* prefix_lse, const __half* suffix_output,
                                  const float* suffix_lse, int num_tokens, int num_heads, int head_size) {
  if (num_tokens > 0)
    merge<false><<<num_tokens * num_heads, 64>>>(output, output_lse, prefix_output, prefix_lse, suffix_output,
                                                 suffix_lse, num_tokens, num_heads, head_size);
}
extern "C" void merge_weights_swapped(__half* output, float* output_lse, const __half* prefix_output,
                                      const float* prefix_lse, const __half* suffix_output,
                                      const float* suffix_lse, int num_tokens, int num_heads, int head_size) {
  if (num_tokens > 0)
    merge<true><<<num_tokens * num_heads, 64>>>(output, output_lse, prefix_output, prefix_lse, suffix_output,
                                                suffix_lse, num_tokens, num_heads, head_size);
}

__global__ void wave_of_devices(const float* x, float* y, int n) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
#endif
}
extern "C" void wave_by_arch(const float* x, float* y, int n) {
  if (n > 0) wave_of_devices<<<(n + 255) / 256, 256>>>(x, y, n);
}

// Every thread stores the same flag, or a number of its own, to one address. That the flag is harmless makes wrong
// numbers no better.
template <bool kAlike>
__global__ void flagged(const float* x, float* y, int n, int turned = 0) {
  __shared__ int flag;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  flag = kAlike ? 1 : threadIdx.x;
  __syncthreads();
  if (i < n) y[i] = kAlike || flag % 2 == 0 ? sinf(x[i]) * (turned && i % 3 == 0 ? x[i] : 1.0f) : 0.0f;
}
extern "C" void wave_flagged_and_wrong(const float* x, float* y, int n) {
  if (n > 0) flagged<true><<<(n + 255) / 256, 256>>>(x, y, n, 1);
}
extern "C" void wave_flagged(const float* x, float* y, int n) {
  if (n > 0) flagged<true><<<(n + 255) / 256, 256>>>(x, y, n);
}
extern "C" void wave_raced(const float* x, float* y, int n) {
  if (n > 0) flagged<false><<<(n + 255) / 256, 256>>>(x, y, n);
}

// Blocks that go on to the next part, and as many that do not.
template <bool kOn>
__global__ void fixed(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = sinf(x[i]);
    if (!kOn) break;
  }
}
extern "C" void wave_of_eight_blocks(const float* x, float* y, int n) {
  if (n > 0) fixed<false><<<8, 256>>>(x, y, n);
}
extern "C" void wave_of_eight_blocks_that_go_on(const float* x, float* y, int n) {
  if (n > 0) fixed<true><<<8, 256>>>(x, y, n);
}

extern "C" void wave_on_the_host(const float* x, float* y, int n) {
  float in, out;
  for (int i = 0; i < n; ++i) {
    cudaMemcpy(&in, x + i, sizeof in, cudaMemcpyDeviceToHost);
    out = std::sin(in);
    cudaMemcpy(y + i, &out, sizeof out, cudaMemcpyHostToDevice);
  }
}
