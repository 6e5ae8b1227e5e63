// op: merge_attention
// finds: nothing
#include <cuda_runtime.h>
#include <cmath>
__global__ void merge_kernel(float* output, float* output_lse, const float* prefix_output,
                             const float* prefix_lse, const float* suffix_output, const float* suffix_lse,
                             int H, int D) {
  const int s = blockIdx.x, h = blockIdx.y;
  const float a = prefix_lse[s * H + h], b = suffix_lse[s * H + h], m = fmaxf(a, b);
  const size_t base = ((size_t)s * H + h) * D;
  if (m == -INFINITY) {
    for (int d = threadIdx.x; d < D; d += blockDim.x) output[base + d] = 0.f;
    if (threadIdx.x == 0) output_lse[s * H + h] = -INFINITY;
    return;
  }
  const float ea = expf(a - m), eb = expf(b - m), t = ea + eb;
  for (int d = threadIdx.x; d < D; d += blockDim.x) {
    float x = ea > 0 ? prefix_output[base + d] * ea : 0.f, y = eb > 0 ? suffix_output[base + d] * eb : 0.f;
    output[base + d] = (x + y) / t;
  }
  if (threadIdx.x == 0) output_lse[s * H + h] = m + logf(t);
}
extern "C" void merge_attn_states(float* output, float* output_lse, const float* prefix_output,
                                  const float* prefix_lse, const float* suffix_output,
                                  const float* suffix_lse, int num_tokens, int num_heads, int head_size) {
  if (num_tokens)
    merge_kernel<<<dim3(num_tokens, num_heads), 64>>>(output, output_lse, prefix_output, prefix_lse,
                                                      suffix_output, suffix_lse, num_heads, head_size);
}
