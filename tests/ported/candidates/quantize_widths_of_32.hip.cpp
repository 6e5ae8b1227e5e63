// op: quantize_copy_kv
// finds: nothing
// Port of lightllm's _fwd_kernel_destindex_copy_quantize_kv to HIP.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <cstdint>

namespace lightllm {
constexpr int kThreads = 128;

template <typename T> struct Vec2;
template <> struct Vec2<__half> { using type = __half2; };

template <int WIDTH>
__device__ __forceinline__ float warp_max(float v) {
#pragma unroll
  for (int mask = WIDTH / 2; mask > 0; mask >>= 1) v = fmaxf(v, __shfl_xor(v, mask, WIDTH));
  return v;
}

// one warp of 32 lanes per (token, head)
__global__ void __launch_bounds__(kThreads) quant_rows(
    const __half* __restrict__ K, const int32_t* __restrict__ Dest_loc, int8_t* __restrict__ Out,
    __half* __restrict__ Out_scale, int64_t stride_k_bs, int64_t stride_k_h, int64_t stride_k_d,
    int64_t stride_o_bs, int64_t stride_o_h, int64_t stride_o_d, int64_t stride_os_bs, int64_t stride_os_h,
    int head_num, int head_dim) {
  const int token = blockIdx.x;
  const int lane = threadIdx.x & 31;
  const int64_t dest = Dest_loc[token];
  for (int h = threadIdx.x >> 5; h < head_num; h += kThreads / 32) {
    const __half* src = K + token * stride_k_bs + h * stride_k_h;
    float m = 0.f;
    for (int d = lane; d < head_dim; d += 32) m = fmaxf(m, fabsf(__half2float(src[d * stride_k_d])));
    m = warp_max<32>(m);
    const __half sc = __float2half_rn(m / 127.0f);
    const float scf = __half2float(sc);
    int8_t* dst = Out + dest * stride_o_bs + h * stride_o_h;
    for (int d = lane; d < head_dim; d += 32) {
      const float q = __half2float(src[d * stride_k_d]) / scf;
      int v = static_cast<int>(q);
      v = v > 127 ? 127 : (v < -128 ? -128 : v);
      dst[d * stride_o_d] = static_cast<int8_t>(v);
    }
    if (lane == 0) Out_scale[dest * stride_os_bs + h * stride_os_h] = sc;
  }
}
}  // namespace lightllm

extern "C" void destindex_copy_quantize_kv(
    const __half* K, const int32_t* Dest_loc, int8_t* Out, __half* Out_scale, int64_t stride_k_bs,
    int64_t stride_k_h, int64_t stride_k_d, int64_t stride_o_bs, int64_t stride_o_h, int64_t stride_o_d,
    int64_t stride_os_bs, int64_t stride_os_h, int seq_len, int head_num, int head_dim, hipStream_t stream) {
  if (seq_len == 0 || head_num == 0) return;
  lightllm::quant_rows<<<dim3(seq_len), dim3(lightllm::kThreads), 0, stream>>>(
      K, Dest_loc, Out, Out_scale, stride_k_bs, stride_k_h, stride_k_d, stride_o_bs, stride_o_h, stride_o_d,
      stride_os_bs, stride_os_h, head_num, head_dim);
}
